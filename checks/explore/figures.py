"""The figures of a claim on the explorer's page: drawn when they are looked at, once."""

from __future__ import annotations

from base64 import b64encode
from functools import lru_cache

from theory.errors import LimesError

from ..claims import Claim
from ..figures import FIGURES, draw
from ..markup import element, write
from ..plot import Figure
from .page import refusal


def of(claim: Claim) -> list[Figure]:
    """Those that illustrate it."""
    return [figure for figure in FIGURES.values() if claim.id in figure.claims]


@lru_cache
def shown(name: str) -> str:
    """The figure as an image in HTML, or the sentence that says what it needs."""
    try:
        picture = b64encode(draw(name).render(".svg")).decode()
    except LimesError as error:
        return refusal(str(error))
    title = FIGURES[name].title
    return write(element("img", src=f"data:image/svg+xml;base64,{picture}", alt=title, style="max-width: 100%"))
