"""The pytest plugin: claims as tests. It is loaded with `pytest -p checks.plugin`, and changes nothing otherwise.

Every `Claim` at the top of a collected test module is a test item, named by its id. It fails when its verdict is not
the one the claim records, or, without a record, when it does not hold; undecided is not held. `--claims` adds the
claims of the ledger, as `limes::<id>`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from theory.errors import LimesWarning

from .verdicts import Level

if TYPE_CHECKING:
    from .claims import Claim
    from .report import ClaimResult

_FOUND = pytest.StashKey[dict[str, Any]]()  # the claims of a module, by their ids


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


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text}: give an integer >= 0")
    return int(text)


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
        ledger = LedgerCollector.from_parent(session, name="limes", nodeid="limes")
        items.extend(ledger.collect())


class LedgerCollector(pytest.Collector):
    """The claims of the ledger."""

    def collect(self) -> Iterator[ClaimItem]:
        from .ledger import LEDGER

        for claim in LEDGER.values():
            yield ClaimItem.from_parent(self, name=claim.id, claim=claim)


class UnexpectedVerdict(Exception):
    """The verdict on a claim is not the one it records."""

    def __init__(self, result: ClaimResult) -> None:
        super().__init__(f"{result.claim.id} is {result.verdict.value}")
        self.result = result


class ClaimItem(pytest.Item):
    """One claim, judged in this process."""

    def __init__(self, *, claim: Claim, **arguments: Any) -> None:
        super().__init__(**arguments)
        self.claim = claim

    def runtest(self) -> None:
        option = self.config.option
        result = self.claim.judged(Level(option.claims_level), option.claims_seed)
        for text in result.mutants_survived:
            self.warn(LimesWarning(f"{self.claim.id}: its evidence also accepts the mutant {text}"))
        if not result.as_expected:
            raise UnexpectedVerdict(result)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """What was found, in sentences; a traceback would show the inside of `limes`, not of the claim."""
        if not isinstance(excinfo.value, UnexpectedVerdict):
            return super().repr_failure(excinfo, style)
        result = excinfo.value.result
        heading = f"The claim {result.claim.id} is {result.verdict.value}: {result.claim.statement}"
        return "\n".join([heading, *(f"  {remark}" for remark in result.remarks())])

    def reportinfo(self) -> tuple[Any, int, str]:
        return self.claim.origin, 0, self.claim.id
