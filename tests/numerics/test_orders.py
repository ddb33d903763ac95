"""Norms of tensors against tensors of known norm and a search over all directions; orders against known laws."""

import itertools
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import ortho_group

from numerics import orders
from numerics.decision import Outcome
from numerics.orders import Sharpness, StochasticOrder, estimate, subordinate_norm
from theory.errors import InvalidInput, LimesWarning

RNG = np.random.default_rng
EXACT = Sharpness.EXACT


# --- norms ------------------------------------------------------------------------------------------------------------


def test_up_to_two_indices_norms_are_exact():
    rng = RNG(0)
    M = rng.standard_normal((5, 4, 3))
    for tensors, batch, expected in (
        (M, 1, np.linalg.svd(M, compute_uv=False)[:, 0]),
        (M, 2, np.sqrt((M**2).sum(axis=-1))),
        (M, 3, np.abs(M)),
    ):
        found = subordinate_norm(tensors, batch=batch)
        np.testing.assert_allclose(found.lower, expected, rtol=1e-13)
        np.testing.assert_array_equal(found.lower, found.upper)


@pytest.mark.parametrize("indices", [3, 4])
def test_orthogonal_sums_have_their_largest_coefficient(indices):
    """`Σ λ_i e_i ⊗ … ⊗ e_i` with orthonormal `e_i`, in each place its own: both bounds are `max |λ_i|`."""
    rng = RNG(indices)
    bases = [ortho_group.rvs(4, random_state=rng) for _ in range(indices)]
    coefficients = np.array([3.0, -5.0, 1.0, 2.0])
    letters = "abcd"[:indices]
    tensor = np.einsum(f"i,{','.join('i' + k for k in letters)}->{letters}", coefficients, *bases)
    found = subordinate_norm(tensor, rng=rng)
    assert found.lower == pytest.approx(5.0, rel=1e-6)
    assert found.upper == pytest.approx(5.0, rel=1e-12)


def test_small_tensors_against_all_directions():
    """A vector of the plane is an angle: with the first fixed, the rest is a matrix, whose norm is exact."""
    rng = RNG(1)
    tensors = rng.standard_normal((20, 2, 3, 4))
    angles = np.linspace(0, np.pi, 20_001)
    first = np.stack([np.cos(angles), np.sin(angles)])
    found = subordinate_norm(tensors, batch=1, rng=rng)
    for tensor, lower, upper in zip(tensors, *found, strict=True):
        highest = np.linalg.norm(np.tensordot(first.T, tensor, 1), 2, axis=(1, 2)).max()
        assert lower == pytest.approx(highest, rel=1e-5)
        assert highest <= upper <= np.sqrt(2) * highest


def test_bounds_are_in_order_and_of_one_homogeneity():
    rng = RNG(2)
    tensors = rng.standard_t(1, (3, 2, 4, 3, 5))
    found = subordinate_norm(tensors, batch=2, rng=rng)
    assert found.lower.shape == found.upper.shape == (3, 2)
    assert (found.lower <= found.upper * (1 + 1e-12)).all()
    scaled = subordinate_norm(-1e-3 * tensors, batch=2, rng=rng)
    np.testing.assert_allclose(scaled.upper, 1e-3 * found.upper, rtol=1e-12)
    assert subordinate_norm(np.zeros((2, 2, 2)), rng=rng) == (0, 0)


@pytest.mark.parametrize("scale", [1e200, 1e-200, 5e-324])
def test_extreme_entries_neither_overflow_nor_vanish(scale):
    for shape in ((3,), (2, 3), (2, 2, 2)):
        found = subordinate_norm(np.full(shape, scale), rng=RNG(0))
        for bound in found:  # of rank one: the root of the number of entries; 5e-324 has no digits after the first
            assert bound / scale == pytest.approx(np.prod(shape) ** 0.5, rel=1e-10, abs=0.5 if scale < 1e-300 else 0)


def test_each_tensor_of_a_batch_has_its_own_scale():
    tensors = np.multiply.outer([1e200, 0.0, -1e-200], np.ones((2, 2, 2)))
    found = subordinate_norm(tensors, batch=1, rng=RNG(0))
    np.testing.assert_allclose(found, [[8**0.5 * 1e200, 0, 8**0.5 * 1e-200]] * 2, rtol=1e-10)


def test_a_norm_beyond_floats_is_refused():
    assert subordinate_norm(1.7e308) == (1.7e308, 1.7e308)
    for shape in ((3,), (2, 2), (2, 2, 2)):
        with pytest.raises(InvalidInput, match="exceeds"):
            subordinate_norm(np.full(shape, 1.7e308), rng=RNG(0))


def test_unfoldings_are_all_there():
    tensors = RNG(3).standard_normal((1, 2, 3, 4, 5))
    shapes = {frozenset(matrix.shape[1:]) for matrix in orders._unfoldings(tensors)}
    sizes = (2, 3, 4, 5)
    expected = {
        frozenset((int(np.prod(part)), 120 // int(np.prod(part))))
        for count in (1, 2)
        for part in itertools.combinations(sizes, count)
    }
    assert shapes == expected


@pytest.mark.parametrize(
    ("tensors", "options"),
    [
        (np.ones((2, 2, 2)), {}),
        (np.ones((2, 2, 2)), {"rng": 0}),
        *((np.ones((2, 2, 2)), {"rng": RNG(0), "restarts": wrong}) for wrong in (0, 1.5, True, "8", 10**12)),
        *((np.ones(3), {"batch": wrong}) for wrong in (2, -1, 0.5, True, "1")),
        (np.ones(3) + 1j, {}),
        ("ab", {}),
        ([[1.0], [1.0, 2.0]], {}),
        (np.ones((0, 2)), {}),
        ([1.0, np.nan], {}),
    ],
)
def test_norms_of_bad_input(tensors, options):
    with pytest.raises(InvalidInput):
        subordinate_norm(tensors, **options)


# --- orders of samples ------------------------------------------------------------------------------------------------


def samples(draw, sizes=(16, 64, 256, 1024), count=500, seed=0):
    rng = RNG(seed)
    return {n: draw(rng, count, n) for n in sizes}


def without_warnings(samples_by_size, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LimesWarning)
        return estimate(samples_by_size, **options)


@pytest.mark.parametrize(
    ("draw", "power", "count"),
    [
        (lambda rng, count, n: rng.standard_normal((count, n)), Fraction(1, 2), 500),
        (lambda rng, count, n: rng.standard_cauchy((count, n)), 1, 1000),
        (lambda rng, count, n: np.abs(rng.standard_t(2, (count, n))).max(axis=1), Fraction(1, 2), 1000),
        (lambda rng, count, n: rng.standard_normal(count) / n, -1, 4000),
    ],
    ids=["Gaussian vector", "Cauchy vector", "Student maximum", "Gaussian number"],
)
def test_known_orders_fit_and_others_do_not(draw, power, count):
    """A false alarm has the probability 1e-6; half a power is far outside every interval."""
    found = without_warnings(samples(draw, sizes=(128, 256, 512, 1024), count=count), levels=(0.5, 0.75))
    order = StochasticOrder(power, sharpness=EXACT)
    assert found.decide(order).outcome is Outcome.CONSISTENT
    half = Fraction(1, 2)
    assert found.decide(StochasticOrder(power - half)).outcome is Outcome.REJECTED
    assert found.decide(StochasticOrder(power + half, sharpness=EXACT)).outcome is Outcome.REJECTED
    assert found.decide(StochasticOrder(power + half)).outcome is Outcome.CONSISTENT  # an upper bound may be larger


def test_a_logarithm_that_is_known_is_divided_out():
    drawn = samples(lambda rng, count, n: np.exp(0.1 * rng.standard_normal(count)) * n * np.log(n) ** 2)
    found = without_warnings(drawn, log_power=2)
    assert found.decide(StochasticOrder(1, 2, EXACT), wanted_resolution=0.2).outcome is Outcome.CONSISTENT
    with pytest.raises(InvalidInput, match="log_power"):
        found.decide(StochasticOrder(1))


def test_it_says_that_the_order_depends_on_the_level():
    drawn = samples(lambda rng, count, n: float(n) ** rng.random(count), count=2000)
    with pytest.warns(LimesWarning, match="no definite bound"):
        found = estimate(drawn)
    exponents = [fit.exponent for fit in found.lower]
    assert exponents == pytest.approx(found.levels, abs=0.1)


def test_it_says_that_the_sizes_are_not_asymptotic():
    drawn = samples(lambda rng, count, n: np.exp(0.01 * rng.standard_normal(count)) * (n + 100 * n**0.5))
    with pytest.warns(LimesWarning, match="not asymptotic|scatter"):
        found = estimate(drawn)
    assert any("not asymptotic" in warning for warning in found.warnings)
    assert found.decide(StochasticOrder(1, sharpness=EXACT)).outcome is Outcome.UNDECIDED  # it drifts to there


def test_it_is_silent_otherwise():
    drawn = samples(lambda rng, count, n: np.exp(rng.standard_normal(count)) * n, seed=3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert estimate(drawn).warnings == ()


def test_the_bootstrap_covers_as_often_as_it_says():
    """Half of the error 0.2 is kept for a second level: of 100 intervals 72 or fewer cover with probability 4e-7."""
    rng, covered = RNG(5), 0
    for _ in range(100):
        drawn = {n: n * rng.exponential(size=100) for n in (16, 64, 256)}
        low, high = without_warnings(drawn, levels=(0.5,)).bootstrap(0.2, rng, resamples=200)
        covered += low <= 1 <= high
    assert covered > 72


def test_the_bootstrap_has_the_standard_error_of_the_median():
    """`1/√n` for the logarithm of an exponential variable, over log 2; resampling knows it to a sixth or so."""
    drawn = {n: n * RNG(n).exponential(size=1000) for n in (16, 64, 256, 1024)}
    low, high = without_warnings(drawn, levels=(0.5,)).bootstrap(0.1, RNG(6), resamples=1000)  # quantiles 0.025, 0.975
    centred = np.log(list(drawn)) - np.log(list(drawn)).mean()
    expected = 1 / (np.log(2) * np.sqrt(1000)) / np.linalg.norm(centred)
    assert 2 / 3 < (high - low) / (2 * 1.96) / expected < 3 / 2


def test_a_bootstrap_takes_more_resamples_than_its_error_allows():
    found = without_warnings({n: RNG(n).random(40) for n in (16, 64, 256)})
    for alpha in (0, 1, np.nan, 1e-6, 0.03):
        with pytest.raises(InvalidInput, match="alpha"):
            found.bootstrap(alpha, RNG(0))
    assert all(map(np.isfinite, found.bootstrap(1e-2, RNG(0), resamples=8000)))


def test_a_resampling_in_batches_is_the_same(monkeypatch):
    found = without_warnings({n: RNG(n).random(40) for n in (16, 64, 256)})
    whole = found.bootstrap(0.1, RNG(0))
    monkeypatch.setattr(orders, "DRAWN_AT_ONCE", 4000)
    assert found.bootstrap(0.1, RNG(0)) == whole


def test_questions_of_bad_input():
    found = without_warnings({n: RNG(n).random(40) for n in (16, 64, 256)})
    for alpha in ("a", None, 0, 1, 2, -0.1, np.nan, True):
        for ask in (found.interval, lambda alpha: found.bootstrap(alpha, RNG(0)), decide_a_constant(found)):
            with pytest.raises(InvalidInput, match="alpha"):
                ask(alpha)
    for resamples in (0, 1.5, True, "a", 10**12):
        with pytest.raises(InvalidInput, match="resamples"):
            found.bootstrap(0.1, RNG(0), resamples=resamples)
    for rng in (None, 0, np.random):
        with pytest.raises(InvalidInput, match="rng"):
            found.bootstrap(0.1, rng)
    for order in (None, 0.5, "n"):
        with pytest.raises(InvalidInput, match="order"):
            found.decide(order)
    for wanted in (np.nan, 0, -1.0, "a", None):
        with pytest.raises(InvalidInput, match="wanted_resolution"):
            found.decide(StochasticOrder(), wanted_resolution=wanted)
    assert found.decide(StochasticOrder(-(10**400), sharpness=EXACT)).outcome is Outcome.REJECTED  # beyond floats


def decide_a_constant(found):
    return lambda alpha: found.decide(StochasticOrder(), alpha=alpha)


def test_with_three_indices_the_order_lies_between_those_of_the_bounds():
    drawn = samples(lambda rng, count, n: rng.standard_normal((count, n, n, n)), sizes=(3, 6, 12), count=40)
    found = without_warnings(drawn, levels=(0.5,), rng=RNG(1))
    assert found.lower[0].exponent < found.upper[0].exponent - 0.1
    assert found.interval(0.01)[0] < 0.5 < 1 < found.interval(0.01)[1] + 0.2


@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        ((16, 32), {}),
        *(((16, 32, 64), {"levels": wrong}) for wrong in ((), 0.5, None, "ab", (0.5, np.nan), (1.0,), [[0.5]])),
        ((1, 2, 4), {"log_power": 1}),
        *(((2, 4, 8), {"log_power": wrong}) for wrong in (0.5, "1", 10**6, -(10**400))),
        *(((wrong, 2, 4), {}) for wrong in (1.5, True, "1", 0, -1, 10**400)),
    ],
    ids=lambda value: str(value)[:30],
)
def test_orders_of_bad_input(sizes, options):
    with pytest.raises(InvalidInput):
        estimate(samples(lambda rng, count, n: rng.random(count), sizes=sizes), **options)


@pytest.mark.parametrize("samples_by_size", [None, 1.0, [[1.0]], {}, {16: "a", 32: "b", 64: "c"}])
def test_what_is_no_sample(samples_by_size):
    with pytest.raises(InvalidInput):
        estimate(samples_by_size)
