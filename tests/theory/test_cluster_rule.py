"""The cluster rule: clusters counted from the contractions themselves."""

import pytest
from sympy import Integer, Rational

from theory.cluster_rule import Clusters, decay_exponent, operator_exponent, ring
from theory.correlations import D, d


def counted(contractions, functions):
    """The exponent for functions `0..functions − 1`, of which the pairs in `contractions` share an index."""
    cluster = list(range(functions))
    for one, other in contractions:
        cluster = [cluster[one] if x == cluster[other] else x for x in cluster]
    sizes = [cluster.count(x) for x in set(cluster)]
    odd = sum(size % 2 for size in sizes)
    return Clusters(Integer(functions), Integer(len(sizes) - odd), Integer(odd)).exponent


def star(order, first):
    """`C_{D,d}` whose derivative is the function `first`: contracted with the gradients that follow it."""
    return [(first, first + i) for i in range(1, order + 1)]


@pytest.mark.parametrize("order", range(6))
def test_exponents_are_counted(order):
    both = star(order, 0) + star(order, order + 1)
    assert counted(both, 2 * (order + 1)) / 2 == decay_exponent().subs({D: 0, d: order})
    joined = [*both, (0, order + 1)]
    assert counted(joined, 2 * (order + 1)) / 2 == decay_exponent().subs({D: 1, d: order})


@pytest.mark.parametrize("order", range(1, 5))
def test_the_spectral_norm_is_the_limit_of_traces(order):
    roots = []
    for p in (1, 2, 8):
        links = [link for copy in range(2 * p) for link in star(order, copy * (order + 1))]
        links += [(copy * (order + 1), (copy + 1) % (2 * p) * (order + 1)) for copy in range(2 * p)]
        exponent = counted(links, 2 * p * (order + 1))
        assert exponent == ring(Integer(order), Integer(p)).exponent
        roots.append(exponent / (2 * p))
    limit = decay_exponent().subs({D: 2, d: order})
    assert limit == operator_exponent().conclusion.subs(d, order) == -Rational(order + 1, 2)
    assert roots == sorted(roots, reverse=True)
    assert roots[-1] - limit == Rational(1, 16)
    assert all(step.outcome.proved for step in operator_exponent().check())
