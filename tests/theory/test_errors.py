"""What the exceptions say of values that cannot be shown."""

from __future__ import annotations

from theory.errors import InvalidInput


def nested(depth: int) -> list[object]:
    found: list[object] = []
    for _ in range(depth):
        found = [found]
    return found


def test_every_value_has_a_sentence():
    for value, shown in ((10**5000, "<int>"), (nested(10**5), "<list>"), ("a", "a"), (1.5, "1.5")):
        assert str(InvalidInput("depth", value, "give an integer")) == f"depth = {shown}: give an integer"
