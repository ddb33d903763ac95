import sys
from base64 import b64decode

import pytest

from checks.explore import figures
from checks.figures import FIGURES
from checks.ledger import LEDGER


def test_each_figure_is_with_its_claims():
    for figure in FIGURES.values():
        for id in figure.claims:
            assert figure in figures.of(LEDGER[id])
    assert figures.of(LEDGER["tensor-asymptotics"]) == []


def test_a_figure_is_an_image_with_words():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    code = figures.shown("rate-thresholds")
    assert f'alt="{FIGURES["rate-thresholds"].title}"' in code
    picture = code.split("base64,")[1].split('"')[0]
    assert b64decode(picture).startswith(b"<?xml")


def test_without_matplotlib_a_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert "figures need matplotlib" in figures.shown.__wrapped__("depth-rate")
