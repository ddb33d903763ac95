"""The tutorials: every cell runs, and shows what the notebook says it shows."""

from pathlib import Path

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tutorials"


def shown(notebook):
    """What each cell of code prints or displays, as text, LaTeX or an error."""
    kinds = ("text/latex", "text/plain")
    return [
        [
            output.get("text") or output.get("evalue") or {kind: output["data"].get(kind) for kind in kinds}
            for output in cell.outputs
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("name", ["explore", "latex", "verify"])
def test_the_tutorial_shows_what_it_says(name):
    notebook = nbformat.read(FOLDER / f"{name}.ipynb", as_version=4)
    before = shown(notebook)
    assert all(before[:1]), "the notebook is stored with its outputs"
    here = {"metadata": {"path": str(ROOT)}}
    # a busy kernel sends what is printed in pieces
    nbclient.NotebookClient(notebook, timeout=300, coalesce_streams=True, resources=here).execute()
    assert shown(notebook) == before


def test_every_tutorial_is_run():
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == {"explore", "latex", "verify"}
