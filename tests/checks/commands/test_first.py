"""`limes first`, as a person types it: the answer on the first line, 80 columns, and refusals in a sentence."""

import json

import pytest

from checks.cli import main

DEPTH = ("relu-nngp", "L", "--above", "0.999", "--at", "rho=9/10")


@pytest.fixture
def limes(capsys):
    """Run `limes first` in this process; gives its exit code, standard output and standard error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(["first", *arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return stop.value.code, captured.out, captured.err

    return run


def test_the_depth_at_which_two_points_look_the_same(limes):
    code, out, err = limes(*DEPTH, "--seconds", "60")
    assert (code, err) == (0, "")
    first, sentence = out.split("\n", 1)
    assert first == "L = 187"
    assert " ".join(sentence.split()) == (
        "L = 187 is the first of 0, ..., 187 with a value above 0.999: 0.999008801076 (at 186: 0.998999300474). "
        "Each was evaluated."
    )


def test_below_a_negative_level_in_another_arrangement(limes):
    assert limes("relu-nngp", "rho", "--at=L=0", "--below=-1/2")[:2] == (
        0,
        "rho = -1\nrho = -1, where the range begins, has a value below -0.5 already: -1.\n",
    )
    assert limes("relu-nngp", "rho", "--at", "L=0", "--above", "-1/2")[1].startswith("rho <= -0.4999999999")


def test_the_other_parameters_may_be_words(limes):
    """The exponent is 2 alpha − 1 at a fixed number of steps, and −1 at a fixed time."""
    _, out, _ = limes("linearisation-exponent", "alpha", "--above", "-2", "--at", "mode=fixed-steps", "--digits", "3")
    assert out.startswith("alpha <= -0.4996\n")
    assert "(at -0.5: -2)" in " ".join(out.split())
    _, out, _ = limes("linearisation-exponent", "alpha", "--above", "-2", "--at", "mode=fixed-time")
    assert out.startswith("alpha = -10\n")


def test_a_level_that_is_not_reached_has_its_own_exit_code(limes):
    code, out, err = limes("relu-nngp", "L", "--above", "1", "--at", "rho=1/2", "--seconds", "0.5")
    assert (code, err) == (1, "")
    assert out.startswith("No L was found with a value above 1. Looked at: 0, ..., ")


@pytest.mark.parametrize(
    "arguments",
    [
        ("relu-nngp", "rho", "--above", "0.999", "--at", "L=10", "--digits", "200"),
        ("orthant-3", "r12", "--above", "1/4", "--at", "r13=9/10", "r23=9/10"),
        ("relu-nngp", "L", "--above", "0.9", "--at", "rho=9/10"),
    ],
)
def test_sentences_fit_eighty_columns(limes, arguments):
    code, out, _ = limes(*arguments)
    answer, *sentence = out.splitlines()
    assert code == 0
    assert answer.startswith(f"{arguments[1]} <= ")  # an earlier one is possible
    assert len(sentence) > 1
    assert max(map(len, sentence)) <= 80


def test_what_was_changed_is_said(limes):
    code, out, err = limes("relu-nngp", "L", "--above", "0.9", "--at", "rho=1+2^-52")
    assert (code, out.splitlines()[0]) == (0, "L = 0")
    assert err.startswith("limes: rho = ")
    assert "was taken as 1" in err


def test_json(limes):
    code, out, _ = limes(*DEPTH, "--json", "--digits", "5", "--seconds", "60")
    data = json.loads(out)
    assert code == 0
    assert data["sentence"].startswith("L = 187 is the first")
    assert {key: data[key] for key in data if key not in ("sentence", "looked_at", "furthest")} == {
        "schema": 1,
        "formula": "relu-nngp",
        "at": {"rho": "9/10"},
        "parameter": "L",
        "side": "above",
        "level": "999/1000",
        "first": "187",
        "value": "0.99901",
        "before": "186",
        "value_before": "0.9989993005",  # five digits, 0.99900, do not tell it from the level
        "complete": True,
    }
    _, out, _ = limes("relu-nngp", "rho", "--above", "0.999", "--at", "L=10", "--json")
    assert json.loads(out)["complete"] is False
    code, out, _ = limes("relu-nngp", "L", "--above", "1", "--at", "rho=1/2", "--seconds", "0.5", "--json")
    assert (code, json.loads(out)["first"]) == (1, None)


REFUSED = {
    "formula": (("relu-ntc", *DEPTH[1:]), "the nearest are"),
    "parameter": (("relu-nngp", "M", *DEPTH[2:]), "the parameters of relu-nngp are rho, L"),
    "no parameter": (("relu-nngp", *DEPTH[2:]), "parameter = rho=9/10: the parameters of relu-nngp are rho, L"),
    "no level": (("relu-nngp", "L", "--at", "rho=9/10"), "--above is missing: give a level"),
    "two levels": ((*DEPTH, "--below", "0.3"), "not both"),
    "level": (("relu-nngp", "L", "--above", "0.9x", "--at", "rho=9/10"), "an operator is missing"),
    "infinite": (("relu-nngp", "L", "--below", "oo", "--at", "rho=9/10"), "infinity is not allowed here"),
    "complex": (("relu-nngp", "L", "--above", "sqrt(-1)", "--at", "rho=9/10"), "not a real number"),
    "python": (("relu-nngp", "L", "--above", "__import__('os')", "--at", "rho=9/10"), "no meaning here"),
    "missing": (("relu-nngp", "L", "--above", "0.9"), "rho"),
    "outside": (("relu-nngp", "L", "--above", "0.9", "--at", "rho=2"), "rho = 2: give a number in [-1, 1]"),
    "sought": ((*DEPTH, "L=3"), "L = 3: it is what is sought; leave it out"),
    "choice": (("linearisation-exponent", "mode", "--above", "0", "--at", "alpha=0"), "a choice between"),
    "digits": ((*DEPTH, "--digits", "0"), "digits = 0: give an integer"),
    "seconds": ((*DEPTH, "--seconds", "-1"), "seconds = -1.0: give a positive number"),
    "no number": ((*DEPTH, "--seconds", "nan"), "seconds = nan: give a positive number"),
}


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_can_be_mistyped_is_refused_in_a_sentence(limes, arguments, sentence):
    code, out, err = limes(*arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
