"""The page in a real Chromium: sliders are moved by keyboard and mouse, texts are typed, and the page is read.

Nothing here is installed by the README; where it is missing, the tests are skipped and say so.
"""

import re
import shutil
import signal
import subprocess
import sys
from urllib.parse import urlencode

import pytest

pytest.importorskip("marimo", reason="marimo is not installed")
playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium is installed")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SIZES = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
PATIENCE = 60_000  # milliseconds, for a machine that is busy with other things
COMMAND = [sys.executable, "-u", "-c", "from checks.cli import main; main()", "explore", "--no-browser"]


@pytest.fixture(scope="module")
def address():
    server = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        yield next(found[0] for line in server.stdout if (found := re.search(r"http://\S+", line)))
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(timeout=60)


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as engine:
        chromium = engine.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(params=SIZES)
def page(request, browser, address):
    """The first page at a window size; whatever asks for another machine fails the test."""
    tab = browser.new_page(viewport=SIZES[request.param])
    tab.set_default_timeout(PATIENCE)
    elsewhere: list[str] = []
    tab.on("request", lambda asked: elsewhere.append(asked.url) if not is_here(asked.url) else None)
    open_page(tab, address)
    yield tab
    tab.close()
    assert elsewhere == []


def is_here(url: str) -> bool:
    return bool(re.match(r"(https?|wss?)://(localhost|127\.0\.0\.1)[:/]|data:|blob:", url))


def open_page(tab, address: str) -> None:
    for _ in range(100):  # the address is printed a little before somebody listens there
        try:
            tab.goto(address, wait_until="commit")
            break
        except playwright.Error:
            tab.wait_for_timeout(200)
    value(tab).wait_for()
    curve(tab).wait_for()


def open_link(tab, address: str, state: str) -> None:
    """The page in a state that somebody shared."""
    host, _, token = address.partition("?")
    open_page(tab, f"{host}?{urlencode({'state': state})}&{token}")


def value(tab):
    return tab.locator("output").first


def curve(tab):
    return tab.locator("svg.marks .mark-line path").first


def expect(locator):
    return playwright.expect(locator)


def path_other_than(tab, before: str) -> None:
    expect(curve(tab)).not_to_have_attribute("d", before, timeout=PATIENCE)


def test_a_person_explores(page):
    assert page.locator(".katex").count() > 0
    expect(value(page)).to_have_text("0.342979795563627")

    # a slider by keyboard: value, text and curve follow, and it keeps the focus
    before = curve(page).get_attribute("d")
    slider = page.get_by_role("slider").first
    slider.focus()
    for _ in range(20):
        page.keyboard.press("ArrowRight")
    expect(value(page)).to_have_text("0.373486502402068", timeout=PATIENCE)
    expect(page.locator(".limes-controls input[type=text]").first).to_have_value("0.5", timeout=PATIENCE)
    path_other_than(page, before)

    # the other by mouse: the orange point moves
    depth = page.get_by_role("slider").nth(1)
    box = depth.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    page.mouse.move(box["x"] + 40, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    expect(page.locator(".limes-value")).not_to_contain_text("L = 10:", timeout=PATIENCE)

    # an exact value by hand: the slider follows
    text = page.locator(".limes-controls input[type=text]").first
    text.fill("sqrt(2)/2")
    text.press("Enter")
    expect(page.locator(".limes-value")).to_contain_text("rho = sqrt(2)/2", timeout=PATIENCE)
    expect(page.get_by_role("slider").first).to_have_attribute("aria-valuenow", re.compile(r"\d+"), timeout=PATIENCE)

    # nonsense: a sentence in place, no markup, and back
    text.fill("<img src=x onerror=alert(1)>")
    text.press("Enter")
    expect(page.get_by_role("alert").first).to_contain_text("rho = <img", timeout=PATIENCE)
    assert page.locator("img[src=x]").count() == 0
    text = page.locator(".limes-controls input[type=text]").first
    text.fill("1/3")
    text.press("Enter")
    expect(page.locator(".limes-value")).to_contain_text("rho = 1/3", timeout=PATIENCE)

    # nothing sticks out of the window
    wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
    assert wide <= 0


def test_samples_and_limit(page):
    page.get_by_role("switch").first.click()
    expect(page.get_by_text("tangent kernels of ReLU networks").first).to_be_visible(timeout=PATIENCE)
    expect(page.locator("svg.marks .mark-rule line").first).to_be_attached(timeout=2 * PATIENCE)
    page.get_by_role("switch").first.click()
    page.get_by_role("button", name="find the limit").click()
    expect(page.locator(".limes-table")).to_contain_text("proved", timeout=PATIENCE)
    expect(page.locator(".limes-table td", has_text=re.compile("^0.25$"))).to_be_visible()


def test_the_depth_at_which_two_points_become_alike(page, address):
    open_link(page, address, "relu-nngp rho=0.9")
    level = page.locator(".limes-ask input[type=text]").first
    level.fill("__import__('os')")
    level.press("Enter")
    page.get_by_role("button", name="find it").click()
    expect(page.get_by_role("alert").first).to_contain_text("value = __import__", timeout=PATIENCE)
    level.fill("0.999")
    level.press("Enter")
    page.get_by_role("button", name="find it").click()
    answer = page.get_by_text("L = 187 is the first of 0, ..., 187")
    expect(answer).to_be_visible(timeout=PATIENCE)

    # another level is another question: the answer goes as it is typed, and the field keeps the focus
    level.press_sequentially("9")
    expect(answer).to_be_hidden(timeout=PATIENCE)
    expect(level).to_be_focused()
    level.press("Backspace")
    page.get_by_role("button", name="find it").click()
    expect(answer).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="set L = 187").click()
    expect(value(page)).to_have_text("0.999008801076440", timeout=PATIENCE)
    expect(page.locator(".limes-controls input[type=text]").nth(1)).to_have_value("187", timeout=PATIENCE)

    # where all is near 1, one sees it: the curve falls through the level
    page.get_by_label("values", exact=True).select_option(label="1 - value, logarithmic")
    expect(page.get_by_text("1 - relu-nngp", exact=True)).to_be_visible(timeout=PATIENCE)
    expect(page.get_by_text("level 0.999", exact=True)).to_be_visible(timeout=PATIENCE)
    page.get_by_role("button", name="share this state").click()
    expect(page.get_by_text("scale=1-value")).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize("page", ["phone"], indirect=True)
def test_no_formula_is_clipped_on_a_phone(page, address):
    open_link(page, address, "relu-nngp")
    parts = page.locator(".limes-formula > div")
    assert parts.count() == 3
    for part in parts.all():  # which stand below each other
        assert part.evaluate("part => part.scrollWidth <= part.clientWidth")
    open_link(page, address, "two-layer-full-2")
    (wide,) = page.locator(".limes-formula > div").all()
    assert wide.evaluate("part => part.scrollWidth > part.clientWidth && getComputedStyle(part).overflowX == 'auto'")
    assert wide.evaluate(
        "part => { part.scrollLeft = 9999; return part.scrollLeft + part.clientWidth == part.scrollWidth }"
    )
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("page", ["desk"], indirect=True)
def test_a_slider_moves_while_a_figure_is_drawn(page, address):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    open_link(page, address, "depth-crossover claim=depth-crossover")
    before = value(page).text_content()
    page.get_by_label("figure", exact=True).select_option(index=1)
    drawing = page.get_by_text("the figure is being drawn")
    expect(drawing).to_be_visible(timeout=PATIENCE)
    page.get_by_role("slider").first.focus()
    page.keyboard.press("ArrowRight")
    expect(value(page)).not_to_have_text(before, timeout=PATIENCE)
    assert drawing.is_visible()
    expect(page.locator("img[alt='Between few layers and many']")).to_be_visible(timeout=PATIENCE)
    expect(drawing).not_to_be_visible()


def test_a_claim_from_a_link(page, address):
    open_link(page, address, "depth-leading-error L=50 claim=depth-rate")
    expect(page.get_by_text("What holds instead")).to_be_visible(timeout=PATIENCE)
    expect(page.locator(".limes-value")).to_contain_text("L = 50", timeout=PATIENCE)
    expect(page.get_by_text("limes verify depth-rate --evidence")).to_be_visible()
