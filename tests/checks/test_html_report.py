"""The page of a run: it needs nothing else, all that was found is in it, and text in a claim is text in the page."""

import re
import unicodedata
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sympy import Integer

from checks import Correction, Identity, Level, Source, Verdict, claim
from checks.drawing import Drawing
from checks.findings import DISCOVERIES
from checks.html_report import html_report
from checks.ledger import CHAPTERS, LEDGER
from checks.markup import element
from checks.mathml import ELEMENTS, sentence
from checks.meanings import KINDS
from checks.plot import Axis, Chart, Figure, Panel, Series
from checks.recorded import RecordedRun
from theory.errors import InvalidInput

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

    def handle_comment(self, data):
        raise AssertionError(f"a comment: {data}")

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    def all(self, attribute):
        return [attributes[attribute] for _, attributes in self.elements if attribute in attributes]

    @property
    def text(self):
        return " ".join("".join(self.words).split())


def as_read(text):
    """A sentence of a claim as it is read in the page."""
    return " ".join("".join(element("p", *sentence(text)).itertext()).split())


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
    for words in (one.title, str(one.source), *one.conditions, *one.findings, one.correction.text, "the detail"):
        assert as_read(words) in text
    assert "Verdict: corrected" in text
    assert "5 of 6survived: x -> 2 x" in text
    assert f"limes verify {one.id} --level quick --seed 5 --evidence (10 s)" in text
    assert all(as_read(part) in text for part in (*one.parts, *one.correction.parts))
    supported = unjudged([LEDGER["nngp-limit"]])
    assert "0.0046" in Reader(html_report(supported)).text


def test_every_finding_is_there_and_only_those_of_the_run(read, unjudged):
    for one in DISCOVERIES:
        assert as_read(one.so) in read.text
        assert as_read(one.said) in read.text
        assert f"limes verify {one.claim} --level quick --seed 5 --evidence" in read.text
    text = Reader(html_report(unjudged([LEDGER["depth-rate"]]))).text
    assert [one.so for one in DISCOVERIES if as_read(one.so) in text] == [
        "the distance is (3/8) log(L)/L + O(1/L), for all inputs"
    ]
    assert "None in these claims." in Reader(html_report(unjudged([LEDGER["arccos-kernels"]]))).text


def test_the_time_of_a_claim_is_the_same_wherever_it_stands(unjudged):
    run = replace(unjudged([LEDGER["depth-rate"]]), level=Level.STANDARD, seed=0)
    run = replace(run, claims=(replace(run.claims[0], seconds=1234.0),))  # not what findings.py has
    assert Reader(html_report(run)).text.count("limes verify depth-rate --evidence (20 min)") == 2


def test_kinds_of_evidence_are_explained_where_they_are_used(read, unjudged):
    against = KINDS["approach"]
    assert against in read.text
    assert against not in Reader(html_report(unjudged([LEDGER["arccos-kernels"]]))).text


def test_evidence_is_folded_unless_something_is_to_be_seen(unjudged):
    def is_open(run):
        ((_, attributes),) = [one for one in Reader(html_report(run)).elements if one[0] == "details"]
        return "open" in attributes

    claims = [LEDGER["depth-rate"]]
    assert not is_open(unjudged(claims))
    assert is_open(unjudged(claims, survived=["x"]))
    assert is_open(unjudged(claims, verdict=Verdict.SUPPORTED))
    assert "Evidence: 1 proved, 6 of 6 mutants rejected" in Reader(html_report(unjudged([one_piece()]))).text


def one_piece():
    return claim(id="own", statement="1", evidence=EVIDENCE)


def test_what_is_not_as_recorded_is_said_at_the_top_in_the_findings_and_at_the_claim(unjudged):
    text = Reader(html_report(unjudged([LEDGER["depth-rate"]], verdict=Verdict.UNDECIDED))).text
    assert "Not as recorded: depth-rate." in text
    assert "this run: undecided" in text
    assert "Verdict: undecided (recorded: corrected)" in text
    page = html_report(unjudged([one_piece()], verdict=Verdict.REFUTED))
    assert "Verdict: refuted (it should hold)" in Reader(page).text


def test_a_figure_stands_once_at_the_first_of_its_claims(page):
    assert page.count("<figure") == page.count("The caption of ") == 2
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


def foreign(text):
    """A run as a file may hold it, with this text wherever there is one."""
    piece = {"name": text, "kind": text, "part": text, "corrects": True, "verdict": "refuted", "detail": text}
    piece |= {"resolution": None, "mutants": {"tried": 1, "survived": [text]}}
    one = {"id": text, "title": text, "source": text, "statement": text, "verdict": "corrected", "expected": None}
    one |= {"hypotheses": [text], "conditions": [text], "findings": [text], "seconds": 1, "evidence": [piece]}
    one |= {"correction": {"text": text, "latex": text}}
    return {"schema": 1, "version": text, "seed": 0, "level": "quick", "claims": [one]}


KNOWN = {tag for tag, _ in Reader(html_report(RecordedRun.from_json(foreign("one")))).elements}
KNOWN |= {"math", "code", "sub", "sup", *ELEMENTS}  # what formulas are made of


@settings(max_examples=60, deadline=None, derandomize=True)
@example("\u202e]]>\u2066")  # from right to left, and an end of CDATA
@example("<!-- --><script>")
@example("&lt;script&gt;$<script>$\\text{<script>}")
@example("\ufffe\ufdd0")
@example(ATTACK)
@given(st.text(min_size=1, max_size=40))
def test_whatever_a_file_holds_is_text_or_refused_in_a_sentence(text):
    if any(unicodedata.category(one) in ("Cc", "Cs") and one not in "\n\t" for one in text):
        with pytest.raises(InvalidInput, match="without control characters or halves of characters") as refused:
            RecordedRun.from_json(foreign(text))
        assert str(refused.value).isprintable()
        return
    run = RecordedRun.from_json(foreign(text))
    page = html_report(run)
    read = Reader(page.encode("utf-8").decode("utf-8"))
    assert {tag for tag, _ in read.elements} <= KNOWN
    assert f"claim-{text}" in read.all("id")
    inside = [attributes for tag, attributes in read.elements if tag == "bdi"]
    assert len(inside) == page.count("<bdi>") >= 2  # the title, here and in the contents


def test_it_is_the_same_each_time(page, unjudged):
    assert html_report(unjudged(), DRAWINGS) == page


def test_evidence_that_was_given_no_mutants_says_so(unjudged):
    text = Reader(html_report(unjudged([LEDGER["depth-rate"]], tried=0))).text
    assert text.count("no mutants") == 1 + len(LEDGER["depth-rate"].evidence())  # in the summary, and beside each
    assert "no mutants" not in Reader(html_report(unjudged([LEDGER["depth-rate"]]))).text
