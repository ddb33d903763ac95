"""The stated error of the confidence sequence, measured, and what it refuses to say."""

import json
import math
import pickle
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar

from numerics.confidence import ConfidenceSequence, count_needed, student_boundary
from numerics.decision import Outcome
from numerics.moments import Moments
from theory.errors import InvalidInput

GRID = (np.arange(20_000) + 0.5) / 20_000
NORMAL = stats.norm.ppf((np.arange(200) + 0.5) / 200)
RELU = np.maximum(NORMAL, 0)


def _product(correlation):
    first, second = np.meshgrid(NORMAL, NORMAL)
    return (first * (correlation * first + math.sqrt(1 - correlation**2) * second)).ravel()


# Laws of finite support, all points equally likely: their mean is known exactly and they can be tilted exactly.
LAWS = {
    "gaussian": stats.norm.ppf(GRID),
    "product of independent Gaussians": _product(0.0),
    "product of correlated Gaussians": _product(0.5),
    "chi-square": stats.chi2.ppf(GRID, 1),
    "lognormal": stats.lognorm.ppf(GRID, 1.0),
    "product of ReLU": np.outer(RELU, RELU).ravel(),
    "signs": np.array([-1.0, 1.0]),
    "rare event": np.repeat([1.0, 0.0], [1, 49]),
}


def _standard(law):
    points = LAWS[law]
    return (points - points.mean()) / points.std()


def measured_error(law, alpha, runs, ends, crossed):
    r"""Probability that a true mean is ever rejected, over `alpha`, with its standard error: by importance sampling.

    Under the law `P` of the observations (standardised points `x`) a rejection is too rare to be seen. Draw instead
    from `Q`, the even mixture over θ of the laws tilted by `exp(θx − θ²x²/2)`, under which nearly every run is
    rejected; then `P(rejected) = E_Q[1/L; rejected]` with `L = dQ/dP` of the observations up to the rejection.
    `crossed` maps a chunk of shape `(k, runs)` to the runs rejected after it.
    """
    rng = np.random.default_rng(20261107)
    x = _standard(law)
    level = math.sqrt(2 * math.log(1 / alpha) + 6)
    tilts = np.outer(level / np.sqrt(np.geomspace(ends[0], ends[-1], 8)), [1, -1]).ravel()
    weights = np.exp(np.outer(tilts, x) - np.outer(tilts**2, x**2) / 2)
    cumulant = np.log(weights.mean(axis=1))
    cumulative = np.cumsum(weights, axis=1) / weights.sum(axis=1, keepdims=True)
    tilt = rng.integers(len(tilts), size=runs)
    sums, squares, estimate = np.zeros(runs), np.zeros(runs), np.zeros(runs)
    running = np.ones(runs, dtype=bool)
    for size, end in zip(np.diff([0, *ends]), ends, strict=True):
        chunk = np.empty((size, runs))
        for j in range(len(tilts)):
            columns = np.flatnonzero(tilt == j)
            index = np.searchsorted(cumulative[j], rng.random((size, columns.size)))
            chunk[:, columns] = x[np.minimum(index, len(x) - 1)]
        sums, squares = sums + chunk.sum(axis=0), squares + (chunk**2).sum(axis=0)
        new = running & crossed(chunk)
        log_ratio = np.outer(tilts, sums) - np.outer(tilts**2, squares) / 2 - end * cumulant[:, None]
        estimate[new] = np.exp(-np.logaddexp.reduce(log_ratio, axis=0) + math.log(len(tilts)))[new]
        running &= ~new
    return estimate.mean() / alpha, estimate.std() / math.sqrt(runs) / alpha, 1 - running.mean()


def _rejects_zero(sequence):
    def crossed(chunk):
        sequence.update(chunk)
        low, high = sequence.interval()
        return (low > 0) | (high < 0)

    return crossed


@pytest.mark.parametrize("law", LAWS)
def test_the_error_is_kept_at_one_in_a_million(law):
    runs, alpha = 60, 1e-6
    ends = np.unique(np.geomspace(300, 60_000, 30).astype(int))
    sequence = ConfidenceSequence(alpha=alpha * runs, dimension=runs)  # each run has the error alpha
    ratio, error, seen = measured_error(law, alpha, runs, ends, _rejects_zero(sequence))
    # Were the true ratio above 1, this would pass with probability 3e-5 (normal); and it must rest on rejections.
    assert ratio + 4 * error < 1
    assert seen > 0.5


@pytest.mark.parametrize("law", ["gaussian", "chi-square", "product of ReLU", "signs", "rare event"])
def test_the_price_is_the_expansion_of_the_rate_of_large_deviations(law):
    """`−log P(S/V ≤ −x)/n → I(δ)`, `δ = x/√n`, and `I(δ) = δ²/2 − γδ³/3 + κδ⁴/12 + O(δ⁵)`.

    By Shao (1997), `−I(δ) = sup_c inf_t log E exp(t(cX − δ(X² + c²)/2))`, here for `X = −x`.
    """
    x, delta = -_standard(law), 0.01

    def least(function, low, high, tolerance):
        found: Any = minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": tolerance})
        return found.fun

    def infimum(c):
        exponent = c * x - delta * (x**2 + c**2) / 2
        return least(lambda t: math.log(np.exp(t * exponent).mean()), 0, 3 * delta, 1e-11)

    rate = least(lambda c: -infimum(c), 0.5, 2, 1e-7)
    skewness, kurtosis = -(x**3).mean(), (x**4).mean()
    expansion = delta**2 / 2 - skewness * delta**3 / 3 + kurtosis * delta**4 / 12
    assert rate == pytest.approx(expansion, abs=3 * delta**5)  # the quartic term is at least 8 δ⁵ here


def test_the_plain_asymptotic_boundary_does_not_keep_it():
    runs, alpha, tuned_for = 200, 1e-6, 10_000
    ends = np.unique(np.geomspace(1000, 20_000, 15).astype(int))
    rho_squared = (-2 * math.log(alpha) + math.log(1 - 2 * math.log(alpha))) / tuned_for
    moments = [Moments.none(runs)]

    def crossed(chunk):  # Waudby-Smith et al. 2021, theorem 2.2
        moments[0] = m = moments[0].merged(Moments.of(chunk, runs))
        v = m.count * rho_squared + 1
        factor = math.sqrt(2 * v / (m.count * rho_squared) * math.log(math.sqrt(v) / alpha) / m.count)
        return np.abs(m.mean) > factor * np.sqrt(m.second / m.count)

    ratio, error, _ = measured_error("lognormal", alpha, runs, ends, crossed)
    assert ratio - 4 * error > 1


SAMPLERS = {
    "gaussian": (lambda rng, size: rng.normal(1.0, 2.0, size), 1.0),
    "product of correlated Gaussians": (lambda rng, size: _correlated_product(rng, 0.5, size), 0.5),
    "chi-square": (lambda rng, size: rng.chisquare(1, size), 1.0),
    "lognormal": (lambda rng, size: rng.lognormal(0.0, 0.5, size), math.exp(0.125)),
    "nearly Bernoulli": (lambda rng, size: (rng.random(size) < 0.1) + 0.01 * rng.random(size), 0.105),
}


def _correlated_product(rng, correlation, size):
    first, second = rng.normal(size=(2, *size))
    return first * (correlation * first + math.sqrt(1 - correlation**2) * second)


@pytest.mark.parametrize(("alpha", "per_sequence"), [(0.05, 19), (0.01, 95)])
@pytest.mark.parametrize("law", SAMPLERS)
def test_false_alarms_are_as_rare_as_stated(law, alpha, per_sequence):
    """Looked at after each of 25 chunks, at most a fraction `alpha` of the true means is ever rejected.

    If the error were exactly alpha, this test would fail with probability 1e-4; it is smaller.
    """
    sample, mean = SAMPLERS[law]
    rng = np.random.default_rng(20261108)
    sequences = [
        ConfidenceSequence(alpha * per_sequence, per_sequence, tuned_for=1000) for _ in range(950 // per_sequence)
    ]
    rejected = np.zeros((len(sequences), per_sequence), dtype=bool)
    for _ in range(25):
        for sequence, seen in zip(sequences, rejected, strict=True):
            sequence.update(sample(rng, (100, per_sequence)))
            low, high = sequence.interval()
            seen |= (mean < low) | (mean > high)
    assert np.mean([np.isfinite(sequence.radius) for sequence in sequences]) > 0.9
    assert rejected.sum() <= stats.binom.ppf(1 - 1e-4, rejected.size, alpha)


def test_fixed_sample_intervals_would_raise_false_alarms():
    """The bound of the test above tells: intervals made for one look, looked at 25 times, break it."""
    rng, alpha, runs = np.random.default_rng(20261109), 0.05, 950
    moments, rejected = Moments.none(runs), np.zeros(runs, dtype=bool)
    for _ in range(25):
        moments = moments.merged(Moments.of(rng.normal(size=(100, runs)), runs))
        rejected |= np.abs(moments.mean) > stats.norm.ppf(1 - alpha / 2) * np.sqrt(moments.second) / moments.count
    assert rejected.sum() > stats.binom.ppf(1 - 1e-4, runs, alpha)


@pytest.mark.parametrize(("law", "deviation", "skewness"), [("gaussian", 0.5, 0.0), ("chi-square", math.sqrt(2), 2.83)])
def test_a_mean_wrong_by_one_percent_is_rejected_within_the_predicted_budget(law, deviation, skewness):
    """The prediction holds but for 1e-6 a run, and the estimates of deviation and skewness, 5 % of the count."""
    budget = count_needed(0.01, deviation, skewness=skewness)
    x = _standard(law)
    rng = np.random.default_rng(20261110)
    for _ in range(3):
        sequence = ConfidenceSequence(tuned_for=budget)
        for _ in range(21):
            sequence.update(1 + deviation * x[rng.integers(len(x), size=budget // 20)])
        decision = sequence.decide(1.0, wanted_resolution=0.01)
        assert decision.outcome is Outcome.CONSISTENT
        assert sequence.decide(1.01).outcome is Outcome.REJECTED
        assert sequence.decide(0.99).outcome is Outcome.REJECTED


def test_the_resolution_is_twice_the_radius_over_the_target_in_the_worst_component():
    sequence = ConfidenceSequence(dimension=2)
    sequence.update(np.random.default_rng(3).normal([1.0, 10.0], 0.1, size=(5000, 2)))
    decision = sequence.decide([1.0, 10.0])
    assert decision.resolution == 2 * sequence.radius[0]
    assert sequence.decide([1.0, 10.0], scale=[100.0, 1.0]).resolution == 2 * sequence.radius[1]
    assert sequence.decide([1.0, 10.0], wanted_resolution=1e-4).outcome is Outcome.UNDECIDED
    assert sequence.decide([1.0, 10.1]).outcome is Outcome.REJECTED
    assert "component 1" in sequence.decide([1.0, 10.1]).reason


def test_a_target_of_zero_needs_a_scale():
    sequence = ConfidenceSequence()
    sequence.update(np.random.default_rng(4).normal(size=5000))
    assert sequence.decide(0.0).outcome is Outcome.UNDECIDED
    assert "give the scale" in sequence.decide(0.0).reason
    assert sequence.decide(0.0, scale=1.0).outcome is Outcome.CONSISTENT


@pytest.mark.parametrize("sample", [lambda rng, n: rng.standard_cauchy(n), lambda rng, n: rng.pareto(1.5, n)])
def test_means_that_do_not_settle_are_not_used(sample):
    """Cauchy has no mean, Pareto 1.5 no variance: nothing is decided about any of 50 samples, at any time."""
    rng = np.random.default_rng(20261111)
    sequence = ConfidenceSequence(alpha=0.5, dimension=50)
    for _ in range(20):
        sequence.update(sample(rng, (1000, 50)))
        assert np.isinf(sequence.radius).all()
        decision = sequence.decide(np.full(50, 1e6))
        assert decision.outcome is Outcome.UNDECIDED
        assert "component 0" in decision.reason
        assert decision.resolution == math.inf
    assert not sequence.trustworthy


def test_one_untrusted_component_hides_no_rejection_but_forbids_acceptance():
    rng = np.random.default_rng(5)
    sequence = ConfidenceSequence(dimension=2)
    sequence.update(np.column_stack([rng.standard_cauchy(5000), rng.normal(1.0, 1.0, 5000)]))
    assert sequence.decide([0.0, 1.0]).outcome is Outcome.UNDECIDED
    assert sequence.decide([0.0, 2.0]).outcome is Outcome.REJECTED


def test_too_small_samples_are_not_used():
    sequence = ConfidenceSequence()
    assert sequence.decide(1.0).outcome is Outcome.UNDECIDED
    sequence.update([3.0])
    assert sequence.decide(1.0).outcome is Outcome.UNDECIDED
    sequence.update(np.random.default_rng(6).normal(size=200))
    assert "too few" in sequence.reason


def test_a_deterministic_constant_equals_only_itself():
    exact = ConfidenceSequence(rounding=0.0, deterministic=True)
    exact.update(np.full(5000, 0.1))
    assert exact.decide(0.1).outcome is Outcome.CONSISTENT
    assert exact.decide(0.1).resolution == 0
    assert exact.decide(np.nextafter(0.1, 1)).outcome is Outcome.REJECTED
    rounded = ConfidenceSequence(deterministic=True)
    rounded.update(3.0 + 4e-16 * np.random.default_rng(7).integers(-1, 2, size=5000))
    assert rounded.decide(3.0).outcome is Outcome.CONSISTENT
    assert rounded.decide(3.0).resolution < 1e-11
    assert rounded.decide(3.0 + 1e-10).outcome is Outcome.REJECTED


def test_an_undeclared_constant_is_not_used():
    sequence = ConfidenceSequence(dimension=2, deterministic=[True, False])
    sequence.update(np.zeros((5000, 2)))
    assert sequence.decide([0.0, 1e-5]).outcome is Outcome.UNDECIDED
    assert sequence.decide([1e-5, 0.0]).outcome is Outcome.REJECTED
    assert "component 1: it has never varied" in sequence.reason


def test_the_state_is_exact_and_the_result_a_function_of_the_chunks_in_order():
    rng = np.random.default_rng(8)
    chunks = [rng.exponential(size=(k, 3)) for k in (7, 900, 1, 3000)]
    whole, resumed, absorbed = (ConfidenceSequence(1e-3, 3, deterministic=True) for _ in range(3))
    for chunk in chunks:
        whole.update(chunk)
        resumed.update(chunk)
        resumed = ConfidenceSequence.from_state(json.loads(json.dumps(resumed.to_state())))
        resumed = pickle.loads(pickle.dumps(resumed))
        absorbed.absorb(Moments.of(chunk, 3))
    assert whole.to_state() == resumed.to_state() == absorbed.to_state()
    assert np.array_equal(whole.radius, resumed.radius)
    assert np.isfinite(whole.radius).all()


@pytest.mark.parametrize("scale", [1e-90, 1e90])
def test_the_interval_scales_with_the_observations(scale):
    x = np.random.default_rng(9).lognormal(size=(30_000, 1))
    unit, scaled = ConfidenceSequence(0.01), ConfidenceSequence(0.01)
    unit.update(x)
    scaled.update(x * scale)
    assert scaled.radius == pytest.approx(unit.radius * scale, rel=1e-9)


def test_overflowing_moments_are_not_used():
    sequence = ConfidenceSequence(0.01)
    sequence.update(1e200 * np.random.default_rng(10).normal(size=5000))
    assert sequence.decide(1e250).outcome is Outcome.UNDECIDED


def test_the_student_boundary_solves_the_martingale():
    """Without a price, `M_n = 1/error` at the boundary, by the definition of the mixture with its own precision."""
    n, error, tuned_for = 10**9, 1e-6, 10**8
    threshold, _, _ = student_boundary(n, error, 0.0, tuned_for)
    g = (-2 * math.log(error) + math.log(1 - 2 * math.log(error))) / tuned_for
    ratio = (1 + threshold**2 / (n - 1)) / (1 + threshold**2 / ((n - 1) * (1 + n * g)))
    assert -math.log1p(n * g) / 2 + n / 2 * math.log(ratio) == pytest.approx(-math.log(error), rel=1e-5)


@pytest.mark.parametrize(
    ("options", "argument"),
    [
        ({"alpha": 0.0}, "alpha"),
        ({"alpha": 1.0}, "alpha"),
        ({"alpha": math.nan}, "alpha"),
        ({"dimension": 0}, "dimension"),
        ({"dimension": 1.5}, "dimension"),
        ({"tuned_for": 0}, "tuned_for"),
        ({"rounding": -1e-3}, "rounding"),
        ({"deterministic": [True, False]}, "deterministic"),
        ({"deterministic": 1}, "deterministic"),
    ],
)
def test_bad_options_are_refused(options, argument):
    with pytest.raises(InvalidInput, match=f"^{argument} = "):
        ConfidenceSequence(**options)


@pytest.mark.parametrize("chunk", [[], [[1.0, 2.0]], [1.0, math.nan], [math.inf], 1.0, [["a"]], [1j]])
def test_bad_observations_are_refused_and_change_nothing(chunk):
    sequence = ConfidenceSequence()
    sequence.update([1.0, 2.0])
    with pytest.raises(InvalidInput):
        sequence.update(chunk)
    assert sequence.count == 2


@pytest.mark.parametrize("options", [{"target": [1.0, 2.0]}, {"target": math.nan}, {"target": 1.0, "scale": -1.0}])
def test_bad_targets_are_refused(options):
    with pytest.raises(InvalidInput):
        ConfidenceSequence().decide(**options)


@pytest.mark.parametrize("arguments", [(0.0, 1.0), (0.01, -1.0), (math.nan, 1.0), (1e-9, 1e9)])
def test_impossible_budgets_are_refused(arguments):
    with pytest.raises(InvalidInput):
        count_needed(*arguments)
