"""Exponents recovered from samples, how often their intervals miss, and what is refused."""

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import curve_fit

from numerics.decision import Outcome
from numerics.exponents import Correction, Statistic, _measure, fit_exponent
from theory.errors import InvalidInput

SIZES = (16, 32, 64, 128, 256)


def _samples(rng, draw, n, sizes=SIZES):
    return {m: draw(rng, m, n) for m in sizes}


def _relative(mean, error, n=100):
    """A sampler of `n` normal observations whose mean `mean(m)` is then known to the relative `error`."""
    return lambda rng, m, _: mean(m) * (1 + error * math.sqrt(n) * rng.normal(size=n))


# (statistic, sampler, exponent, observations at each size)
CASES = {
    "mean, normal": (Statistic.MEAN, lambda rng, m, n: rng.normal(1, 1, n) / m, -1.0, 400),
    "mean, chi-square": (Statistic.MEAN, lambda rng, m, n: rng.chisquare(1, n) * m**2, 2.0, 1500),
    "root mean square": (Statistic.ROOT_MEAN_SQUARE, lambda rng, m, n: rng.normal(size=n) / m**0.5, -0.5, 1000),
    "deviation": (Statistic.STANDARD_DEVIATION, lambda rng, m, n: 5 + rng.normal(size=n) / m, -1.0, 1000),
    "median, Cauchy": (Statistic.QUANTILE, lambda rng, m, n: np.abs(rng.standard_cauchy(n)) / m**0.5, -0.5, 300),
    "median of means": (Statistic.MEDIAN_OF_MEANS, lambda rng, m, n: rng.pareto(1.8, n) / m, -1.0, 900),
}


@pytest.mark.parametrize("case", CASES)
def test_intervals_miss_the_true_exponent_as_rarely_as_stated(case):
    """The statistical part alone, at 0.05 and 0.01; if the error were exact, this would fail with probability 2e-4.

    The bound tells: intervals half as wide break it.
    """
    statistic, draw, exponent, n = CASES[case]
    rng = np.random.default_rng(20261130)
    alphas = np.array([0.05, 0.01])
    runs, missed, missed_by_half = 500, np.zeros(2), np.zeros(2)
    for _ in range(runs):
        fit = fit_exponent(_samples(rng, draw, n), statistic=statistic)
        half_width = np.array([fit.half_width(alpha) for alpha in alphas]) - fit.systematic
        missed += abs(fit.exponent - exponent) > half_width
        missed_by_half += abs(fit.exponent - exponent) > half_width / 2
    bound = stats.binom.ppf(1 - 1e-4, runs, alphas)
    assert (missed <= bound).all()
    assert (missed_by_half > bound).all()


@pytest.mark.parametrize(
    ("statistic", "terms"), [(Statistic.MEAN, lambda z: 1 + z), (Statistic.ROOT_MEAN_SQUARE, lambda z: z**2)]
)
def test_the_studentised_skewness_is_the_asymmetry_of_the_tails(statistic, terms):
    """By Edgeworth, `P(T > x) − P(T < −x) = −2 φ(x) (κx²/3 + c) + O(n^{−3/2})`: two values of `x` give κ.

    The standard error of κ from 200 000 samples is 0.005; the tolerance is four of them. κ is proportional to 1/√n.
    """
    rng, n, x = np.random.default_rng(14), 100, np.array([1.2, 2.2])
    difference = np.zeros(2)
    for _ in range(10):
        y = terms(rng.normal(size=(20_000, n)))
        t = np.log(y.mean(axis=1)) / (y.std(axis=1, ddof=1) / math.sqrt(n) / y.mean(axis=1))
        difference += [((t > level).mean() - (t < -level).mean()) / 10 for level in x]
    coefficient = -difference / (2 * stats.norm.pdf(x))
    kappa = 3 * (coefficient[1] - coefficient[0]) / (x[1] ** 2 - x[0] ** 2)
    large = rng.normal(size=10**6) + (1 if statistic is Statistic.MEAN else 0)
    stated = _measure(16, large, statistic, 0.5).skewness * math.sqrt(large.size / n)
    assert stated == pytest.approx(kappa, abs=0.02)
    assert abs(stated) > 0.05


@pytest.mark.parametrize(
    ("statistic", "draw"),
    [
        (Statistic.MEAN, lambda rng: rng.normal(10, 1, 100)),
        (Statistic.MEAN, lambda rng: rng.exponential(1, 400) + 20),
        (Statistic.QUANTILE, lambda rng: rng.uniform(10, 11, 400)),
    ],
)
def test_the_degrees_of_freedom_say_how_well_the_error_is_known(statistic, draw):
    """A variance estimate of `ν` degrees of freedom has the relative variance `2/ν`.

    It is measured here to 4 %; the rest of the tolerance is for `ν`, a formula for large n.
    """
    rng = np.random.default_rng(15)
    measured = [_measure(16, draw(rng), statistic, 0.5) for _ in range(2000)]
    squares = np.array([x.standard_error**2 for x in measured])
    stated = np.mean([2 / x.degrees_of_freedom for x in measured])
    assert stated == pytest.approx(squares.var() / squares.mean() ** 2, rel=0.3)


def test_the_interval_is_student_s():
    samples = _samples(np.random.default_rng(16), CASES["median of means"][1], 900)
    fit = fit_exponent(samples, statistic=Statistic.MEDIAN_OF_MEANS)
    assert 15 < fit.degrees_of_freedom < 50
    expected = stats.t.isf(5e-7, fit.degrees_of_freedom) * fit.standard_error + fit.systematic
    assert fit.half_width(1e-6) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("correction", Correction)
def test_it_is_weighted_least_squares(correction):
    samples = _samples(np.random.default_rng(1), lambda rng, m, n: rng.normal(1, m / 100, n) / m, 400)
    fit = fit_exponent(samples, correction=correction)
    y = [math.log(x.mean()) for x in samples.values()]
    errors = [x.std(ddof=1) / x.mean() / math.sqrt(400) for x in samples.values()]

    def power_law(m, a, p, b=0.0):
        return a + p * np.log(m) + b / m

    start = [0.0, -1.0, 0.0][: 2 + correction.value]
    best, covariance = curve_fit(power_law, np.array(SIZES, float), y, start, errors, absolute_sigma=True)
    residual = ((y - power_law(np.array(SIZES), *best)) / errors) ** 2
    birge = max(1.0, residual.sum() / (len(SIZES) - len(best)))
    assert fit.exponent == pytest.approx(best[1], rel=1e-6)
    assert fit.intercept == pytest.approx(best[0], rel=1e-5, abs=1e-7)
    assert fit.standard_error == pytest.approx(math.sqrt(covariance[1, 1] * birge), rel=1e-5)
    assert fit.fit_p_value == pytest.approx(stats.chi2.sf(residual.sum(), len(SIZES) - len(best)), rel=1e-5)
    if correction is Correction.INVERSE_SIZE:
        assert fit.correction == pytest.approx(best[2], rel=1e-4)


def test_a_finite_size_correction_is_fitted_and_covered():
    """`1/m (1 + 2/m)` has the exponent −1; the plain power law's statistical interval misses it almost always."""
    rng, runs, alpha = np.random.default_rng(2), 200, 0.05
    draw = _relative(lambda m: (1 + 2 / m) / m, 0.005)
    missed = plain_missed = 0
    for _ in range(runs):
        samples = _samples(rng, draw, 100)
        plain = fit_exponent(samples)
        fit = fit_exponent(samples, correction=Correction.INVERSE_SIZE)
        missed += abs(fit.exponent + 1) > fit.half_width(alpha)
        plain_missed += abs(plain.exponent + 1) > plain.half_width(alpha) - plain.systematic
    assert missed <= stats.binom.ppf(1 - 1e-4, runs, alpha)
    assert plain_missed > runs / 2


def test_the_systematic_error_is_the_bias_of_an_inverse_size_correction():
    """Nearly without noise: what is added to the half-width is the distance from the true exponent."""
    fit = fit_exponent(_samples(np.random.default_rng(3), _relative(lambda m: math.exp(0.3 / m) / m, 1e-6), 100))
    assert fit.systematic == pytest.approx(abs(fit.exponent + 1), rel=0.01)
    assert fit.systematic > 0.003


@pytest.mark.parametrize("size_law", [lambda m: math.log(m) / m, lambda m: (1 + 8 / m) / m])
def test_curvature_is_recognised_and_leaves_the_side_of_the_drift_open(size_law):
    fit = fit_exponent(_samples(np.random.default_rng(4), _relative(size_law, 0.003), 100))
    assert not fit.asymptotic
    assert "not asymptotic" in fit.warnings[0]
    towards = math.copysign(1.0, fit.curvature)
    assert fit.decide(fit.exponent + 0.9 * towards).outcome is Outcome.UNDECIDED
    assert "not asymptotic" in fit.decide(fit.exponent).reason
    assert fit.decide(fit.exponent - 0.9 * towards).outcome is Outcome.REJECTED


def test_a_power_law_is_called_asymptotic():
    """Curvature is claimed with probability 1e-3 by chance; 200 fits do so more than 4 times with probability 1e-6."""
    rng = np.random.default_rng(5)
    draw = _relative(lambda m: 1 / m, 0.01, n=300)
    assert sum(not fit_exponent(_samples(rng, draw, 300)).asymptotic for _ in range(200)) <= 4


def test_scatter_beyond_the_errors_widens_them_and_is_said():
    samples = _samples(np.random.default_rng(6), _relative(lambda m: (1.3 if m in (32, 128) else 1) / m, 0.01), 100)
    fit = fit_exponent(samples)
    assert any("scatter" in warning for warning in fit.warnings)
    assert fit.standard_error > 0.05


@pytest.mark.parametrize("sample", [lambda rng, n: np.abs(rng.standard_cauchy(n)), lambda rng, n: rng.pareto(1.5, n)])
@pytest.mark.parametrize("statistic", [Statistic.MEAN, Statistic.ROOT_MEAN_SQUARE])
def test_means_with_heavy_tails_are_not_used(sample, statistic):
    rng = np.random.default_rng(7)
    for _ in range(10):
        fit = fit_exponent({m: sample(rng, 1000) / m for m in SIZES}, statistic=statistic)
        assert not fit.trustworthy
        assert fit.interval(1e-6) == (-math.inf, math.inf)
        decision = fit.decide(17.0)
        assert decision.outcome is Outcome.UNDECIDED
        assert decision.resolution == math.inf


def test_a_statistic_lost_in_noise_is_not_used():
    fit = fit_exponent(_samples(np.random.default_rng(8), lambda rng, m, n: rng.normal(1 / m, 0.05, n), 1000))
    assert not fit.trustworthy
    assert "256" in fit.decide(-1.0).reason


def test_too_skewed_samples_are_undecided_at_a_small_error_only():
    samples = _samples(np.random.default_rng(9), lambda rng, m, n: rng.exponential(1, n) ** 2 / m, 3000)
    skewed = dataclasses.replace(fit_exponent(samples), doubts=(), skewness=0.3)
    assert math.isfinite(skewed.half_width(0.05))
    assert skewed.decide(3.0).outcome is Outcome.UNDECIDED
    assert "skewed" in skewed.decide(3.0).reason


def test_decisions():
    fit = fit_exponent(_samples(np.random.default_rng(10), lambda rng, m, n: rng.exponential(3 / m, n), 3000))
    assert fit.decide(-1.0).outcome is Outcome.CONSISTENT
    assert fit.decide(-1.0).resolution == pytest.approx(2 * fit.half_width(1e-6))
    assert fit.decide(-1.0, wanted_resolution=fit.half_width(1e-6)).outcome is Outcome.UNDECIDED
    for wrong in (-0.5, -1.5, 1.0):
        assert fit.decide(wrong).outcome is Outcome.REJECTED
    low, high = fit.interval(1e-3)
    assert fit.interval(1e-6)[0] < low < fit.exponent < high < fit.interval(1e-6)[1]


@pytest.mark.parametrize("statistic", Statistic)
def test_a_unit_changes_the_intercept_only(statistic):
    samples = _samples(np.random.default_rng(11), lambda rng, m, n: rng.exponential(1 / m, n), 400)
    fit = fit_exponent(samples, statistic=statistic)
    tiny = fit_exponent({m: 1e-180 * x for m, x in samples.items()}, statistic=statistic)
    assert tiny.exponent == pytest.approx(fit.exponent, rel=1e-9)
    assert tiny.standard_error == pytest.approx(fit.standard_error, rel=1e-6)
    assert tiny.intercept == pytest.approx(fit.intercept - 180 * math.log(10), rel=1e-9)


@pytest.mark.parametrize(
    ("change", "options", "argument"),
    [
        ({16: None, 32: None, 64: None}, {}, "number of sizes"),
        ({16: None, 32: None}, {"correction": Correction.INVERSE_SIZE}, "number of sizes"),
        ({0: np.ones(100)}, {}, "sizes"),
        ({math.inf: np.ones(100)}, {}, "sizes"),
        ({"wide": np.ones(100)}, {}, "sizes"),
        ({16: np.ones(29)}, {}, r"samples_by_size\[16\]"),
        ({16: np.ones((100, 2))}, {}, r"samples_by_size\[16\]"),
        ({16: np.full(100, math.nan)}, {}, r"samples_by_size\[16\]"),
        ({16: ["a"] * 100}, {}, r"samples_by_size\[16\]"),
        ({16: np.zeros(100)}, {}, r"samples_by_size\[16\]"),
        ({16: np.ones(100)}, {}, r"samples_by_size\[16\]"),
        ({16: -np.arange(100.0)}, {}, r"samples_by_size\[16\]"),
        ({16: -np.arange(100.0)}, {"statistic": Statistic.QUANTILE}, r"samples_by_size\[16\]"),
        ({16: np.ones(100)}, {"statistic": Statistic.QUANTILE}, r"samples_by_size\[16\]"),
        ({16: np.ones(100)}, {"statistic": Statistic.STANDARD_DEVIATION}, r"samples_by_size\[16\]"),
        ({16: np.arange(1.0, 100)}, {"statistic": Statistic.MEDIAN_OF_MEANS}, r"samples_by_size\[16\]"),
        ({}, {"statistic": Statistic.QUANTILE, "level": 1.0}, "level"),
        ({}, {"statistic": Statistic.QUANTILE, "level": 0.999}, "level"),
    ],
)
def test_bad_samples_are_refused(change, options, argument):
    samples = _samples(np.random.default_rng(12), lambda rng, m, n: rng.exponential(1 / m, n), 200) | change
    samples = {m: x for m, x in samples.items() if x is not None}
    with pytest.raises(InvalidInput, match=f"^{argument}"):
        fit_exponent(samples, **options)


@pytest.mark.parametrize(
    ("claimed", "options"), [(math.nan, {}), (1.0, {"alpha": 0.0}), (1.0, {"wanted_resolution": 0.0})]
)
def test_bad_claims_are_refused(claimed, options):
    fit = fit_exponent(_samples(np.random.default_rng(13), lambda rng, m, n: rng.exponential(1 / m, n), 1000))
    with pytest.raises(InvalidInput):
        fit.decide(claimed, **options)
