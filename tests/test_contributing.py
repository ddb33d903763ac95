"""CONTRIBUTING: its example is a claim that holds, fails and cannot tell where it should."""

import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from checks import Standing, Verdict

TEXT = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def written() -> dict[str, Any]:
    (code,) = re.findall(r"^```python\n((?s:.*?))^```", TEXT, re.MULTILINE)
    names: dict[str, Any] = {"__name__": "damped_sine", "__file__": __file__}
    exec(compile(code, __file__, "exec"), names)
    return names


def test_the_claim_is_certified_and_its_mutant_rejected(written):
    result = written["damped_sine"].judged()
    assert result.verdict is Verdict.CERTIFIED
    assert (result.mutants_tried, result.mutants_survived) == (1, ())


# the largest value is exp(-pi/4)/sqrt(2) = 0.32239...
@pytest.mark.parametrize(
    ("bound", "standing"),
    [(Fraction(1, 2), Standing.HOLDS), (Fraction(3, 10), Standing.FAILS), (Fraction(3224, 10000), Standing.UNDECIDED)],
)
def test_it_says_only_what_the_balls_show(written, bound, standing):
    assert written["below"](bound).standing is standing
