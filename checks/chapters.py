"""The chapters of a report: the claims of a run in the order of the ledger's chapters, those of others at the end."""

from __future__ import annotations

from .recorded import RecordedClaim, RecordedRun

TITLES = {
    "kernels": "Kernels of wide networks",
    "depth": "Deep networks",
    "features": "Features that move",
    "dynamics": "Training in the kernel regime",
    "correlations": "Weak derivative correlations",
    "layerwise": "A learning rate for each layer",
}
OTHERS = "Other claims"


def by_chapter(run: RecordedRun) -> dict[str, list[RecordedClaim]]:
    """The claims of the run under the titles of their chapters; a chapter without any is left out."""
    from .ledger import CHAPTERS

    titles = {one.id: TITLES[name] for name, claims in CHAPTERS.items() for one in claims}
    found: dict[str, list[RecordedClaim]] = {title: [] for title in (*TITLES.values(), OTHERS)}
    for one in run.claims:
        found[titles.get(one.id, OTHERS)].append(one)
    return {title: claims for title, claims in found.items() if claims}
