"""Typed text: exact values, refusals that name the place, and no text whatever that runs, hangs or crashes."""

from __future__ import annotations

import time
from fractions import Fraction

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st
from sympy import E, Expr, Integer, Rational, Symbol, acos, oo, pi, sqrt

from checks.grammar import CONSTANTS, FUNCTIONS, parse, parse_assignments, parse_curves, parse_targets
from theory.errors import InvalidInput

h, rho = Symbol("h", positive=True), Symbol("rho", real=True)
NAMES: dict[str, Expr] = {"h": h, "rho": rho, "big": Integer(10) ** 999}
SECONDS = 4.0  # twice the limit of the parser, for a busy machine


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3/10", Rational(3, 10)),
        ("0.3", Rational(3, 10)),
        (".5", Rational(1, 2)),
        ("5.", 5),
        ("1e-3", Rational(1, 1000)),
        ("2.5E+2", 250),
        ("sqrt(2)/2", sqrt(2) / 2),
        ("2*h^(3/2)", 2 * h ** Rational(3, 2)),
        ("2*h**(3/2)", 2 * h ** Rational(3, 2)),
        ("2^3^2", 512),
        ("-2^2", -4),
        ("(-2)^2", 4),
        ("2^-3", Rational(1, 8)),
        ("2*-3", -6),
        ("--3", 3),
        ("+3 - -3", 6),
        ("8/4/2", 1),
        ("1 - 2 - 3", -4),
        ("2/3*3", 2),
        ("\t1 +  1 ", 2),
        ("pi*e", pi * E),
        ("acos(rho)/pi", acos(rho) / pi),
        ("exp(log(2))", 2),
        ("abs(sqrt(2) - 3)", 3 - sqrt(2)),
        ("sin(pi/6)", Rational(1, 2)),
        ("0^0", 1),
        ("1^(1e3000)", 1),
        ("(-1)^(1e3000 + 1)", -1),
        ("sqrt(big)", 10**499 * sqrt(10)),
        ("pi^1000", pi**1000),
        ("(1 + h)^10000", (1 + h) ** 10000),
    ],
)
def test_values(text: str, value):
    assert parse(text, NAMES) == value
    assert not parse(text, NAMES).has(sympy.Float)


def test_every_function_and_constant_is_sympys_own():
    for name, function in FUNCTIONS.items():
        own = sympy.Abs if name == "abs" else getattr(sympy, name)
        assert parse(f"{name}(rho)", {"rho": h}) == own(h) == function(h)
    assert {name: parse(name, infinity=True) for name in CONSTANTS} == {"pi": pi, "e": E, "oo": oo}


def test_infinity_only_where_it_is_allowed():
    assert parse("-oo", infinity=True) == -oo
    with pytest.raises(InvalidInput, match='column 2, at "oo": infinity is not allowed here'):
        parse("-oo")
    with pytest.raises(InvalidInput, match="undefined here"):
        parse("oo - oo", infinity=True)


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        ("1 +", "at the end", "a number, a name or an opening bracket is missing"),
        ("(1", "at the end", "a closing bracket is missing"),
        ("1)", "column 2", "no bracket is open"),
        ("()", "column 2", "a number, a name or an opening bracket is missing"),
        ("2h", "column 2", r"a product is written 2\*h"),
        ("1..2", "column 3", "an operator is missing"),
        ("1 % 2", "column 3", "this character has no meaning here"),
        ("x = 3", "column 3", "this character has no meaning here"),
        ("__import__('os').system('ls')", "column 12", "this character has no meaning here"),
        ("1;2", "column 2", "this character has no meaning here"),
        ("1\n+2", "column 2", "this character has no meaning here"),
        ("１", "", "this character has no meaning here"),
        ("rh0 + 1", "", r"unknown name; did you mean rho\?"),
        ("nan", "", "this is not a number"),
        ("1 + inf", "column 5", "infinity is not allowed here"),
        ("1 + sine(1)", "column 5", "unknown function; did you mean sin or asin"),
        ("h(1)", "", "unknown function"),
        ("sin", "", r"this function needs an argument: sin\(…\)"),
        ("__class__", "", "unknown name"),
        ("lambda", "", "unknown name"),
        ("1/0", "column 2", "division by zero"),
        ("1/(h-h)", "column 2", "division by zero"),
        ("0^-1", "column 2", "undefined here"),
        ("log(0)", "", "undefined here"),
        ("tan(pi/2)", "", "undefined here"),
        ("sqrt(-1)", "", "not a real number"),
        ("1 + log(-2)", "column 5", "not a real number"),
        ("acos(2)", "", "not a real number"),
        ("(-8)^(1/3)", "column 5", "not a real number"),
        ("(" * 60 + "1" + ")" * 60, "column 51", "nested more than 50 deep"),
        ("-" * 60 + "1", "column 51", "nested more than 50 deep"),
        ("h^" * 60 + "h", "column 102", "nested more than 50 deep"),
        ("sin(1+" * 40 + "h" + ")" * 40, "column", "deep; simplify it"),
        ("1e10001", "", "a decimal exponent beyond 10000"),
        ("1e99999999999999999999999", "column 1", "a decimal exponent beyond 10000"),
        ("1e9999", "", "more than 4000 digits"),
        ("big*big*big*big*big", "column 16", "more than 4000 digits"),
        ("9^9^9^9", "column 4", "more than 4000 digits"),
        ("9**9**9", "column 2", "more than 4000 digits"),
        ("sqrt(2)^1000000000", "column 8", "more than 4000 digits"),
        ("(2*pi)^1000000000", "column 7", "more than 4000 digits"),
        ("pi^1000000000", "column 3", "more than 4000 digits"),
        ("exp(-1e9)", "", "more than 4000 digits"),
        ("acos(cos((-pi)^((1e9)*(100))))", "column 15", "more than 4000 digits"),
        ("exp(exp(5))*exp(exp(exp(exp(2))))", "column 13", "more than 4000 digits"),
        ("2^(1/1e900)", "column 2", "too large a numerator or denominator"),
        ("(52/3)^((1e9-1)/1e9)", "column 7", "too large a numerator or denominator"),
        ("(1/3)^(1e3000)", "column 6", "more than 4000 digits"),
        ("sqrt(exp(h^(1e9)))", "column 11", "a power beyond 10000 of something with symbols"),
        ("((h^9999)^9999)^9999", "column 10", "a power beyond 10000 of something with symbols"),
        ("1 + acos(sin(1e400))", "column 5", "SymPy cannot build this"),
        ("exp(log(2)*10^9)", "column 1", "more than 4000 digits"),
        ("e^(log(2)*10^9)", "column 2", "more than 4000 digits"),
        ("2^(log(3)/log(2)*10^9)", "column 2", "more than 4000 digits"),
        ("2^h*2^(10^9-h)", "column 6", "more than 4000 digits"),
        ("(2^(h+1))^(10^9)*(2^(-h))^(10^9)", "column 10", "more than 4000 digits"),
    ],
)
def test_refusals_are_quick_and_name_the_place_and_the_remedy(text: str, place: str, remedy: str):
    begin = time.perf_counter()
    with pytest.raises(InvalidInput, match=rf"(?s)^expression = .*{place}.*{remedy}") as refusal:
        parse(text, NAMES)
    assert time.perf_counter() - begin < SECONDS
    assert len(str(refusal.value)) < 500


def test_long_texts_are_refused():
    with pytest.raises(InvalidInput, match=r"\(1001 characters\): give at most 1000 characters"):
        parse("1" * 1001)
    assert parse("1" * 1000) == (10**1000 - 1) // 9
    assert parse("+".join(["1"] * 500)) == 500


@pytest.mark.parametrize("text", ["", " ", "\t"])
def test_no_text_is_missing(text):
    with pytest.raises(InvalidInput, match="expression is missing: give a number or a formula"):
        parse(text)


@pytest.mark.parametrize("text", [None, 3, b"1", ["1"]])
def test_only_text_is_parsed(text):
    with pytest.raises(InvalidInput, match="give text"):
        parse(text)


def test_names_are_expressions_and_not_reserved():
    with pytest.raises(InvalidInput, match="h = 1: give a SymPy expression"):
        parse("h", {"h": "1"})  # type: ignore[dict-item]
    with pytest.raises(InvalidInput, match="name = pi: this is the name of a function or constant"):
        parse("1", {"pi": Integer(3)})


# --- assignments


def test_assignments_use_the_names_before_them():
    assert parse_assignments(["h=100", " eta1 = 2*h^(3/2)", "s=rho"], {"rho": rho}) == {
        "h": 100,
        "eta1": 2000,
        "s": rho,
    }
    assert parse_assignments([]) == {}


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["h"], "assignment = h: write name=value"),
        (["1h=2"], "write name=value"),
        (["=2"], "write name=value"),
        ([None], "write name=value"),
        (["a=b", "b=1"], "a = b: unknown name"),
        (["rate = 2*"], r"^rate = 2\*: at the end"),
        (["rate = 2*h"], r'^rate = 2\*h: column 3, at "h": unknown name'),
        (["rate ="], "^rate is missing: give a number or a formula"),
        (["h=1", "h=2"], "h was given a value before"),
        (["pi=3"], "name = pi"),
        (["a==2"], "a = =2: this character has no meaning"),
        (["L=oo"], "infinity is not allowed"),
    ],
)
def test_bad_assignments_are_refused(texts, message):
    with pytest.raises(InvalidInput, match=message):
        parse_assignments(texts)


def test_formulas_that_grow_with_every_assignment_are_stopped():
    begin = time.perf_counter()
    with pytest.raises(InvalidInput, match=r"a formula of \d+ parts"):
        parse_assignments([f"a{i + 1}=a{i}^a{i}" for i in range(30)], {"a0": h})
    with pytest.raises(InvalidInput, match="61 deep"):
        parse_assignments([f"a{i + 1}=sin(1+a{i})" for i in range(100)], {"a0": h})
    assert time.perf_counter() - begin < 2 * SECONDS


# --- any text


def _combined(parts):
    """A text with its value, kept by the rules of arithmetic beside it."""

    def operation(pair_and_sign):
        (left, a), (right, b), sign = pair_and_sign
        if sign == "^":
            power = int(b) % 4
            return f"({left}){sign}{power}", a**power
        if sign == "/" and b == 0:
            return f"({left})-({right})", a - b
        value = {"+": a + b, "-": a - b, "*": a * b, "/": a / b if b else a}[sign]
        return f"({left}){sign}({right})", value

    return st.one_of(
        st.tuples(parts, parts, st.sampled_from("+-*/^")).map(operation),
        parts.map(lambda part: (f"-({part[0]})", -part[1])),
        st.tuples(parts, parts).map(lambda ab: (f"{ab[0][0]} + {ab[1][0]}", ab[0][1] + ab[1][1])),
    )


literals = st.one_of(
    st.integers(0, 99).map(lambda n: (str(n), Fraction(n))),
    st.tuples(st.integers(0, 99), st.integers(0, 999), st.integers(-3, 3)).map(
        lambda t: (f"{t[0]}.{t[1]:03d}e{t[2]}", Fraction(1000 * t[0] + t[1], 1000) * Fraction(10) ** t[2])
    ),
)


@settings(deadline=None)
@given(st.recursive(literals, _combined, max_leaves=12).filter(lambda part: len(part[0]) < 500))
def test_arithmetic_agrees_with_fractions(text_and_value):
    text, value = text_and_value
    assert parse(text) == Rational(value.numerator, value.denominator)


tokens = st.sampled_from(
    [
        *"0123456789+-*/^(). \t,=_;'",
        "**",
        "e",
        "pi",
        "oo",
        "h",
        "rho",
        "big",
        "1e9",
        "1e3999",
        "0.5",
        "-",
        "^-",
        "^(",
        "log(",
    ]
    + [f"{name}(" for name in FUNCTIONS]
)


def outcome(text: str) -> None:
    begin = time.perf_counter()
    try:
        value = parse(text, NAMES)
        assert isinstance(value, Expr)
        assert not value.has(sympy.nan, sympy.zoo, sympy.I, sympy.Float)
        str(value)  # can be printed
    except InvalidInput as refusal:
        str(refusal)
    assert time.perf_counter() - begin < SECONDS


@settings(max_examples=300, deadline=None)
@given(st.lists(tokens, max_size=30).map("".join))
def test_any_sequence_of_tokens_is_a_value_or_a_refusal(text: str):
    outcome(text)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=1100))
def test_any_text_is_a_value_or_a_refusal(text: str):
    outcome(text)


def _typed(parts):
    return st.one_of(
        st.tuples(st.sampled_from(list(FUNCTIONS)), parts).map(lambda fp: f"{fp[0]}({fp[1]})"),
        st.tuples(parts, st.sampled_from(["+", "-", "*", "/", "^", "**"]), parts).map(
            lambda t: f"({t[0]}){t[1]}({t[2]})"
        ),
        parts.map(lambda part: f"-{part}"),
    )


formulas = st.recursive(
    st.sampled_from(["0", "1", "2", "7/3", "1e9", "1e-9", "1e400", "pi", "e", "h", "rho", "big"]), _typed, max_leaves=7
)


@settings(max_examples=400, deadline=None)
@given(formulas)
def test_any_formula_is_a_value_or_a_refusal_in_time(text: str):
    outcome(text)


def test_targets() -> None:
    assert parse_targets(["L=oo", "q=-oo", "rho = -1/2"]) == {"L": oo, "q": -oo, "rho": Rational(-1, 2)}


@pytest.mark.parametrize("text", ["L", "L=", "=oo", "L=oo-oo", "L=h", "L=0*oo", "oo=1", "L=oo/oo", "L=1/0"])
def test_targets_that_are_refused(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_targets([text])


def test_curves_may_use_new_positive_symbols_and_each_other() -> None:
    c, alpha = Symbol("c", positive=True), Symbol("alpha", positive=True)
    found = parse_curves(["eta1 = c*h^alpha", "eta2=2*eta1 + sqrt(c)"], {"h": h})
    assert found == {"eta1": c * h**alpha, "eta2": 2 * c * h**alpha + sqrt(c)}
    assert parse_curves(["rho = cos(3*pi*s/h)"], {"h": h})["rho"].free_symbols == {h, Symbol("s", positive=True)}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rho=1-c/H^2", '^rho = 1-c/H.2: column 5, at "H": unknown name; did you mean h'),
        ("rho=2c", "a product is written"),
        ("rho=foo(h)", "unknown function"),
        ("rho=sqrt", "needs an argument"),
        ("rho=oo", "infinity is not allowed"),
        ("rho=sqrt(-c)", "not a real number"),
        ("rho=" + "c" * 1001, "give at most 1000"),
        ("rho=c$", "no meaning"),
        ("pi=c", "name of a function or constant"),
        ("rho", "write name=value"),
    ],
)
def test_curves_that_are_refused(text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        parse_curves([text], {"h": h})


def test_a_curve_is_given_once() -> None:
    with pytest.raises(InvalidInput, match="give it once"):
        parse_curves(["rho=c", "rho=d"], {"h": h})
