"""The methods as objects: what they accept, and the minibatches they draw."""

import math

import numpy as np
import pytest

from numerics.optimisers import SGD, GradientDescent, GradientFlow, as_recorded
from theory.errors import InvalidInput


def test_an_epoch_sees_each_point_once():
    method = SGD.shuffled(np.random.default_rng(0), points=12, size=3, steps=8, learning_rate=0.1)
    assert method.steps == 8
    for epoch in (method.minibatches[:4], method.minibatches[4:]):
        assert sorted(point for minibatch in epoch for point in minibatch) == list(range(12))
    assert method.minibatches[:4] != method.minibatches[4:]


def test_what_is_left_of_an_epoch_is_dropped():
    method = SGD.shuffled(np.random.default_rng(0), points=5, size=2, steps=7, learning_rate=0.1)
    assert {len(minibatch) for minibatch in method.minibatches} == {2}
    assert len(set(method.minibatches[0]) & set(method.minibatches[1])) == 0


def test_the_order_comes_from_the_generator():
    orders = [
        SGD.shuffled(np.random.default_rng(seed), points=9, size=2, steps=20, learning_rate=0.1) for seed in (1, 1, 2)
    ]
    assert orders[0] == orders[1] != orders[2]


@pytest.mark.parametrize(
    ("make", "argument"),
    [
        (lambda: GradientDescent(0.0, 3), "learning_rate"),
        (lambda: GradientDescent(-1.0, 3), "learning_rate"),
        (lambda: GradientDescent(math.nan, 3), "learning_rate"),
        (lambda: GradientDescent("1", 3), "learning_rate"),
        (lambda: GradientDescent(True, 3), "learning_rate"),
        (lambda: GradientDescent(1.0, -1), "steps"),
        (lambda: GradientDescent(1.0, 2.0), "steps"),
        (lambda: SGD(math.inf, ((0,),)), "learning_rate"),
        (lambda: SGD(0.1, ((0,), ())), "minibatches"),
        (lambda: GradientFlow(-1.0), "time"),
        (lambda: GradientFlow(math.inf), "time"),
        (lambda: GradientFlow(1.0, rtol=0.0), "rtol"),
        (lambda: GradientFlow(1.0, atol=math.nan), "atol"),
        (lambda: SGD.shuffled(np.random.default_rng(0), points=3, size=4, steps=1, learning_rate=0.1), "size"),
        (lambda: SGD.shuffled(np.random.default_rng(0), points=3, size=0, steps=1, learning_rate=0.1), "size"),
    ],
)
def test_methods_refuse(make, argument):
    with pytest.raises(InvalidInput) as refusal:
        make()
    assert refusal.value.argument == argument


def test_the_default_is_the_first_and_the_last():
    assert as_recorded(None, GradientDescent(0.1, 7)).tolist() == [0, 7]
    assert as_recorded(None, GradientFlow(0.0)).tolist() == [0]


@pytest.mark.parametrize(
    ("at", "method"),
    [
        ([0, 8], GradientDescent(0.1, 7)),
        ([0.0, 1.0], GradientDescent(0.1, 7)),
        ([2, 1], GradientDescent(0.1, 7)),
        ([1, 1], GradientDescent(0.1, 7)),
        ([-1], GradientDescent(0.1, 7)),
        ([], GradientDescent(0.1, 7)),
        (3, GradientDescent(0.1, 7)),
        ([0.0, math.nan], GradientFlow(1.0)),
        ([0.0, 1.5], GradientFlow(1.0)),
        (["0"], GradientFlow(1.0)),
    ],
)
def test_records_refuse(at, method):
    with pytest.raises(InvalidInput, match="at = "):
        as_recorded(at, method)


@pytest.mark.parametrize("minibatches", [((0.5,),), ((True,),), (1.0,), None, ((),), "ab", ([0],)])
def test_minibatches_are_tuples_of_indices(minibatches):
    with pytest.raises(InvalidInput, match="minibatches"):
        SGD(0.1, minibatches)


@pytest.mark.parametrize("value", [10**400, np.eye(2), "1"])
def test_a_rate_or_time_is_a_number_that_fits_into_a_float(value):
    with pytest.raises(InvalidInput, match="learning_rate"):
        GradientDescent(value, 1)
    with pytest.raises(InvalidInput, match="time"):
        GradientFlow(value)
