"""What the exceptions say of values that cannot be shown."""

from __future__ import annotations

import numpy as np
import pytest

from theory.errors import InvalidInput, LimesError, MissingInput, Undecidable, shortened


def nested(depth: int) -> list[object]:
    found: list[object] = []
    for _ in range(depth):
        found = [found]
    return found


def test_every_value_has_a_sentence():
    for value, shown in ((10**5000, "<int>"), (nested(10**5), "<list>"), ("a", "a"), (1.5, "1.5")):
        assert str(InvalidInput("depth", value, "give an integer")) == f"depth = {shown}: give an integer"


def test_a_long_value_is_shown_in_part():
    assert shortened("a" * 80) == "a" * 80
    assert shortened("a" * 40 + "b" * 400 + "c" * 20) == "a" * 40 + "…" + "c" * 20 + " (460 characters)"
    for made in (InvalidInput("rho", "1" * 400, "give less"), Undecidable(10**400, "it is large")):
        assert len(str(made)) < 120
        assert "401 characters" in str(made) or "400 characters" in str(made)


@pytest.mark.parametrize(
    ("value", "shown"),
    [("a\nb", "a\\nb"), ("\x1b[31m", "\\x1b[31m"), ("\x00", "\\x00"), ("ρ = 1", "ρ = 1"), ("", "''")],
)
def test_it_stays_in_one_line_and_sends_no_commands_to_the_terminal(value, shown):
    assert shortened(value) == shown


def test_arrays_are_shown_in_one_line():
    assert "\n" not in shortened(np.eye(20))


def test_what_is_missing_is_a_kind_of_invalid_input():
    with pytest.raises(InvalidInput, match=r"^let is missing: say where$") as refused:
        raise MissingInput("let", "say where")
    assert (refused.value.argument, refused.value.value, refused.value.remedy) == ("let", None, "say where")
    assert issubclass(MissingInput, LimesError)
