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


def test_a_figure_is_an_image_with_words_drawn_once():
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    waiting = figures.drawing("rate-thresholds")
    assert waiting is figures.drawing("rate-thresholds")
    code = waiting.result(timeout=300)
    assert f'alt="{FIGURES["rate-thresholds"].title}"' in code
    picture = code.split("base64,")[1].split('"')[0]
    assert b64decode(picture).startswith(b"<?xml")


def test_without_matplotlib_a_sentence(monkeypatch):
    monkeypatch.setattr(figures, "DRAW", "import sys; sys.modules['matplotlib'] = None" + figures.DRAW)
    assert "not drawn: figures need matplotlib" in figures.shown("depth-rate")


def test_a_figure_that_cannot_be_drawn_is_a_sentence(monkeypatch):
    monkeypatch.setattr(figures, "DRAW", "raise SystemExit('no <paper>')")
    assert "not drawn: no &lt;paper&gt;" in figures.shown("depth-rate")
