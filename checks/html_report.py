"""A run as one page of HTML: no network, no script, no font of its own; the same bytes for the same run and drawings.

The findings come first, then the claims by chapter. Nothing is put together as text, so that nothing in a claim can be
taken for HTML: `checks/markup.py` writes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from xml.etree.ElementTree import Element

from .chapters import by_chapter
from .drawing import Drawing
from .findings import Discovery, Kind, by_kind
from .html_style import STYLE
from .inline_svg import inline_figure
from .markup import Child, element, write
from .mathml import displayed, sentence
from .meanings import KINDS, VERDICTS
from .recorded import RecordedAudit, RecordedClaim, RecordedEvidence, RecordedRun
from .report import coarse_time
from .verdicts import Level, Verdict

NOTHING_ELSE = "default-src 'none'; style-src 'unsafe-inline'"  # what a browser may load for this page


def html_report(
    run: RecordedRun, drawings: Sequence[Drawing] = (), *, remark: str = "", audit: RecordedAudit | None = None
) -> str:
    """The page; `drawings` stand at the first claim they belong to, `remark` at the top, such as why there are none."""
    chapters = by_chapter(run)
    figures = _figures(drawings, [one.id for claims in chapters.values() for one in claims])
    body = element("body", _header(run, remark), _findings(run), _contents(chapters), _reading(run), _audit(audit))
    for number, (title, claims) in enumerate(chapters.items(), start=1):
        sections = [_claim(one, run, figures.get(one.id, ())) for one in claims]
        body.append(element("section", element("h2", title, id=f"chapter-{number}"), *sections))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=NOTHING_ELSE),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", "limes report"),
        element("style", STYLE),
    )
    return "<!DOCTYPE html>\n" + write(element("html", head, body, lang="en")) + "\n"


def _figures(drawings: Iterable[Drawing], ids: Sequence[str]) -> dict[str, list[Element]]:
    """Each drawing at the first claim of the run that it belongs to."""
    found: dict[str, list[Element]] = {}
    letters: set[str] = set()
    for drawing in drawings:
        at = [id for id in ids if id in drawing.figure.claims]
        if at:
            found.setdefault(at[0], []).append(inline_figure(drawing, letters))
    return found


def _header(run: RecordedRun, remark: str) -> Element:
    made = f"Level {run.level.value}, seed {run.seed}, limes {run.version}."
    unexpected = [one for one in run.claims if not one.as_expected]
    return element(
        "header",
        element("h1", "What is so in the theory of wide and deep networks"),
        element("p", f"{run.summary()} {made}"),
        element("p", "Not as recorded: ", *_links(unexpected), ".", class_="warning") if unexpected else None,
        element("p", remark, class_="faint") if remark else None,
    )


def _links(claims: Sequence[RecordedClaim]) -> list[Child]:
    found: list[Child] = []
    for one in claims:
        found += [", " if found else None, _link(one)]
    return found


def _link(claim: RecordedClaim) -> Element:
    return element("a", claim.id, href=f"#claim-{claim.id}")


def _contents(chapters: dict[str, list[RecordedClaim]]) -> Element:
    items = [element("li", element("a", "Findings", href="#findings"))]
    items += [element("li", element("a", "How to read this", href="#reading"))]
    for number, (title, claims) in enumerate(chapters.items(), start=1):
        inside = [
            element("li", element("a", element("bdi", one.title), href=f"#claim-{one.id}"), " ", _verdict(one.verdict))
            for one in claims
        ]
        items.append(element("li", element("a", title, href=f"#chapter-{number}"), element("ul", *inside)))
    return element("nav", element("h2", "Contents", id="contents"), element("ul", *items), aria_labelledby="contents")


def _findings(run: RecordedRun) -> Element | None:
    """The tables of what was found, of the claims in this run."""
    claims = {one.id: one for one in run.claims}
    tables = []
    for kind, found in by_kind().items():
        rows = [_finding(one, claims[one.claim], run) for one in found if one.claim in claims]
        if rows:
            said = () if kind is Kind.UNSAID else ("what the source says",)
            table = _table(kind.value, ("claim", *said, "what is so", "shown by"), rows)
            table.set("class", "findings")
            tables.append(table)
    if not tables:
        return element("section", element("h2", "Findings", id="findings"), element("p", "None in these claims."))
    return element("section", element("h2", "Findings", id="findings"), *tables)


def _finding(one: Discovery, claim: RecordedClaim, run: RecordedRun) -> Element:
    doubt = None if claim.as_expected else element("div", f"this run: {claim.verdict.value}", class_="warning")
    source = element("div", one.source, class_="faint")
    return element(
        "tr",
        element("th", _link(claim), doubt, scope="row"),
        None if one.kind is Kind.UNSAID else element("td", *sentence(one.said), source, data_label="the source says"),
        element("td", *sentence(one.so), data_label="what is so"),
        element("td", *_again(claim, run), data_label="shown by"),
    )


def _again(claim: RecordedClaim, run: RecordedRun) -> list[Child]:
    """The command that judges this claim as in this run, and how long that took."""
    level = "" if run.level is Level.STANDARD else f"--level {run.level.value} "
    seed = f"--seed {run.seed} " if run.seed else ""
    took = element("span", f"({coarse_time(claim.seconds)})", class_="nowrap")
    return [_command(f"limes verify {claim.id} {level}{seed}--evidence"), " ", took]


def _command(line: str) -> Element:
    """A command, broken between its words only."""
    words: list[Child] = []
    for word in line.split():
        words += [" " if words else None, element("span", word, class_="nowrap")]
    return element("code", *words)


def _table(caption: str, columns: Iterable[str], rows: Iterable[Element]) -> Element:
    heads = [element("th", name, scope="col") for name in columns]
    head = element("thead", element("tr", *heads))
    title = element("caption", caption) if caption else None
    return element("table", title, head, element("tbody", *rows))


def _reading(run: RecordedRun) -> Element:
    verdicts: list[Child] = []
    for verdict, meaning in VERDICTS.items():
        verdicts += [element("dt", _verdict(verdict)), element("dd", meaning)]
    used = {item.kind for one in run.claims for item in one.evidence}
    kinds: list[Child] = []
    for kind, against in KINDS.items():
        kinds += [element("dt", kind), element("dd", against)] if kind in used else []
    return element(
        "section",
        element("h2", "How to read this", id="reading"),
        element("dl", *verdicts),
        element(
            "p",
            "The weakest part of a statement decides. Each piece of evidence was also given mutants, wrong versions of "
            "the statement, which it must reject; those that it did not are named. The resolution is the smallest "
            "relative error of the statement that the evidence would have caught; exact evidence catches any and gives "
            "none. Times are those of this run, all its processes together.",
        ),
        element("p", "Each kind of evidence holds one thing against another:") if kinds else None,
        element("dl", *kinds) if kinds else None,
    )


def _audit(audit: RecordedAudit | None) -> Element | None:
    """Whether the checks can be trusted, if that was audited."""
    if audit is None:
        return None
    items: list[Child] = []
    for check in audit.checks:
        failed = None if check.passed else element("strong", "FAILED: ", class_="warning")
        items += [element("dt", check.name), element("dd", failed, check.sentence)]
    made = f"limes audit, level {audit.level.value}, seed {audit.seed}, limes {audit.version}."
    heading = element("h2", "Can the checks be trusted?", id="audit")
    return element("section", heading, element("dl", *items), element("p", made, class_="faint"))


def _verdict(verdict: Verdict) -> Element:
    return element("span", verdict.value, class_=f"verdict {verdict.value}")


def _claim(one: RecordedClaim, run: RecordedRun, figures: Iterable[Element]) -> Element:
    return element(
        "section",
        element("h3", element("bdi", one.title), " ", element("code", one.id, class_="id"), id=f"claim-{one.id}"),
        element("p", one.source, class_="faint"),
        displayed(one.statement),
        element("p", "Verdict: ", _verdict(one.verdict), *_unexpected(one)),
        _correction(one),
        *_sentences("Hypotheses", one.hypotheses),
        *_sentences("Conditions that it needs besides", one.conditions),
        *_sentences("Findings", one.findings),
        *figures,
        _evidence(one),
        element("p", "Again: ", *_again(one, run), class_="faint"),
        class_="claim",
        aria_labelledby=f"claim-{one.id}",
    )


def _unexpected(one: RecordedClaim) -> list[Child]:
    if one.as_expected:
        return []
    recorded = f"recorded: {one.expected.value}" if one.expected else "it should hold"
    return [" ", element("span", f"({recorded})", class_="warning")]


def _correction(one: RecordedClaim) -> Element | None:
    if one.correction is None:
        return None
    words = element("p", element("strong", "Correction: "), *sentence(one.correction.text))
    return element("div", words, displayed(one.correction.latex), class_="correction")


def _sentences(heading: str, sentences: Sequence[str]) -> list[Child]:
    if not sentences:
        return []
    return [element("h4", heading), element("ul", *(element("li", *sentence(text)) for text in sentences))]


def _evidence(one: RecordedClaim) -> Element:
    """A row for each piece of evidence, under the part of the statement that it is about; folded if all is well."""
    rows = []
    for (corrects, part), items in groupby(one.evidence, key=lambda item: (item.corrects, item.part)):
        heading = ", ".join(words for words in ("the correction" if corrects else "", part) if words)
        if heading:
            rows.append(element("tr", element("th", *sentence(heading), colspan="4", scope="colgroup"), class_="part"))
        rows += [_piece(item) for item in items]
    table = _table("", ("verdict", "what it found", "resolution", "mutants rejected"), rows)
    made = element("details", element("summary", f"Evidence: {_tally(one.evidence)}"), table)
    if not one.as_expected or any(item.mutants.survived for item in one.evidence):
        made.set("open", "")
    return made


def _tally(evidence: Sequence[RecordedEvidence]) -> str:
    """The pieces by verdict, and the mutants of all, in a line.

    >>> _tally([])
    'none'
    """
    counts = Counter(item.verdict for item in evidence)
    words = [f"{counts[verdict]} {verdict.value}" for verdict in Verdict if counts[verdict]]
    if tried := sum(item.mutants.tried for item in evidence):
        words.append(f"{sum(item.mutants.killed for item in evidence)} of {tried} mutants rejected")
    elif any(item.verdict.holds for item in evidence):
        words.append("no mutants")
    return ", ".join(words) or "none"


def _piece(item: RecordedEvidence) -> Element:
    named = f"{item.kind}: {item.name}" if item.name not in ("", item.part, item.kind) else item.kind
    tally = item.mutants
    rejected = f"{tally.killed} of {tally.tried}" if tally.tried else "no mutants" if item.verdict.holds else None
    survived = [element("div", f"survived: {text}", class_="warning") for text in tally.survived]
    return element(
        "tr",
        element("th", _verdict(item.verdict), element("div", *sentence(named)), scope="row"),
        element("td", *sentence(item.detail)),
        element("td", *([] if item.resolution is None else [f"{item.resolution:.2g}"]), data_label="resolution"),
        element(
            "td",
            rejected,
            *survived,
            class_="nowrap" if not survived else "",
            data_label="mutants rejected",
        ),
    )
