"""Can `limes` itself be trusted? Four checks of the checker, each with its number.

1. *Mutation score.* Of all mutants of the claims, how many are rejected by the evidence.
2. *False alarms.* How often what is true is refuted, over repeated seeds: true statements made for the purpose, judged
   with an error that is large enough to be measured, and the ledger's own statistical evidence with the error in use.
   Bounds are those of Clopper and Pearson (1934): exact for the binomial distribution.
3. *Reproducibility.* Whether the report is the same, byte for byte but for the seconds that it took, for 1, 2 and 4
   processes and other seeds of Python's hashes.
4. *Precision honesty.* Whether every digit printed is right (`checks.audit_digits`).

How much is audited follows from the level; what part of the ledger that is, from the seed.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from theory.errors import InvalidInput, LimesError

from .claims import Claim, claim
from .evidence import Evidence, Expectation, Experiment, Scaling
from .evidence.expectation import Prediction
from .report import AUDIT_SCHEMA, limes_version
from .runner import ALPHA, Progress, verify
from .verdicts import Level, Standing, Verdict

CONFIDENCE = 0.99  # of the bounds that are reported
ENLARGED = 0.1  # an error that can be measured
TOLERANCE = 1e-3  # the probability that the false alarms of a sound `limes` fail this audit, for each of its two counts
PROCESSES = ((1, "0"), (2, "1"), (4, "2"))  # jobs and PYTHONHASHSEED of the runs that must agree


@dataclass(frozen=True)
class Extent:
    """How much is audited: claims of the ledger (None: all), seeds, numbers."""

    mutants: Level  # at which they must be rejected; at quick some evidence is too coarse for that
    claims: int | None  # for mutants and false alarms
    repeated: int | None  # for reproducibility
    seeds: int  # of the ledger's evidence
    true_seeds: int  # of each of the true statements
    numbers: int


EXTENT = {
    Level.QUICK: Extent(Level.STANDARD, claims=3, repeated=2, seeds=2, true_seeds=100, numbers=60),
    Level.STANDARD: Extent(Level.STANDARD, claims=None, repeated=8, seeds=5, true_seeds=500, numbers=600),
    Level.THOROUGH: Extent(Level.THOROUGH, claims=None, repeated=None, seeds=20, true_seeds=3000, numbers=6000),
}


@dataclass(frozen=True)
class Check:
    """One check of the audit: whether it passed, in a sentence and in numbers."""

    name: str
    passed: bool
    sentence: str
    numbers: Mapping[str, Any]
    seconds: float = 0.0


@dataclass(frozen=True)
class Audit:
    """All checks of one audit."""

    level: Level
    seed: int
    checks: tuple[Check, ...] = field(default_factory=tuple)

    @property
    def passed(self) -> bool:
        return all(check.passed for check in self.checks)

    def to_json(self) -> dict[str, Any]:
        """The object that `limes audit --json` writes."""
        return {
            "schema": AUDIT_SCHEMA,
            "version": limes_version(),
            "level": self.level.value,
            "seed": self.seed,
            "passed": self.passed,
            "checks": [
                {
                    "name": check.name,
                    "passed": check.passed,
                    "sentence": check.sentence,
                    "seconds": round(check.seconds, 1),
                    "numbers": dict(check.numbers),
                }
                for check in self.checks
            ],
        }


def _silent(ended: str, done: int, known: int) -> None:
    """Shows no progress."""


@contextmanager
def unwatched(doing: str) -> Iterator[Progress]:
    """What `audit` does in silence."""
    yield _silent


def audit(
    *,
    level: Level = Level.QUICK,
    seed: int = 0,
    watched: Callable[[str], AbstractContextManager[Progress]] = unwatched,
    ended: Callable[[Check], None] = lambda check: None,
) -> Audit:
    """Do all four checks, each inside `watched(its name)`, and give it to `ended` when it is done.

    Raises `InvalidInput` for a seed that is no natural number.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise InvalidInput("seed", seed, "give an integer >= 0")
    from .ledger import LEDGER

    extent = EXTENT[level]
    rng = np.random.default_rng(seed)
    order = [list(LEDGER.values())[i] for i in rng.permutation(len(LEDGER))]
    chosen, repeated = order[: extent.claims], [one.id for one in order[: extent.repeated]]
    seeds = [int(one) for one in rng.integers(1, 2**31, extent.seeds)]
    works: dict[str, Callable[[Progress], Check]] = {
        "mutants": partial(mutation_score, chosen, len(LEDGER), extent.mutants, seed),
        "false alarms": partial(false_alarms, chosen, seeds, extent.true_seeds, seed),
        "repeated runs": partial(reproducibility, repeated, seed),
        "digits": partial(precision_honesty, rng, extent.numbers),
    }
    checks = []
    for name, work in works.items():
        start = time.perf_counter()
        with watched(name) as progress:
            check = work(progress)
        checks.append(replace(check, seconds=time.perf_counter() - start))
        ended(checks[-1])
    return Audit(level, seed, tuple(checks))


def mutation_score(
    claims: Sequence[Claim], of: int, level: Level, seed: int = 0, progress: Progress = _silent
) -> Check:
    """How many mutants of `claims`, out of `of`, are rejected; passed if that is all, and no claim is without."""
    report = verify(claims, level=level, seed=seed, progress=progress)
    survived = [{"claim": one.claim.id, "mutant": text} for one in report.claims for text in one.mutants_survived]
    without = [one.claim.id for one in report.claims if not one.mutants_tried]
    tried = sum(one.mutants_tried for one in report.claims)
    part = "all" if len(claims) == of else f"{len(claims)} of the {of}"
    sentence = f"{tried - len(survived)} of {tried} mutants are rejected, of {part} claims at level {level.value}."
    if survived:
        sentence += f" Accepted: {'; '.join('{claim}: {mutant}'.format(**one) for one in survived[:3])}."
    if without:
        sentence += f" No mutant was tried for {', '.join(without)}."
    numbers = {
        "claims": [one.id for one in claims],
        "of": of,
        "tried": tried,
        "killed": tried - len(survived),
        "survived": survived,
        "without_mutants": without,
    }
    return Check("mutation score", not survived and not without, sentence, numbers)


def false_alarms(
    claims: Sequence[Claim],
    seeds: Sequence[int],
    true_seeds: int,
    seed: int = 0,
    progress: Progress = _silent,
    *,
    true: Mapping[str, Evidence] | None = None,
) -> Check:
    """How often what is true is refuted: `true` statements (default: `true_statements()`), and the ledger's `claims`.

    Passed unless a count is so high that a rate at or below the stated one gives it with probability `TOLERANCE`.
    """
    statements = true_statements() if true is None else true
    copies = [
        claim(id=f"{id}-{i}", statement="", evidence=[evidence])
        for id, evidence in statements.items()
        for i in range(true_seeds)
    ]
    found = verify(copies, seed=seed, alpha=ENLARGED, jobs=1, progress=progress).claims
    # an experiment without a difference is as wrong when it finds one in favour
    alarms = sum(
        one.verdict is Verdict.REFUTED or (one.verdict is Verdict.SUPPORTED and one.evidence[0].kind == Experiment.kind)
        for one in found
    )
    pieces = [piece for piece in map(_held_to_be_true, claims) if piece is not None]
    reports = [verify(pieces, seed=one, level=Level.QUICK, progress=progress) for one in seeds] if pieces else []
    judged = [
        (number, one, item)
        for number, report in zip(seeds, reports, strict=False)
        for one in report.claims
        for item in one.evidence
    ]
    standings = [item.finding.standing for _, _, item in judged]
    refuted = [
        f"{one.claim.id}, {item.part.partition(' ')[2]}, seed {number}: {item.finding.detail}"
        for number, one, item in judged
        if item.finding.standing is Standing.FAILS
    ]
    ledger_alarms = len(refuted)
    measured, in_use = bounds(alarms, len(found)), bounds(ledger_alarms, len(standings))
    passed = _consistent(alarms, len(found), ENLARGED) and _consistent(ledger_alarms, len(standings), ALPHA)
    sentence = (
        f"{alarms} of {len(found)} true statements were refuted where a share of {ENLARGED} may be: with confidence "
        f"{CONFIDENCE:.0%} the rate is at most {measured[1]:.2g}. With the error in use, {ALPHA:g}, it was "
        f"{ledger_alarms} of {len(standings)} pieces of evidence for {len(pieces)} claims and {len(seeds)} seeds: a "
        f"rate of at most {in_use[1]:.2g} ({standings.count(Standing.UNDECIDED)} were undecided at level quick)."
        + "".join(f" Refuted: {one}." for one in refuted)
    )
    numbers = {
        "confidence": CONFIDENCE,
        "true_statements": {"allowed": ENLARGED, "runs": len(found), "alarms": alarms, "at_most": measured[1]},
        "ledger": {
            "allowed": ALPHA,
            "runs": len(standings),
            "alarms": ledger_alarms,
            "refuted": refuted,
            "at_most": in_use[1],
            "undecided": standings.count(Standing.UNDECIDED),
            "claims": [one.id for one in pieces],
            "seeds": list(seeds),
        },
    }
    return Check("false alarms", passed, sentence, numbers)


def true_statements() -> dict[str, Evidence]:
    """Statements that are true by construction, one for each kind of evidence that can raise a false alarm.

    A skewed mean: of `2 u₊ v₊` at correlation 1/2, the arc-cosine kernel. An exponent: of a lognormal variable with the
    mean `1/size`. A difference that is not there.
    """
    angle = math.pi / 3
    kernel = (math.sin(angle) + (math.pi - angle) * math.cos(angle)) / math.pi

    def products(rng: np.random.Generator, count: int) -> np.ndarray:
        u, w = rng.standard_normal((2, count))
        return (2 * np.maximum(u, 0) * np.maximum(u / 2 + math.sqrt(0.75) * w, 0))[:, None]

    mean = Prediction.number(lambda: np.array([kernel]), {})
    return {
        "mean": Expectation(draw=products, prediction=mean, chunk=500, budget=6, resolution=0.01),
        "exponent": Scaling(
            draw=lambda rng, size, count: np.exp(rng.normal(-0.125, 0.5, count)) / size,
            exponent=-1.0,
            sizes=(16, 32, 64, 128),
            count=100,
            budget=4,
            resolution=1.0,
        ),
        "no-difference": Experiment(draw=lambda rng, count: rng.standard_normal((count, 1)), chunk=100, budget=6),
    }


def _held_to_be_true(one: Claim) -> Claim | None:
    """A claim's statistical evidence for what is on record as true: for its correction, or for itself if it holds."""
    corrects = one.expected is Verdict.CORRECTED
    if one.expected in (Verdict.REFUTED, Verdict.UNDECIDED):
        return None
    kept = {
        f"{index} {part}": (item,)
        for index, (part, for_correction, item) in enumerate(one.evidence())
        if item.statistical and for_correction is corrects
    }
    return replace(one, parts=kept, correction=None) if kept else None


def bounds(alarms: int, runs: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """A lower and an upper bound on the rate behind `alarms` in `runs`, each right with this confidence.

    >>> bounds(0, 299, 0.95)[1] < 0.01 < bounds(0, 298, 0.95)[1]
    True
    """
    from scipy.stats import beta

    lower = float(beta.ppf(1 - confidence, alarms, runs - alarms + 1)) if alarms else 0.0
    upper = float(beta.ppf(confidence, alarms + 1, runs - alarms)) if alarms < runs else 1.0
    return lower, upper


def _consistent(alarms: int, runs: int, rate: float) -> bool:
    """Whether so many alarms, or more, have at least the probability `TOLERANCE` if the rate is as stated."""
    return bounds(alarms, runs, 1 - TOLERANCE)[0] <= rate


def reproducibility(claims: Sequence[str], seed: int = 0, progress: Progress = _silent) -> Check:
    """Whether runs in processes of their own give the same report on `claims`, at level quick."""
    texts: list[str] = []
    for done, (jobs, hash_seed) in enumerate(PROCESSES):
        progress(f"now with {jobs} processes", done, len(PROCESSES))
        texts.append(_report(claims, seed, jobs, hash_seed))
    differing = [
        {"jobs": jobs, "hash_seed": hash_seed, "first_difference": _first_difference(texts[0], text)}
        for (jobs, hash_seed), text in zip(PROCESSES[1:], texts[1:], strict=True)
        if text != texts[0]
    ]
    ways = ", ".join(str(jobs) for jobs, _ in PROCESSES)
    sentence = f"The reports on {', '.join(claims)} with {ways} processes and as many hash seeds are the same bytes."
    if differing:
        one = differing[0]
        sentence = f"With {one['jobs']} processes, hash seed {one['hash_seed']}: {one['first_difference']}."
    numbers = {
        "claims": list(claims),
        "runs": [{"jobs": jobs, "hash_seed": hash_seed} for jobs, hash_seed in PROCESSES],
        "bytes": len(texts[0].encode()),
        "differing": differing,
    }
    return Check("reproducibility", not differing, sentence, numbers)


def _report(claims: Sequence[str], seed: int, jobs: int, hash_seed: str) -> str:
    """The JSON report of a run in a process of its own, which resumes nothing; without the seconds."""
    command = "from checks.cli import main; main()"
    paths = [str(Path(__file__).resolve().parent.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    with tempfile.TemporaryDirectory() as folder:
        options = ["--level", "quick", "--seed", str(seed), "--jobs", str(jobs)]
        files = ["--journal", str(Path(folder) / "journal"), "--json", str(Path(folder) / "report")]
        done = subprocess.run(
            [sys.executable, "-c", command, "verify", *claims, *options, *files],
            env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(paths)},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode not in (0, 1):
            raise LimesError(f"limes verify ended with {done.returncode}: {done.stderr.strip()[-500:]}")
        text = (Path(folder) / "report").read_text(encoding="utf-8")
    data = json.loads(text, object_hook=lambda entry: {k: v for k, v in entry.items() if k != "seconds"})
    return json.dumps(data, indent=2, ensure_ascii=False)


def _first_difference(one: str, other: str) -> str:
    lines = zip(one.splitlines(), other.splitlines(), strict=False)
    return next((f"{a.strip()} became {b.strip()}" for a, b in lines if a != b), "one report is longer")


def precision_honesty(rng: np.random.Generator, count: int, progress: Progress = _silent) -> Check:
    """Whether `count` random numbers are printed with digits that are all right."""
    from .audit_digits import dishonest_digits

    wrong, tally = dishonest_digits(rng, count, progress)
    checked = tally["formulas"] + tally["expressions"]
    left = f"{tally['refused']} had no value, {tally['slow']} took too long"
    sentence = f"{checked - len(wrong)} of {checked} numbers are right in every digit printed ({left})."
    if wrong:
        sentence += f" {wrong[0]}."
    numbers = {"checked": checked, **tally, "wrong": [str(one) for one in wrong]}
    return Check("precision honesty", not wrong and checked > 0, sentence, numbers)
