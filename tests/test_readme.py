"""The README: its examples print what it says they print, and its own claim is proved."""

import doctest
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from checks import Verdict
from checks.cli import main

README = Path(__file__).parent.parent / "README.md"
TEXT = README.read_text(encoding="utf-8")


def test_the_examples_in_python_print_what_it_says():
    found = doctest.testfile(str(README), module_relative=False)
    assert found.attempted >= 3
    assert found.failed == 0


def test_the_session_is_what_is_printed(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    ((command, session),) = re.findall(r"^\$ limes (.*)\n((?s:.*?))^```", TEXT, re.MULTILINE)
    with pytest.raises(SystemExit) as stop:
        main([*command.split(), "--jobs", "1"])
    assert stop.value.code == 0
    printed = capsys.readouterr().out
    assert printed.startswith(session)
    assert printed[len(session) :].count("\n") == 3  # an empty line and two that count


def test_the_lemma_is_proved_and_its_mutants_are_rejected():
    (code,) = re.findall(r"^```python\n(# test_my_lemma.py\n(?s:.*?))^```", TEXT, re.MULTILINE)
    written: dict[str, Any] = {"__name__": "test_my_lemma", "__file__": __file__}
    exec(compile(code, __file__, "exec"), written)
    result = written["double_angle"].judged()
    assert result.verdict is Verdict.PROVED
    assert result.mutants_tried > 0
    assert result.mutants_survived == ()


LINES = re.findall(r"^limes (evaluate|limit|first|plot) (.*?)(?:  +# .*)?$", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("command", "rest"), LINES, ids=[command for command, _ in LINES])
def test_every_line_to_explore_with_works(command, rest, capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as stop:
        main([command, *shlex.split(rest)])
    assert stop.value.code == 0
    if command == "first":
        assert "L = 187\n" in capsys.readouterr().out


def test_there_are_lines_to_explore_with():
    assert [command for command, _ in LINES] == ["evaluate", "limit", "first", "plot"]
