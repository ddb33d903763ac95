"""The words of the explorer's page, as HTML in which text stays text: what a person typed is never markup."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from theory.formula import Formula

from ..markup import element, write
from .crossings import Found as Crossed
from .limits import Found, rows
from .scene import Point, Reading
from .state import State

if TYPE_CHECKING:
    from sympy import Expr

    from ..claims import Claim

STYLE = """
.limes { line-height: 1.45; overflow-wrap: anywhere }
.limes-refusal { color: #b3261e }
.limes-remark { color: #666; font-size: 0.9em }
.limes-value output { font-family: ui-monospace, monospace; font-size: 1.25em; font-weight: 600 }
.limes-controls { display: grid; grid-template-columns: 3fr 5fr 2fr; gap: 0.5rem 1rem; align-items: center }
.limes-ask { display: flex; flex-wrap: wrap; gap: 0.5rem 1rem; align-items: center }
.limes-controls p, .limes-controls .markdown { margin: 0 }
@media (max-width: 640px) {
  .limes-controls { grid-template-columns: 2fr 1fr }
  .limes-controls > div { grid-column: 1 / 3 }
}
.limes-table { overflow-x: auto }
.limes table { border-collapse: collapse; margin: 0.5em 0; overflow-wrap: normal }
.limes th, .limes td { white-space: nowrap; padding: 0.1em 0.8em 0.1em 0; text-align: left }
.limes-formula { display: flex; flex-wrap: wrap; justify-content: center; align-items: center; gap: 0 2em }
.limes-formula > div { max-width: 100%; overflow-x: auto; overflow-y: hidden; background:
  linear-gradient(to right, var(--background, white) 50%, transparent) left / 3em 100% no-repeat local,
  linear-gradient(to left, var(--background, white) 50%, transparent) right / 3em 100% no-repeat local,
  linear-gradient(to right, #0003, transparent) left / 1em 100% no-repeat scroll,
  linear-gradient(to left, #0003, transparent) right / 1em 100% no-repeat scroll }
.limes-formula > div::-webkit-scrollbar { height: 6px }
.limes-formula > div::-webkit-scrollbar-thumb { background: #999; border-radius: 3px }
.limes ul { margin: 0.2em 0 0.6em 1.2em; list-style: disc }
.limes code { font-size: 0.9em; user-select: all }
"""


def refusal(text: str) -> str:
    """A sentence that says what is wrong; nothing if there is none.

    >>> refusal("rho = <b>: give a number")
    '<div class="limes limes-refusal" role="alert">rho = &lt;b&gt;: give a number</div>'
    """
    return write(element("div", text, class_="limes limes-refusal", role="alert")) if text else ""


def remark(text: str) -> str:
    """A sentence beside what it is about; nothing if there is none."""
    return write(element("div", text, class_="limes limes-remark")) if text else ""


def value(formula: Formula, where: Point, got: Reading) -> str:
    """The value, its error, the point at which it was taken, and what was done to it."""
    if got.found is None:
        return refusal(got.refusal)
    at = _at(where.values)
    error = "exactly" if got.found.radius == "0" else f"within {got.found.radius}"
    lines = [element("span", f"{formula.name}{' at ' if at else ''}{at}: "), element("output", got.found.value)]
    notes = [element("div", note, class_="limes-remark") for note in (*where.notes, *got.found.notes)]
    return write(
        element("div", *lines, element("span", f"  {error}", class_="limes-remark"), *notes, class_="limes limes-value")
    )


def limit(found: Found) -> str:
    """How the limit is known, the table of values that approach it, and what must be said of these."""
    if found.approach is None:
        return refusal(found.refusal)
    symbolic = found.approach.limit
    remark_ = f" ({symbolic.remark})" if symbolic.remark else ""
    given = [f"{name} = {number}" for name, number in symbolic.path.at.items()]
    where = [f"{name} = {meaning}" for name, meaning in symbolic.where.items()]
    heads, lines = rows(found.approach)
    table = element(
        "table",
        element("tr", *(element("th", head) for head in heads)),
        *(element("tr", *(element("td", cell) for cell in line)) for line in lines),
    )
    notes = [f"numbers for {', '.join(given)}" if given else "", f"where {', '.join(where)}" if where else ""]
    said = [element("div", note, class_="limes-remark") for note in (*notes, *found.approach.notes) if note]
    return write(element("div", element("div", symbolic.standing + remark_), table, *said, class_="limes limes-table"))


def crossing(found: Crossed) -> str:
    """Where the level is first passed, or why that is not known."""
    if found.crossing is None:
        return refusal(found.refusal)
    fixed = _at(found.crossing.fixed)
    return write(element("div", f"With {fixed}: " if fixed else "", found.crossing.sentence(), class_="limes"))


def formula(code: str, typeset: Callable[[str], str]) -> str:
    r"""A formula on its own, its parts side by side or, where the page is narrow, below each other.

    A part that is wider than the page is moved sideways, and a bar and a shadow say so.

    >>> formula(r"a = b, \quad b = c", lambda code: f"<i>{code}</i>").count("<i>")
    2
    """
    parts = [code] if r"\begin" in code else re.split(r"\s*\\q?quad\s*", code)
    return f"<div class='limes-formula'>{''.join(f'<div>{typeset(part)}</div>' for part in parts)}</div>"


def formula_head(formula: Formula) -> str:
    """Its title and its source."""
    return write(
        element(
            "div",
            element("strong", formula.title),
            element("div", formula.source, class_="limes-remark"),
            class_="limes",
        )
    )


def claim_head(claim: Claim) -> str:
    """Its title, its source, and the verdict on record."""
    verdict = claim.expected.value if claim.expected else "no verdict on record"
    title = element("div", element("strong", claim.title), ": ", element("em", verdict))
    return write(element("div", title, element("div", str(claim.source), class_="limes-remark"), class_="limes"))


def claim_notes(claim: Claim) -> str:
    """What the source assumes, what it must assume besides, what was found, and the evidence."""
    evidence = [
        f"{item.kind}: {' · '.join(part for part in (part, item.name) if part)}" for part, _, item in claim.evidence()
    ]
    return write(
        element(
            "div",
            *_section("Findings", claim.findings),
            *_section("Hypotheses", claim.hypotheses),
            *_section("Conditions that it needs besides", claim.conditions),
            *_section("Evidence", evidence),
            element("div", "Judge it: ", element("code", f"limes verify {claim.id} --evidence")),
            class_="limes",
        )
    )


def share(state: State) -> str:
    """How somebody else sees the same: a link for this server, and a command for any."""
    text = state.to_text()
    quoted = "'" + text.replace("'", "'\\''") + "'"
    return write(
        element(
            "div",
            element("div", element("a", "link to this state", href=state.to_query())),
            element("div", element("code", f"limes explore --state {quoted}")),
            class_="limes",
        )
    )


def _at(values: Mapping[str, Expr]) -> str:
    return ", ".join(f"{name} = {exact}" for name, exact in values.items()).replace("**", "^")


def _section(title: str, lines: Iterable[str]) -> list[Element]:
    items = [element("li", line) for line in lines]
    return [element("strong", title), element("ul", *items)] if items else []
