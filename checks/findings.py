"""What `limes` found that the sources do not say, or say wrongly: the one place it is written down.

README, the report and `limes findings` are made of this table. A row of kind `WRONG` belongs to a claim whose recorded
verdict is *corrected* or *refuted*, and each such claim has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from .report import coarse_time


class Kind(Enum):
    """How a finding stands to what was published."""

    WRONG = "Wrong as published"
    LOOSE = "Said loosely: what exactly holds"
    UNSAID = "Not in the sources"


@dataclass(frozen=True)
class Discovery:
    """One finding: the claim that shows it, what its source says (nothing if it is not there), and what is so."""

    claim: str
    kind: Kind
    said: str
    so: str

    @property
    def source(self) -> str:
        """Where it says so."""
        from .ledger import LEDGER

        source = LEDGER[self.claim].source
        return ", ".join(part for part in (source.reference, source.place) if part)

    @property
    def command(self) -> str:
        """The command that shows it."""
        return f"limes verify {self.claim} --evidence"

    @property
    def takes(self) -> str:
        """How long that takes one core, coarsely."""
        return coarse_time(SECONDS[self.claim])

    def to_json(self) -> dict[str, str]:
        """As `limes findings --json` writes it."""
        return {
            "claim": self.claim,
            "kind": self.kind.name.lower(),
            "source": self.source,
            "said": self.said,
            "so": self.so,
            "command": self.command,
            "takes": self.takes,
        }


DISCOVERIES = (
    Discovery(
        "depth-rate",
        Kind.WRONG,
        "the normalised kernel reaches 1/4 at the rate O(1/L)",
        "the distance is (3/8) log(L)/L + O(1/L), for all inputs",
    ),
    Discovery(
        "depth-spectrum",
        Kind.WRONG,
        "deep kernel matrices are diagonally dominant",
        "entry by entry always; by rows if and only if there are at most 4 points",
    ),
    Discovery(
        "depth-scaling",
        Kind.WRONG,
        "for t ∈ o(1/λₙ) the deep predictor stays non-trivial, and ‖P_t‖ = O(n)",
        "such a t leaves the last mode untrained: two points keep one prediction; ‖P_t‖ ≤ min(0.6382 √t, "
        "λₙ^(−1/2)), and λₙ ≥ c s/√log n",
    ),
    Discovery(
        "kernel-conditions",
        Kind.WRONG,
        "other kernels have the same deep limit",
        "leaky ReLU yes, with its crossover; erf has the limit 0, and is singular with opposite inputs; a "
        "pooled CNN cannot tell a pattern from the same moved, L pixels from the border",
    ),
    Discovery(
        "loss-two-layer",
        Kind.WRONG,
        "released script: one-step loss of two layers",
        "it lacks the term 2η₁η₂/h⁵; the paper's one- and two-step formulas are exact for every h ≥ 1",
    ),
    Discovery(
        "loss-three-layer",
        Kind.WRONG,
        "released script: one-step loss of three layers",
        "it lacks the term 2η₁η₂/h³; the two-step formula is exact",
    ),
    Discovery("asymmetry-then-balance", Kind.WRONG, "three layers: the same up to rates O(h)", "only for 0 ≤ α < 2/3"),
    Discovery(
        "asymmetry-then-balance",
        Kind.WRONG,
        "it holds with label noise",
        "noise of any fixed variance ≥ 1/7 leaves no balanced minimum",
    ),
    Discovery(
        "gaussian-initialisation",
        Kind.WRONG,
        "the results hold from Gaussian weights",
        "the surrogate is balanced already after one step (α < 3/2); full descent is not",
    ),
    Discovery(
        "gradient-split",
        Kind.WRONG,
        "‖B‖ ≤ ‖G‖/(√h − 1) at steps 0 and 1",
        "at step 0; at step 1 the constant is κ/(√h − κ), κ = ∏(1 + η_i h^(−3/2)(1 − h^(−1/2))), which is attained",
    ),
    Discovery(
        "deeper-and-nonlinear",
        Kind.WRONG,
        "from two steps on equal rates win",
        "later at small rates, never near the end of stability, and not with ReLU",
    ),
    Discovery(
        "norm-balance-scheduler",
        Kind.WRONG,
        "the schedule beats uniform rates",
        "from orthogonal weights two layers get exactly the uniform schedule; from Gaussian ones it gains "
        "0.05 % for a few steps",
    ),
    Discovery(
        "taylor-identity",
        Kind.WRONG,
        "one step is its series, for analytic activations",
        "if and only if η|C'| is less than the radius R of the nearest complex singularity; the gradient's "
        "sum begins at d = 1",
    ),
    Discovery(
        "activation-growth",
        Kind.WRONG,
        "φ^[k] ≤ O((k+1)!)",
        "met by all usual ones, but by tanh(cs) only for c ≤ π/2; O(k! R^(−k)) for some R is the condition "
        "that does not depend on the scale",
    ),
    Discovery(
        "tensor-asymptotics",
        Kind.WRONG,
        "every random tensor has a definite bound",
        "if and only if some quantile of its norm is a bound; n^U with U uniform has none",
    ),
    Discovery(
        "external-scale",
        Kind.WRONG,
        "sums and compositions of weak models are weak",
        "not with shared parameters, nor behind a bottleneck",
    ),
    Discovery(
        "linearisation-equivalence",
        Kind.WRONG,
        "correlations vanish if and only if F − F_lin does, at one rate O(1/m(n))",
        "smooth activations: F − F_lin goes with the C₀,d, like 1/n, its gradient with the C₁,d, like n^(−1/2): one "
        "rate for both, √n, is a bound that F does not attain; all orders must vanish, and ReLU lags by n^(−1/2) all "
        "the same",
    ),
    Discovery(
        "sgd-deviation",
        Kind.WRONG,
        "flat in the number of steps",
        "one training input, ηΘ < 2, bounded labels, leading order: at an input whose gradient is not parallel, if and "
        "only if the squared residuals of f_lin are summable; labels drawn at ±ν from their mean add −η²ν²K/(2 − ηΘ) "
        "in each step, in the mean, with K of order 1/n: it grows like s/n",
    ),
    Discovery(
        "depth-spectrum",
        Kind.LOOSE,
        "positive definite at sufficient depth",
        '"sufficient" is L = 2; at L = 1 a regular hexagon is a counterexample',
    ),
    Discovery(
        "depth-limit",
        Kind.LOOSE,
        "the limit is 1/4 for different inputs",
        "with a bound for all depths and inputs (limes show depth-limit); not uniformly as the inputs meet",
    ),
    Discovery(
        "depth-predictor",
        Kind.LOOSE,
        "the deep predictor does not depend on the data",
        "every residual gets the weight 1/(n+3); from f₀ = 0 the mean label is shrunk by n/(n+3)",
    ),
    Discovery(
        "nngp-limit",
        Kind.LOOSE,
        "excess kurtosis O(1/m)",
        "for ReLU exactly 3(1 + 5/m)^L − 3, at every width and depth",
    ),
    Discovery(
        "cntk",
        Kind.LOOSE,
        "the equivalent of training finite CNNs",
        "only as the channels C → ∞: the kernel is off by C^(−1/2), its mean by 1/C (0 if L = 1)",
    ),
    Discovery(
        "features-move",
        Kind.LOOSE,
        "features move if L ≥ 2",
        "for L = 1 too, unless x is orthogonal or opposite to every training point; for every L the change of ⟨h, h'⟩ "
        "given f₀ is Gaussian with explicit mean and variance, reached like m^(−1/2)",
    ),
    Discovery(
        "loss-exact",
        Kind.LOOSE,
        "the surrogate is close to gradient descent",
        "after one step it has 2η₁η₂/h⁴ where full descent has 6η₁η₂/h⁴: wrong at leading order",
    ),
    Discovery(
        "asymmetry-then-balance",
        Kind.LOOSE,
        "after two steps equal rates h^α are a minimum for 1 < α ≤ 3/2, h large",
        "certified: from h = 33 (α = 5/4), 257 (α = 3/2); full descent needs 164 and 200, and 59264 at α = 11/10",
    ),
    Discovery(
        "rate-thresholds",
        Kind.LOOSE,
        "the critical scale of two layers is h√h",
        "there the interaction of the layers comes in; the loss turns at h^(5/3)",
    ),
    Discovery(
        "early-stopping",
        Kind.LOOSE,
        "it limits the noise fitted",
        "it tells fast modes from slow; the flow lies between ridge and κ = 1.29843 times ridge, its risk is "
        "at most 1.68591 times ridge's",
    ),
    Discovery(
        "rate-scaling",
        Kind.LOOSE,
        "rates n^α make the MSE of f − f_lin O(n^(2α−1)), with measured slopes −1.14 to −2.72",
        "a bound that holds and is not tight: n^(4α−2) early, at a fixed number of steps, n^(−2) at a fixed time; four "
        "of the five measured slopes lie above the bound, so are no exponents",
    ),
    Discovery(
        "correlation-decay",
        Kind.LOOSE,
        "√n-weakly correlated",
        "√n is what C₁,₁ has; the scalar C₀,d, d ≥ 2, fall like n^(−⌊d/2⌋), and have mean 0 for even d at every width",
    ),
    Discovery(
        "linearised-network",
        Kind.LOOSE,
        "f − f_lin = O(m^(−1/2))",
        "for ReLU this is attained, with a proved mean lag; smooth activations, one or two hidden layers: m^(−1)",
    ),
    Discovery(
        "depth-crossover",
        Kind.UNSAID,
        "",
        "for L θ₀ = 3π s the limit is ((1+s)⁴ − 1)/(4s(1+s)³), and its error is known to order 1/L",
    ),
    Discovery(
        "rate-thresholds",
        Kind.UNSAID,
        "",
        "in exact arithmetic full descent with equal rates keeps at least 1/(2h) of the loss for ever; "
        "unequal rates (or rounding) lose it",
    ),
)

# Processor time of judging each at the level standard, seed 0, with one thread, in one process that judged the whole
# ledger in order: what claims share, such as imports and cached derivations, is in that of the first of them. A run
# records something else, the clock time of all pieces of work added up, and a report of a run shows that.
SECONDS: dict[str, float] = {
    "depth-rate": 2.3,
    "depth-spectrum": 1.0,
    "depth-scaling": 12.6,
    "kernel-conditions": 5.2,
    "loss-two-layer": 2.3,
    "loss-three-layer": 2.1,
    "asymmetry-then-balance": 14.7,
    "gaussian-initialisation": 1.4,
    "gradient-split": 2.5,
    "deeper-and-nonlinear": 17.3,
    "norm-balance-scheduler": 2.6,
    "taylor-identity": 2.1,
    "activation-growth": 2.8,
    "tensor-asymptotics": 3.2,
    "external-scale": 12.0,
    "rate-scaling": 57.0,
    "linearisation-equivalence": 64.0,
    "sgd-deviation": 17.2,
    "depth-limit": 0.5,
    "depth-predictor": 0.5,
    "nngp-limit": 13.3,
    "cntk": 31.4,
    "features-move": 28.8,
    "loss-exact": 19.4,
    "rate-thresholds": 3.1,
    "early-stopping": 3.4,
    "correlation-decay": 130.4,
    "linearised-network": 24.2,
    "depth-crossover": 1.9,
}


INTRODUCTION = """\
Each line can be checked with `limes verify` and the id in front; *takes* is what it costs one core once Python is up.
`limes findings` is this list, and `limes report --html report.html` judges all claims and writes one page that begins
with it: statements typeset, evidence, plots. With `--from run.json` it is about a run that `limes verify --json
run.json` made; `--latex report.tex` writes a document."""
PAGES = {"findings/correlations.md": "Weak correlations: two questions of the public reviews"}  # findings at length


def by_kind() -> dict[Kind, list[Discovery]]:
    """The findings in the order in which they are shown."""
    return {kind: [one for one in DISCOVERIES if one.kind is kind] for kind in Kind}


def markdown() -> str:
    """The section of README.md."""
    lines = [INTRODUCTION]
    for kind, found in by_kind().items():
        said = " what the source says |" if kind is not Kind.UNSAID else ""
        lines += ["", f"**{kind.value}**", "", f"| claim |{said} what is so | takes |", "|---" * (3 + bool(said)) + "|"]
        for one in found:
            cells = [f"`{one.claim}`", *([one.said] if said else []), one.so, one.takes]
            lines.append("| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |")
    links = ", ".join(f"[{title}]({page})" for page, title in PAGES.items())
    return "\n".join([*lines, "", f"At length: {links}."]) + "\n"
