"""The page of a run: it needs nothing else, all that was found is in it, and text in a claim is text in the page."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from sympy import Integer

from checks import Correction, Identity, Source, Verdict, claim
from checks.drawing import Drawing
from checks.findings import DISCOVERIES
from checks.html_report import html_report
from checks.ledger import CHAPTERS, LEDGER
from checks.plot import Axis, Chart, Figure, Panel, Series
from checks.recorded import RecordedRun

VOID = {"meta"}
ATTACK = "</style></title><script>alert(1)</script><img src=x onerror=alert(2)>\"'&amp; $x^2$ $\\href{javascript:3}{y}$"
EVIDENCE = [Identity(name=ATTACK, derivation=Integer(1), claimed=1)]
ATTACKED = claim(
    id="attacked",
    title=ATTACK,
    source=Source("k", ATTACK, "<b>", ATTACK),
    statement=ATTACK,
    hypotheses=(ATTACK,),
    conditions=(ATTACK,),
    findings=(ATTACK,),
    parts={ATTACK: EVIDENCE},
    correction=Correction(text=ATTACK, latex=ATTACK, parts={ATTACK: EVIDENCE}),
)


class Reader(HTMLParser):
    """The elements of a page with their attributes, its text, and whether all that is opened is closed."""

    def __init__(self, page):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    def all(self, attribute):
        return [attributes[attribute] for _, attributes in self.elements if attribute in attributes]

    @property
    def text(self):
        return " ".join("".join(self.words).split())


def drawing(name, *claims):
    chart = Chart((Panel(Axis("x"), Axis("y"), (Series("a", (1, 2), (1, 2)),)),), 1, f"The caption of {name}.")
    figure = Figure(name, f"The title of {name}", claims, lambda seed: chart)
    return Drawing(figure, 0, chart)


DRAWINGS = [drawing("rate", "depth-rate", "depth-limit"), drawing("crossover", "depth-crossover"), drawing("none", "x")]


@pytest.fixture(scope="module")
def page(unjudged):
    return html_report(unjudged(), DRAWINGS)


@pytest.fixture(scope="module")
def read(page):
    return Reader(page)


def test_it_needs_nothing_and_runs_nothing(page, read):
    tags = {tag for tag, _ in read.elements}
    assert tags.isdisjoint({"script", "link", "img", "iframe", "object", "embed", "form", "base", "audio", "video"})
    assert not [
        name for _, attributes in read.elements for name in attributes if name.startswith("on") or name == "src"
    ]
    assert all(target.startswith("#") for target in read.all("href"))
    assert "@import" not in page
    assert "@font-face" not in page
    assert set(re.findall(r"url\(([^)]*)\)", page)) == {
        f"#{name}" for name in re.findall(r'clipPath id="([^"]*)"', page)
    }
    assert "default-src 'none'; style-src 'unsafe-inline'" in read.all("content")


def test_ids_are_unique_and_every_link_leads_somewhere(read):
    ids = read.all("id")
    assert len(set(ids)) == len(ids)
    assert {target[1:] for target in read.all("href")} <= set(ids)
    for attribute in ("aria-labelledby", "aria-describedby"):
        assert set(read.all(attribute)) <= set(ids)


def test_findings_come_first_then_all_claims_by_chapter(page, read):
    places = [page.index(f'id="{id}"') for id in ("findings", "contents", "reading", "chapter-1")]
    places += [page.index(f'id="claim-{one.id}"') for claims in CHAPTERS.values() for one in claims]
    assert places == sorted(places)
    headings = [int(tag[1]) for tag, _ in read.elements if re.fullmatch("h[1-6]", tag)]
    assert headings.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(headings))


def test_all_that_is_known_of_a_claim_is_there(unjudged):
    one = LEDGER["depth-spectrum"]
    text = Reader(html_report(unjudged([one], survived=["x -> 2 x"], detail="the detail"))).text
    for sentence in (one.title, str(one.source), *one.conditions, *one.findings, one.correction.text, "the detail"):
        assert sentence.replace(">=", "≥").replace("<=", "≤").replace("->", "→") in text
    assert "Verdict: corrected" in text
    assert "5 of 6survived: x -> 2 x" in text
    assert f"limes verify {one.id} --level quick --seed 5 --evidence (10 s)" in text
    assert all(part in text for part in (*one.parts, *one.correction.parts))
    supported = unjudged([LEDGER["nngp-limit"]])
    assert "0.0046" in Reader(html_report(supported)).text


def test_every_finding_is_there_and_only_those_of_the_run(read, unjudged):
    assert all(one.so in read.text and one.said in read.text and one.command in read.text for one in DISCOVERIES)
    text = Reader(html_report(unjudged([LEDGER["depth-rate"]]))).text
    assert [one.so for one in DISCOVERIES if one.so in text] == [
        "the distance is (3/8) log(L)/L + O(1/L), for all inputs"
    ]
    assert "None in these claims." in Reader(html_report(unjudged([LEDGER["arccos-kernels"]]))).text


def test_what_is_not_as_recorded_is_said_at_the_top_in_the_findings_and_at_the_claim(unjudged):
    text = Reader(html_report(unjudged([LEDGER["depth-rate"]], verdict=Verdict.UNDECIDED))).text
    assert "Not as recorded: depth-rate." in text
    assert "this run: undecided" in text
    assert "Verdict: undecided (recorded: corrected)" in text
    own = claim(id="own", statement="1", evidence=EVIDENCE)
    assert "Verdict: refuted (it should hold)" in Reader(html_report(unjudged([own], verdict=Verdict.REFUTED))).text


def test_a_figure_stands_once_at_the_first_of_its_claims(page):
    assert page.count("<svg") == 2
    at = page.index("The title of rate")
    assert page.index('id="claim-depth-limit"') < at < page.index('id="claim-depth-rate"')


def test_a_remark_and_an_empty_run_are_shown(unjudged):
    assert "no plots" in Reader(html_report(unjudged([]), remark="no plots: <why>")).text
    assert "0 claims: none." in Reader(html_report(unjudged([]))).text


def test_text_in_a_claim_is_text_in_the_page(unjudged):
    run = unjudged([ATTACKED], verdict=Verdict.CORRECTED, survived=[ATTACK], detail=ATTACK)
    read = Reader(html_report(run, [drawing("figure", "attacked")], remark=ATTACK))
    assert {tag for tag, _ in read.elements}.isdisjoint({"script", "img", "b"})
    assert not [name for _, attributes in read.elements for name in attributes if name.startswith("on")]
    assert all(target.startswith("#") for target in read.all("href"))
    assert "".join(read.words).count("<script>alert(1)</script>") >= 10


def test_an_id_from_elsewhere_is_text_too(unjudged):
    data = {"schema": 1, "version": ATTACK, "seed": 0, "level": "quick", "claims": []}
    one = {"id": ATTACK, "title": "t", "source": "s", "statement": "x", "verdict": "proved", "expected": None}
    one |= {"hypotheses": [], "conditions": [], "findings": [], "correction": None, "evidence": [], "seconds": 1}
    read = Reader(html_report(RecordedRun.from_json(data | {"claims": [one]})))
    assert "script" not in {tag for tag, _ in read.elements}
    assert f"claim-{ATTACK}" in read.all("id")


def test_it_is_the_same_each_time(page, unjudged):
    assert html_report(unjudged(), DRAWINGS) == page
