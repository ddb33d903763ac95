"""Claims and formulas as plain data: what `limes list --json` and `limes show --json` write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from theory.formulas import Formula

    from .claims import Claim
    from .evidence import Evidence


def claim_in_brief(claim: Claim) -> dict[str, Any]:
    """Its id, title, source and recorded verdict."""
    return {
        "id": claim.id,
        "title": claim.title,
        "source": str(claim.source),
        "expected": claim.expected.value if claim.expected else None,
    }


def claim_in_full(claim: Claim) -> dict[str, Any]:
    """All that is stated of a claim, and by which evidence it is judged; nothing is computed."""
    mended = claim.correction
    correction = None
    if mended:
        expression = None if mended.expression is None else str(mended.expression)
        parts = _parts(mended.parts)
        correction = {"text": mended.text, "latex": mended.latex, "expression": expression, "parts": parts}
    return claim_in_brief(claim) | {
        "statement": claim.statement,
        "hypotheses": list(claim.hypotheses),
        "conditions": list(claim.conditions),
        "parts": _parts(claim.parts),
        "correction": correction,
        "findings": list(claim.findings),
        "formulas": list(claim.formulas),
    }


def _parts(parts: Mapping[str, Sequence[Evidence]]) -> list[dict[str, Any]]:
    return [
        {"part": part, "evidence": [{"name": item.name, "kind": item.kind} for item in items]}
        for part, items in parts.items()
    ]


def formula_in_brief(formula: Formula) -> dict[str, Any]:
    """Its name, title, source and parameters."""
    return {
        "name": formula.name,
        "title": formula.title,
        "source": formula.source,
        "parameters": [{"name": one.name, "range": one.range(), "meaning": one.meaning} for one in formula.parameters],
    }


def formula_in_full(formula: Formula) -> dict[str, Any]:
    """With its definition or its expression, as LaTeX; an expression is derived for it."""
    from theory.typeset import latex

    expression = formula.expression() if formula.expression else None
    return formula_in_brief(formula) | {
        "latex": formula.definition if expression is None else latex(expression),
        "expression": None if expression is None else str(expression),
    }
