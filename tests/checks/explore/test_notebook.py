import subprocess
import sys

import pytest

from checks import explore as package
from checks.explore.vega import MIME
from theory.errors import InvalidInput, LimesError

widgets = pytest.importorskip("ipywidgets", reason="ipywidgets is not installed")


def parts(box):
    """The sliders and texts by row, and the value, the chart and the remark."""
    title, *rows, digits, value, chart, remark = box.children
    return [row.children[0].children for row in rows], digits, value, chart, remark, title, rows


def test_a_slider_moves_the_text_the_value_and_the_curve():
    (rho, depth), _, value, chart, *_ = parts(package.explore("relu-ntk-normalised"))
    before = chart.outputs[0]["data"][MIME]["layer"][0]["data"]
    rho[0].value = "0.5"
    assert rho[1].value == "0.5"
    assert "rho = 1/2, L = 10" in value.value
    assert chart.outputs[0]["data"][MIME]["layer"][0]["data"] != before
    depth[0].value = "20"
    assert "L = 20" in value.value


def test_the_slider_follows_what_is_typed_and_leaves_it():
    (rho, _), *_ = parts(package.explore("relu-ntk"))
    rho[1].value = "sqrt(2)/2"
    assert rho[1].value == "sqrt(2)/2"
    assert rho[0].value == "0.71"


def test_what_is_no_value_is_a_sentence_in_place():
    _, _, value, _, _, _, rows = found = parts(package.explore("relu-ntk"))
    found[0][0][1].value = "__import__('os')<b>"
    assert "&lt;b&gt;" in rows[0].children[1].value
    assert "no value without rho" in value.value


def test_digits():
    _, digits, value, *_ = parts(package.explore("relu-ntk rho=1/3"))
    digits.value = 40
    assert "within" in value.value
    assert any(len(word.split("<")[0]) > 40 for word in value.value.split(">"))


def test_what_a_shared_line_says_of_the_curve():
    _, _, _, chart, *_ = parts(package.explore("relu-nngp rho=0.9 axis=rho scale=1-value"))
    assert chart.outputs[0]["data"][MIME]["encoding"]["y"]["title"] == "1 - relu-nngp"
    assert chart.outputs[0]["data"][MIME]["encoding"]["x"]["title"].startswith("rho")


def test_names_and_states_and_claims():
    assert "3.7" in parts(package.explore("relu-ntk L=10"))[2].value
    assert "Rightarrow" not in parts(package.explore("depth-rate"))[5].value
    parts(package.explore("linearisation-exponent"))[0][1][0].value = "fixed-time"
    with pytest.raises(InvalidInput, match="nearest"):
        package.explore("relu-ntc")
    with pytest.raises(LimesError, match="no formula to explore"):
        package.explore("depth-spectrum")


def test_without_ipywidgets_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    with pytest.raises(LimesError, match="pip install ipywidgets"):
        package.explore()


def test_checks_stays_quick_to_import():
    slow = {"sympy", "numpy", "marimo", "ipywidgets"}
    code = "import sys, checks, checks.explore; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not slow & set(loaded.split())


def test_an_unknown_attribute():
    with pytest.raises(AttributeError, match="it has explore"):
        package.slide  # noqa: B018
