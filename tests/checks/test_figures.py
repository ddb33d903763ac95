"""Every figure: its numbers against what they stand for, how it is drawn, and the command that draws it."""

import json
import subprocess
import sys
import xml.etree.ElementTree
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import combinations

import numpy as np
import pytest
import scipy
from matplotlib.backends.backend_agg import FigureCanvasAgg

import checks
from checks import figures
from checks.cli import main
from checks.drawing import LOOKS, Drawing
from checks.figures import FIGURES, balance, depth, layerwise
from checks.ledger import LEDGER
from checks.ledger.layerwise import PAPER_ONE_STEP, PAPER_TWO_STEPS
from checks.plot import Axis, Chart, Figure, Kind, Panel, Series
from numerics import kernels
from theory.errors import InvalidInput, LimesError
from theory.layerwise import eta1, eta2, h

# The half-width at 99.9 % times this is the one at an error of 1e-6 a point, for 40 runs and more: Student's quantiles
# are 5.9 and 3.6. All tests here together hold about 200 points against their expectations.
SURE = 1.7


@pytest.fixture(scope="module")
def drawing():
    """Draws the figure of a name, once, of fewer points and runs."""
    exponents = {2: [Fraction(9, 10), Fraction(1), Fraction(5, 4)], 3: [Fraction(1, 2), Fraction(1)]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(depth, "DEPTHS", tuple(2**k for k in range(12)))
        patch.setattr(balance, "EXPONENTS", exponents)
        patch.setattr(balance, "MATRIX_RUNS", 5000)
        patch.setattr(layerwise, "MATRIX_RUNS", 5000)
        patch.setattr(layerwise, "REDUCED_RUNS", {2: 40, 3: 5000})
        yield cache(figures.draw)


def series(drawn, panel, label, kind):
    (found,) = (one for one in drawn.chart.panels[panel].series if one.label == label and one.kind is kind)
    return found


def value(expression, width, first, second):
    return float(expression.subs({h: width, eta1: first, eta2: second}))


# --- the numbers ------------------------------------------------------------------------------------------------------


def test_every_figure_belongs_to_claims_of_the_ledger():
    for figure in FIGURES.values():
        assert figure.claims
        assert set(figure.claims) <= set(LEDGER)


def test_the_surrogate_along_a_budget_is_the_published_loss(drawing):
    for panel, (published, budget) in {0: (PAPER_ONE_STEP, 27000), 5: (PAPER_TWO_STEPS, 63000)}.items():
        curve = series(drawing("two-layer-loss"), panel, "signal-only surrogate", Kind.LINE)
        for x, y in list(zip(curve.x, curve.y, strict=True))[::16]:
            assert y == pytest.approx(value(published, 1000, x, budget - x), rel=1e-12)


@pytest.mark.parametrize("name", ["two-layer-loss", "three-layer-loss", "gaussian-initialisation"])
def test_simulated_points_lie_on_the_derived_curves(drawing, name):
    for panel in range(len(drawing(name).chart.panels)):
        for label in ("full gradient descent", "signal-only surrogate"):
            curve, points = (series(drawing(name), panel, label, kind) for kind in (Kind.LINE, Kind.POINTS))
            at_points = np.interp(points.x, curve.x, curve.y)  # the points are among those of the curve
            assert set(points.x) <= set(curve.x)
            assert (np.abs(points.y - at_points) <= SURE * np.array(points.radius)).all()


def test_the_simulation_tells_the_released_script_from_the_right_loss(drawing):
    for panel in (0, 1):
        right, points = (
            series(drawing("released-script"), panel, "derived, and simulated", kind)
            for kind in (Kind.LINE, Kind.POINTS)
        )
        script = series(drawing("released-script"), panel, "released script", Kind.LINE)
        middle = len(points.x) // 2
        assert abs(points.y[middle] - right.y[len(right.y) // 2]) <= SURE * points.radius[middle]
        assert abs(points.y[middle] - script.y[len(script.y) // 2]) > 5 * SURE * points.radius[middle]


def test_the_deep_kernel_is_that_of_the_recursion(drawing):
    curve = series(drawing("depth-rate"), 0, r"$\rho = 0$", Kind.LINE)
    slope = series(drawing("depth-rate"), 1, r"$\rho = 0$", Kind.LINE)
    for layers, excess in zip(curve.x, curve.y, strict=True):
        kernel = kernels.ntk(np.eye(2), depth=int(layers))[0, 1]
        assert excess == pytest.approx(kernel - (layers + 1) / 4, abs=1e-10)
    assert slope.y[-1] == pytest.approx(3 / 8, abs=0.02)


def test_finite_depths_approach_the_crossover(drawing):
    limit = series(drawing("depth-crossover"), 1, "limit", Kind.LINE)
    distances = []
    for layers in (10, 100, 1000):
        points = series(drawing("depth-crossover"), 1, f"$L = {layers}$", Kind.POINTS)
        distances.append(abs(points.y[points.x.index(1)] - limit.y[len(limit.y) // 2]))  # at s = 1
    assert distances[0] > 5 * distances[1] > 25 * distances[2]
    assert series(drawing("depth-crossover"), 0, "limit", Kind.LINE).y[40] == pytest.approx(15 / 32)


def test_balance_thresholds_are_those_of_the_ledger(drawing):
    expected = {
        (0, "signal-only surrogate"): {1: 22, 1.25: 33},
        (0, "full gradient descent"): {1.25: 164},
        (1, "signal-only surrogate"): {0.5: 76},
        (1, "full gradient descent"): {0.5: 26},
    }
    for (panel, label), widths in expected.items():
        found = series(drawing("balance-threshold"), panel, label, Kind.POINTS)
        assert dict(zip(found.x, found.y, strict=True)) == widths


def test_the_loss_turns_at_the_five_thirds_power(drawing):
    limit = series(drawing("rate-thresholds"), 0, "limit", Kind.LINE)
    wide = series(drawing("rate-thresholds"), 0, "$h = 10^8$", Kind.LINE)
    assert limit.x[np.argmin(limit.y)] == pytest.approx(1)
    assert min(limit.y) == pytest.approx(-3)
    assert np.abs(np.subtract(limit.y, wide.y)).max() < 0.1


def test_the_surrogate_misses_what_the_allocation_changes_at_every_width(drawing):
    """After one step, by leading orders: `c²/(c² + 4)` of it is seen at rates `c h^(3/2)`."""
    found = series(drawing("surrogate-error"), 2, "$h = 10^6$", Kind.LINE)
    rates = np.array(found.x)
    assert np.allclose(found.y, rates**2 / (rates**2 + 4), rtol=0.02)


def test_equal_rates_stop_where_an_eigenvalue_is_minus_one(drawing):
    panel = drawing("loss-over-steps").chart.panels[1]
    floor = series(drawing("loss-over-steps"), 1, "$1/(2h)$", Kind.GUIDE).y[0]
    smallest = [min(one.y) for one in panel.series if one.kind is Kind.LINE]
    assert floor == 1 / 200
    assert smallest[0] == pytest.approx(floor, rel=1e-3)
    assert max(smallest[1:]) < 1e-5


def test_certified_points_lie_on_the_float64_curves(drawing):
    """To 1e-3: with equal rates the loss gets a spike at an angle, too narrow for the nodes of the quadrature."""
    for panel in (0, 1):
        items = drawing("loss-over-steps").chart.panels[panel].series
        for curve, points in ((a, b) for a, b in combinations(items, 2) if a.label == b.label):
            shared = [(x, y) for x, y in zip(points.x, points.y, strict=True) if x <= curve.x[-1]]
            assert len(shared) >= 1
            assert all(y == pytest.approx(curve.y[int(x)], rel=1e-3) for x, y in shared)


def test_a_figure_is_a_function_of_the_seed(monkeypatch):
    monkeypatch.setattr(layerwise, "MATRIX_RUNS", 50)
    figure = FIGURES["released-script"]
    assert figure.chart(1) == figure.chart(1)
    assert figure.chart(1) != figure.chart(2)


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


def test_one_run_has_no_interval():
    with pytest.raises(InvalidInput, match="two runs"):
        Series.of_runs("alone", (0,), [[1.0]])


# --- the drawing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FIGURES)
def test_every_figure_is_whole(drawing, name):
    drawn = drawing(name)
    refuse_overlaps(drawn.canvas())
    refuse_ambiguous_looks(drawn.chart.panels)
    assert all(panel.x.label and panel.y.label for panel in drawn.chart.panels)
    data = json.loads(json.dumps(drawn.to_json(), allow_nan=False))
    assert (data["name"], len(data["panels"])) == (name, len(drawn.chart.panels))


def refuse_overlaps(canvas):
    """Nothing is cut off, and nothing is drawn over anything else."""
    renderer = FigureCanvasAgg(canvas).get_renderer()
    canvas.draw(renderer)
    title, caption = (text.get_window_extent(renderer) for text in canvas.texts)
    legend = canvas.legends[0].get_window_extent(renderer)
    boxes = [title, legend, *(axes.get_tightbbox(renderer) for axes in canvas.axes), caption]
    for box in boxes:
        assert min(box.x0, box.y0) >= -0.5
        assert box.x1 <= canvas.bbox.x1 + 0.5
        assert box.y1 <= canvas.bbox.y1 + 0.5
    for one, other in combinations(boxes, 2):
        assert not one.padded(-1).overlaps(other.padded(-1))


def refuse_ambiguous_looks(panels):
    """A label has one look in all panels, and a look one label."""
    looks = {(one.label, one.look) for panel in panels for one in panel.series if one.kind is not Kind.GUIDE}
    assert len(looks) == len({label for label, _ in looks}) == len({look for _, look in looks})
    assert max(look for _, look in looks) < len(LOOKS)


def test_overlaps_are_seen():
    long = Drawing(replace(TINY.figure, title="A title that is far too long " * 5), 0, tiny())
    with pytest.raises(AssertionError):
        refuse_overlaps(long.canvas())
    refuse_overlaps(TINY.canvas())


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
    assert data["figures"][0] == {
        "name": "depth-rate",
        "title": FIGURES["depth-rate"].title,
        "claims": list(FIGURES["depth-rate"].claims),
    }


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
        (("-o", "wave.svg"), "FIGURE = missing: name the figure"),
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
