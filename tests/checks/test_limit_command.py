"""`limes limit`, as a person types it: what is shown, in 80 columns, and what is refused in a sentence."""

import json

import pytest

from checks.cli import main


@pytest.fixture
def limes(capsys):
    """Run `limes limit` in this process; gives its exit code, standard output and standard error."""

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main(["limit", *arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return stop.value.code, captured.out, captured.err

    return run


def test_a_limit_with_its_leading_term_and_its_approach(limes):
    code, out, err = limes("relu-ntk-normalised", "--let", "L=oo", "--at", "rho=3/10")
    assert (code, err) == (0, "")
    assert "relu-ntk-normalised as L -> oo\n  rho = 3/10\n" in out
    assert "1/4 + 3*log(L)/(8*L) + o(log(L)/L)" in out
    assert "proved, by lemmas" in out
    assert "0.342979795563627" in out  # L = 10
    assert "logarithm makes it drift" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ("relu-ntk-normalised", "--let", "L=oo", "--along", "rho = 1 - c/L^2", "--at", "c=2"),
        ("relu-ntk", "--let", "L=oo", "--along", "rho=1-s/L^2", "--digits", "200"),
        ("two-layer-signal-2", "--let=h=oo", "--along", "eta1=c*h^alpha", "--along", "eta2=eta1", "--at=alpha=3/2"),
        ("orthant-4", "--let", "r12=1", "--at", "r13=0", "r14=0", "r23=0", "r24=0", "r34=0"),
        ("linearisation-exponent", "--let", "alpha=0", "--at", "mode=fixed-steps"),
    ],
)
def test_it_fits_eighty_columns(limes, arguments):
    code, out, _ = limes(*arguments)
    assert code == 0
    assert max(map(len, out.splitlines())) <= 80


def test_curves_are_given_like_values_one_or_several_at_a_time(limes):
    whole = ("two-layer-signal-2", "--let", "h=oo", "--at", "c=2", "--along", "eta1=c*h", "eta2=h")
    apart = ("two-layer-signal-2", "--along=eta1=c*h", "--along", "eta2=h", "--at", "c=2", "--let", "h=oo")
    assert limes(*whole) == limes(*apart)
    assert "eta1 = c*h\n  eta2 = h\n  with c = 2" in limes(*whole)[1]


def test_the_symbols_of_a_curve_are_one_unless_said(limes):
    assert "with c = 1; --at gives other values" in limes("descent-filter", "--let", "k=oo", "--along", "x=c/k")[1]
    _, out, _ = limes("relu-ntk-normalised", "--let", "L=oo", "--along", "rho = 1 - c/L^2", "--at", "c=2")
    assert "with c = 2;" in out
    assert "where s = sqrt(2)*sqrt(c)/(3*pi)" in out


def test_what_is_checked_at_points_alone_says_so(limes):
    code, out, _ = limes("descent-filter", "--let", "k=oo", "--along", "x=c/k")
    assert code == 0
    assert "not proved: checked at points" in out


def test_an_unknown_limit_has_its_own_exit_code(limes):
    code, out, _ = limes("descent-filter", "--let", "k=oo", "--at", "x=2")
    assert code == 1
    assert "not known" in out
    assert "at k = 999999 it is 2" in out


def test_a_choice_is_shown_by_its_word(limes):
    assert "mode = fixed-time" in limes("linearisation-exponent", "--let", "alpha=0", "--at", "mode=fixed-time")[1]


def test_json(limes):
    code, out, _ = limes("relu-nngp", "--let", "rho=1", "--at", "L=2", "--json")
    data = json.loads(out)
    assert (code, data["limit"], data["known"]) == (0, "1", "proved, by lemmas whose hypotheses are checked")
    assert data["terms"] == ["-(1 - rho)"]
    assert data["latex"].startswith(r"\text{relu-nngp} = 1")
    assert data["rows"][0]["variable"] == "9/10"
    assert data["derivations"]


REFUSED = {
    "no name": (("relu-ntc", "--let", "L=oo"), "the nearest are"),
    "nothing runs": (("relu-ntk", "--at", "rho=0"), "--let is missing: say which parameter goes where, such as L=oo"),
    "two run": (("relu-ntk", "--let", "L=oo", "--let", "rho=1"), "let one go, and say how the other follows"),
    "unknown": (("relu-ntk", "--let", "M=oo"), "the parameters of relu-ntk are rho, L"),
    "missing": (("relu-ntk", "--let", "L=oo"), "rho is missing: give it a value in [-1, 1], or a curve in L"),
    "twice": (("relu-ntk", "--let", "L=oo", "--let", "L=oo", "--at", "rho=0"), "given a value before"),
    "twice, a curve": (("relu-ntk", "--let", "L=oo", "--along", "rho=1/L", "--at", "rho=0"), "give it once"),
    "no end": (("relu-ntk", "--let", "L=5", "--at", "rho=0"), "an integer does not approach a number"),
    "outside": (("relu-ntk", "--let", "rho=2", "--at", "L=1"), "outside of [-1, 1]; give -1 or 1"),
    "not a number": (("relu-ntk", "--let", "L=oo-oo", "--at", "rho=0"), "undefined here"),
    "leaves": (("relu-ntk", "--let", "L=oo", "--along", "rho = 1 + c/L"), "this curve lies outside of [-1, 1]"),
    "no integer": (("relu-ntk", "--let", "rho=1", "--along", "L=1/(1-rho)"), "L is an integer"),
    "case": (
        ("relu-ntk", "--let", "L=oo", "--along", "rho=1-c/l^2"),
        'rho = 1-c/l^2: column 5, at "l": unknown name; did you mean L?',
    ),
    "missing ones": (("two-layer-signal-2", "--let", "h=oo"), "or a curve in h; so is eta2"),
    "infinity": (("relu-ntk", "--let", "L=inf", "--at", "rho=0"), "L = inf: infinity is written oo"),
    "no number": (("relu-ntk", "--let", "L=oo", "--at", "rho=nan"), "limes: rho = nan: this is not a number; give one"),
    "nothing": (("relu-ntk", "--let", "L=oo", "--at", "rho="), "rho is missing: give a number or a formula"),
    "long": (("relu-ntk", "--let", "L=oo", "--at", "rho=1e400"), "00 (401 characters): give a number in [-1, 1]"),
    "symbol": (("relu-ntk", "--let", "L=oo", "--along", "rho=1-c/L", "c=2"), "a symbol of a curve is a number"),
    "grammar": (("relu-ntk", "--let", "L=oo", "--along", "rho=1-2c"), "a product is written"),
    "python": (("relu-ntk", "--let", "L=oo", "--along", "rho=__import__('os')"), "this character has no meaning"),
    "call": (("relu-ntk", "--let", "L=oo", "--along", "rho=system(1)"), "unknown function"),
    "infinite": (("relu-ntk", "--let", "L=oo", "--at", "rho=oo"), "infinity is not allowed here"),
    "no equals": (("relu-ntk", "--let", "L"), "write name=value in one piece, for instance L=oo"),
    "negative": (
        ("relu-ntk", "--let", "L=oo", "--along", "rho=c/L", "--at", "c=-1"),
        "symbols of a curve are positive",
    ),
    "digits": (("ridge-filter", "--let", "s=oo", "--digits", "0"), "digits = 0"),
    "no Gaussians": (("orthant-3", "--let", "r12=1", "--at", "r13=0", "r23=1/2"), "no correlations of Gaussian"),
    "no parameters": (("ridge-filter-constant", "--let", "s=oo"), "it has no parameters"),
}


@pytest.mark.parametrize(("arguments", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_can_be_mistyped_is_refused_in_a_sentence(limes, arguments, sentence):
    code, out, err = limes(*arguments)
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
