"""What a figure is made of, how it is drawn, and the command that draws it. Each figure: `tests/checks/figures/`."""

import json
import math
import subprocess
import sys
import xml.etree.ElementTree
from dataclasses import replace

import numpy as np
import pytest
import scipy

import checks
from checks import figures
from checks.cli import main
from checks.drawing import LOOKS, Drawing
from checks.figures import FIGURES
from checks.plot import Axis, Centre, Chart, Figure, Kind, Panel, Series
from theory.errors import InvalidInput, LimesError

# --- the numbers ------------------------------------------------------------------------------------------------------


def test_the_interval_of_runs_is_students():
    runs = np.random.default_rng(3).normal(size=(40, 2))
    found = Series.of_runs("runs", (0, 1), runs)
    assert found.y == pytest.approx(runs.mean(axis=0))
    for column, mean, radius in zip(runs.T, found.y, found.radius, strict=True):
        low, high = scipy.stats.ttest_1samp(column, 0).confidence_interval(0.999)
        assert (mean - radius, mean + radius) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("x", "y", "radius", "argument"),
    [
        ((0, 1), (0, float("nan")), None, "y"),
        ((0, 1), (0,), None, "y"),
        ((0, float("inf")), (0, 1), None, "x"),
        ((0, 1), (0, 1), (1,), "radius"),
    ],
)
def test_a_series_is_finite_and_complete(x, y, radius, argument):
    with pytest.raises(InvalidInput, match="finite numbers") as refused:
        Series("broken", x, y, radius=radius)
    assert refused.value.argument == argument


def test_few_runs_have_no_interval():
    with pytest.raises(InvalidInput, match="two runs"):
        Series.of_runs("alone", (0,), [[1.0]])
    with pytest.raises(InvalidInput, match="11 runs"):
        Series.of_samples("few", (0,), [range(10)], centre=Centre.MEDIAN)


@pytest.mark.parametrize("count", [11, 12, 50, 101, 1000])
def test_the_interval_of_a_median_is_the_shortest_between_order_statistics_that_is_sure_enough(count):
    """It misses the median if fewer than `rank` of the sample lie on one side, each with probability one half."""
    found = Series.of_samples("a ruler", (0,), [np.random.default_rng(0).permutation(count)], centre=Centre.MEDIAN)
    rank = (count - 1) / 2 - found.radius[0] + 1  # as the sample is symmetric
    assert found.y == ((count - 1) / 2,)
    assert rank == round(rank)
    misses = [2 * sum(math.comb(count, k) for k in range(round(r))) / 2**count for r in (rank, rank + 1)]
    assert misses[0] <= 0.001 < misses[1]


def test_the_interval_of_a_skewed_sample_has_its_longer_side():
    sample = np.arange(101.0) ** 3
    found = Series.of_samples("skewed", (0,), [sample], centre=Centre.MEDIAN)
    assert (found.y, found.radius) == ((50.0**3,), (67.0**3 - 50.0**3,))


def test_samples_of_different_sizes_have_intervals_of_their_own():
    samples = [[1.0, 2.0, 4.0], [5.0, 5.0]]
    together, first = Series.of_samples("both", (0, 1), samples), Series.of_samples("one", (0,), samples[:1])
    assert (together.y[:1], together.radius[:1]) == (first.y, first.radius)
    assert (together.y[1], together.radius[1]) == (5, 0)


# --- the drawing ------------------------------------------------------------------------------------------------------


def test_looks_differ_without_their_colours():
    assert len({dashes for _, dashes, _ in LOOKS}) == len({mark for _, _, mark in LOOKS}) == len(LOOKS)


def tiny(seed=0):
    wave = Series("wave", (0, 1, 2), (seed, 1, 0))
    dots = Series("wave", (0, 1, 2), (0, 1, 0), Kind.POINTS, radius=(0.1, 0.2, 0.3))
    panel = Panel(Axis("time / s"), Axis(r"$\eta_1$"), (wave, dots), "a panel")
    return Chart((panel,), 1, f"The seed is {seed}.")


TINY = Drawing(Figure("tiny", "A tiny figure", ("depth-rate",), tiny), 0, tiny())


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_the_bytes_are_the_same_each_time_whatever_a_person_has_set(suffix, start):
    import matplotlib

    first = TINY.render(suffix)
    with matplotlib.rc_context({"font.size": 30, "svg.fonttype": "none", "axes.facecolor": "red"}):
        before = dict(matplotlib.rcParams)
        second = TINY.render(suffix)
        assert dict(matplotlib.rcParams) == before
    assert first.startswith(start)
    assert first == second


def test_an_svg_is_well_formed_and_needs_no_fonts():
    tree = xml.etree.ElementTree.fromstring(TINY.render())
    assert tree.tag.endswith("svg")
    assert not any(element.tag.endswith("}text") for element in tree.iter())


def test_only_the_ticks_asked_for_are_written():
    panel = replace(tiny().panels[0], x=Axis("width", logarithmic=True, ticks=(1, 2)))
    (axes,) = Drawing(TINY.figure, 0, Chart((panel,), 1, "")).canvas().axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2"]
    assert list(axes.get_xticks(minor=True)) == []


def test_a_notebook_shows_a_drawing():
    assert TINY._repr_svg_() == TINY.render(".svg").decode()


def test_drawing_leaves_pyplot_alone():
    code = (
        "import sys; from checks.drawing import Drawing; from checks.plot import Axis, Chart, Figure, Panel, Series; "
        "chart = Chart((Panel(Axis('x'), Axis('y'), (Series('one', (0, 1), (0, 1)),)),), 1, 'caption'); "
        "Drawing(Figure('tiny', 'A title', (), lambda seed: chart), 0, chart).render('.png'); "
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=checks.__path__[0] + "/..")


def test_figures_are_listed_without_matplotlib_or_sympy():
    code = "import sys; import checks.figures; assert not {'matplotlib', 'sympy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=checks.__path__[0] + "/..")


# --- the command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def limes(capsys, monkeypatch, tmp_path):
    """Run `limes` in this process, in an empty folder, with a tiny figure only; gives exit code, output and errors."""
    monkeypatch.setattr(figures, "FIGURES", {"tiny": TINY.figure})
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        with pytest.raises(SystemExit) as stop:
            main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return stop.value.code, captured.out, captured.err

    return run


def test_figures_are_listed_a_line_each(limes, monkeypatch):
    monkeypatch.setattr(figures, "FIGURES", FIGURES)
    code, out, err = limes("plot")
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == list(FIGURES)
    assert limes("plot", "--list") == (code, out, err)
    data = json.loads(limes("plot", "--list", "--json")[1])
    assert {
        "name": "depth-rate",
        "title": FIGURES["depth-rate"].title,
        "claims": list(FIGURES["depth-rate"].claims),
    } in data["figures"]


@pytest.mark.parametrize("file", ["wave.svg", "wave.PNG", "wave.pdf"])
def test_a_figure_is_written(limes, tmp_path, file):
    assert limes("plot", "tiny", "-o", file) == (0, f"{file}\n", "")
    assert (tmp_path / file).read_bytes() == TINY.render("." + file.split(".")[1].lower())


def test_without_a_file_it_has_the_name_of_the_figure(limes, tmp_path):
    assert limes("plot", "tiny")[:2] == (0, "tiny.svg\n")
    assert (tmp_path / "tiny.svg").exists()


def test_the_numbers_behind_a_figure(limes, tmp_path):
    code, out, err = limes("plot", "tiny", "--seed", 5, "--json")
    assert (code, err, list(tmp_path.iterdir())) == (0, "", [])
    data = json.loads(out)
    assert {"schema", "name", "title", "claims", "seed", "caption", "panels"} == set(data)
    assert data["caption"] == "The seed is 5."
    wave, dots = data["panels"][0]["series"]
    assert wave == {"label": "wave", "kind": "line", "x": [0, 1, 2], "y": [5, 1, 0]}
    assert (dots["kind"], dots["radius"], dots["confidence"]) == ("points", [0.1, 0.2, 0.3], 0.999)


def test_the_numbers_and_the_figure_at_once(limes, tmp_path):
    code, out, _ = limes("plot", "tiny", "--json", "--output", "both.svg")
    assert code == 0
    assert json.loads(out)["name"] == "tiny"
    assert (tmp_path / "both.svg").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tinny",), "figure = tinny: no figure has this name; the nearest are tiny"),
        (("tiny", "-o", "wave.gif"), "output = wave.gif: give a file that ends in .svg, .png or .pdf"),
        (("tiny", "-o", "wave"), "output = wave: give a file"),
        (("tiny", "-o", "-"), "output = -: give a file"),
        (("tiny", "-o", "/nowhere/wave.svg"), "--output = /nowhere/wave.svg: give a file that can be written (No such"),
        (("tiny", "-o", "folder.svg"), "give a file that can be written (Is a directory)"),
        (("-o", "wave.svg"), "FIGURE is missing: name the figure"),
        (("tiny", "--seed", "-1"), "--seed"),
    ],
)
def test_bad_usage_is_said_in_a_sentence(limes, tmp_path, arguments, words):
    (tmp_path / "folder.svg").mkdir()
    code, out, err = limes("plot", *arguments)
    assert (code, out) == (2, "")
    assert words in err
    assert [path.name for path in tmp_path.iterdir()] == ["folder.svg"]


def test_without_matplotlib_the_remedy_is_said_and_the_numbers_are_given(limes, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    code, out, err = limes("plot", "tiny")
    assert (code, out, list(tmp_path.iterdir())) == (1, "", [])
    assert "pip install '.[explore]'" in err
    assert limes("plot", "tiny", "--json")[0] == 0
    with pytest.raises(LimesError, match="matplotlib, which is not installed"):
        figures.draw("tiny")


def test_the_help_has_an_example_of_a_figure_that_exists(limes):
    code, out, _ = limes("plot", "--help")
    assert code == 0
    assert all(len(line) <= 80 for line in out.splitlines())
    example = out.split("Example: limes ")[1].split()
    assert example[0] == "plot"
    assert example[1] in FIGURES
