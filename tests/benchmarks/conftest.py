"""What the benchmarks have in common: they run with `-m benchmark` only, and file rows for `limes bench`."""

import importlib
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from checks.bench import Row, compare, table

_ROWS = pytest.StashKey[list[Row]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--benchmark-rows", metavar="FILE", help="append each row of a benchmark to FILE, as JSON")


@pytest.fixture(autouse=True)
def on_demand(request: pytest.FixtureRequest) -> None:
    if "benchmark" not in request.config.getoption("markexpr"):
        pytest.skip("measures times: run it with -m benchmark")


@pytest.fixture
def filed(request: pytest.FixtureRequest) -> Callable[[list[Row]], list[Row]]:
    """Files rows, which are shown at the end."""
    file = request.config.getoption("benchmark_rows", default=None)

    def file_them(rows: list[Row]) -> list[Row]:
        request.config.stash.setdefault(_ROWS, []).extend(rows)
        if file:
            with Path(file).open("a", encoding="utf-8") as lines:
                lines.writelines(json.dumps(asdict(row)) + "\n" for row in rows)
        return rows

    return file_them


@pytest.fixture
def bench(filed: Callable[[list[Row]], list[Row]]) -> Callable[..., list[Row]]:
    """`checks.bench.compare`, whose rows are filed."""
    return lambda *arguments, **options: filed(compare(*arguments, **options))


@pytest.fixture
def installed() -> Callable[[str], ModuleType | None]:
    """A peer's module by its name, or None."""

    def find(name: str) -> ModuleType | None:
        try:
            return importlib.import_module(name)
        except ImportError:
            return None

    return find


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    for line in table(config.stash.get(_ROWS, [])):
        terminalreporter.write_line(line)
