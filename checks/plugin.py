"""The pytest plugin: claims as tests. It is loaded with `pytest -p checks.plugin`, and changes nothing otherwise.

Every `Claim` at the top of a collected test module is a test item, named by its id. So are those in the files of a
folder `claims/`, whatever their names, that import `checks`. An item fails when its verdict is not the one the claim
records, or, without a record, when it does not hold; undecided is not held. `--claims` adds the claims of the ledger,
as `limes::<id>`.

For `-m` an item has the markers `claim`, `source_<key>` and, from the ledger, `chapter_<name>`:
`pytest -p checks.plugin --claims -m "chapter_depth and source_W"`. In JUnit's XML it has its verdict, level and seed.
"""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import collect_one_node

from theory.errors import LimesWarning

from .verdicts import Level, MutantTally

if TYPE_CHECKING:
    from .claims import Claim
    from .report import ClaimResult

_FOUND = pytest.StashKey[dict[str, Any]]()  # the claims of a module, by their ids
_FOLDER = "claims"
WIDTH = 80  # columns of a failure
GIVEN = ("enclosure", "property")  # kinds of evidence whose mutants are given, not made
_IMPORTS_CHECKS = re.compile(r"^\s*(import|from)\s+checks\b", re.MULTILINE)
_MARKERS = {
    "claim": "a claim, judged by limes",
    "chapter_NAME": "a claim of this chapter of the ledger: kernels, depth, features, ... (with --claims)",
    "source_KEY": "a claim of the source with this key: W, B, N and C in the ledger, own where none is given",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("limes", "claims as tests")
    group.addoption("--claims", action="store_true", help="also judge the claims of the ledger of limes")
    group.addoption(
        "--claims-level",
        choices=[level.value for level in Level],
        default=Level.STANDARD.value,
        help="how much is spent on a claim (default: %(default)s)",
    )
    group.addoption("--claims-seed", type=_seed, default=0, help="of all random numbers (default: %(default)s)")


def pytest_configure(config: pytest.Config) -> None:
    for name, meaning in _MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: give an integer >= 0")
    return int(text)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """The files of a folder `claims/` that pytest would pass by."""
    config = parent.config
    inside = file_path.relative_to(config.rootpath) if file_path.is_relative_to(config.rootpath) else file_path
    if file_path.suffix != ".py" or _FOLDER not in inside.parts[:-1] or file_path.name == "__init__.py":
        return None
    asked_for = parent.session.isinitpath(file_path)  # then, and by its name, it is a test module already
    if asked_for or any(file_path.match(pattern) for pattern in config.getini("python_files")):
        return None
    if not _IMPORTS_CHECKS.search(file_path.read_text(encoding="utf-8", errors="replace")):
        return None
    return pytest.Module.from_parent(parent, path=file_path)


def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: Any) -> pytest.Item | None:
    loaded = sys.modules.get("checks.claims")  # before it is loaded there are no claims, and SymPy stays out
    if loaded is None or not isinstance(obj, loaded.Claim):
        return None
    found = collector.stash.setdefault(_FOUND, {})
    if obj.id in found:
        if found[obj.id] is obj:  # one claim under two names
            return None
        raise collector.CollectError(f"two claims have the id {obj.id}; give different claims different ids")
    found[obj.id] = obj
    return ClaimItem.from_parent(collector, name=obj.id, claim=obj)


@pytest.hookimpl(tryfirst=True)  # before -k and the like choose among the items
def pytest_collection_modifyitems(session: pytest.Session, items: list[pytest.Item]) -> None:
    if session.config.getoption("claims"):
        report = collect_one_node(LedgerCollector.from_parent(session, name="limes", nodeid="limes"))
        session.ihook.pytest_collectreport(report=report)  # so that pytest counts them
        items.extend(one for one in report.result if isinstance(one, pytest.Item))


class LedgerCollector(pytest.Collector):
    """The claims of the ledger, chapter by chapter."""

    def collect(self) -> Iterator[ClaimItem]:
        from .ledger import CHAPTERS

        for chapter, claims in CHAPTERS.items():
            for claim in claims:
                yield ClaimItem.from_parent(self, name=claim.id, claim=claim, chapter=chapter)


class UnexpectedVerdict(Exception):
    """The verdict on a claim is not the one it records."""

    def __init__(self, result: ClaimResult) -> None:
        super().__init__(f"{result.claim.id} is {result.verdict.value}")
        self.result = result


class ClaimItem(pytest.Item):
    """One claim, judged in this process."""

    def __init__(self, *, claim: Claim, chapter: str = "", **arguments: Any) -> None:
        super().__init__(**arguments)
        self.claim, self.own = claim, not chapter
        marks = ["claim", f"source_{claim.source.key}", *([f"chapter_{chapter}"] if chapter else [])]
        for mark in (re.sub(r"\W", "_", name) for name in marks):  # what -m can name
            self.config.addinivalue_line("markers", f"{mark}: see claim")  # known, so that --strict-markers has it
            self.add_marker(mark)

    def runtest(self) -> None:
        option = self.config.option
        result = self.claim.judged(Level(option.claims_level), option.claims_seed)
        said = {"verdict": result.verdict.value, "level": option.claims_level, "seed": option.claims_seed}
        self.user_properties += said.items()
        tally = MutantTally(result.mutants_tried, result.mutants_survived)
        self.add_report_section("call", "verdict", f"{result.verdict.value}; {tally}")  # which pytest -rA shows
        for item in result.evidence if self.own else ():
            if item.kind in GIVEN and item.finding.verdict.holds and not item.finding.mutants.tried:
                remedy = "give it wrong versions to reject, mutants={...}"
                self.warn(LimesWarning(f"{self.claim.id}: {item.label} was tried with no mutants; {remedy}"))
        for text in result.mutants_survived:
            self.warn(LimesWarning(f"{self.claim.id}: its evidence also accepts the mutant {text}"))
        if not result.as_expected:
            raise UnexpectedVerdict(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What was found, in sentences; a traceback would show the inside of `limes`, not of the claim.

        The counterexample comes first, as pytest repeats the first line in its summary.
        """
        if not isinstance(excinfo.value, UnexpectedVerdict):
            return super().repr_failure(excinfo, style)
        result, option = excinfo.value.result, self.config.option
        recorded, *found = result.remarks()
        spent = f"level {option.claims_level}, seed {option.claims_seed}"
        found += [f"The claim {result.claim.id} is {result.verdict.value} ({spent}); {recorded}"]
        found += [result.claim.statement] if result.claim.statement else []
        return "\n".join(textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False) for line in found)

    def reportinfo(self) -> tuple[Any, int, str]:
        return self.claim.origin, 0, self.claim.id
