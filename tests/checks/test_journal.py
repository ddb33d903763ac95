"""The journal: what was finished is read again, by the same run only, and trouble with the file stops nobody."""

import os
import sqlite3
import time

import pytest

from checks.journal import KEPT_SECONDS, SCHEMA, Journal, default_path, run_key


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "journal.sqlite"


def test_what_is_written_is_read_in_the_next_process(path):
    Journal(path, "run").write("claim", 0, 3, {"result": [1.5, None, float("inf")], "error": ""})
    again = Journal(path, "run")
    assert again.read("claim", 0, 3) == {"result": [1.5, None, float("inf")], "error": ""}
    assert again.read("claim", 0, 2) is None
    assert again.read("claim", 1, 3) is None
    assert again.read("other", 0, 3) is None
    assert Journal(path, "another run").read("claim", 0, 3) is None


def test_doubles_are_kept_exactly(path):
    numbers = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308]
    Journal(path, "run").write("claim", 0, 0, numbers)
    assert Journal(path, "run").read("claim", 0, 0) == numbers


def test_judged_claims_are_taken_out_and_others_stay(path):
    book = Journal(path, "run")
    book.write("judged", 0, 0, 1)
    book.write("broken-off", 0, 0, 2)
    Journal(path, "other").write("judged", 0, 0, 3)
    book.finish(["judged"])
    assert Journal(path, "run").read("judged", 0, 0) is None
    assert Journal(path, "run").read("broken-off", 0, 0) == 2
    assert Journal(path, "other").read("judged", 0, 0) == 3


def test_old_entries_are_thrown_away(path):
    Journal(path, "run").write("claim", 0, 0, 1)
    database = sqlite3.connect(path)
    database.execute("UPDATE chunks SET written = ?", (time.time() - KEPT_SECONDS - 60,))
    database.commit()
    assert Journal(path, "run").read("claim", 0, 0) is None


def test_a_file_that_is_no_database_is_set_aside(path):
    path.parent.mkdir()
    path.write_text("my notes, none of your business " * 100)
    book = Journal(path, "run")
    book.write("claim", 0, 0, 1)
    assert "set aside" in book.trouble
    assert Journal(path, "run").read("claim", 0, 0) == 1
    (aside,) = path.parent.glob("*.aside")
    assert aside.read_text().startswith("my notes")


def aside_of(path):
    """What was set aside: its only such file."""
    (aside,) = path.parent.glob("*.aside")
    return aside


def test_an_old_schema_is_set_aside(path):
    path.parent.mkdir()
    with sqlite3.connect(path) as old:
        old.execute("CREATE TABLE chunks (run TEXT, claim TEXT, number INTEGER, result TEXT)")
        old.execute("INSERT INTO chunks VALUES ('run', 'claim', 0, 'kept')")
    old.close()
    book = Journal(path, "run")
    assert f"has schema 0, and this version of limes writes {SCHEMA}; it was set aside as " in book.trouble
    book.write("claim", 0, 0, 1)
    assert Journal(path, "run").read("claim", 0, 0) == 1
    with sqlite3.connect(aside_of(path)) as old:
        assert old.execute("SELECT result FROM chunks").fetchone() == ("kept",)


def test_a_damaged_journal_is_set_aside(path):
    book = Journal(path, "run")
    for chunk in range(200):
        book.write("claim", 0, chunk, "x" * 200)
    book._database.close()
    damaged = bytearray(path.read_bytes())
    damaged[4096 : len(damaged) // 2] = bytes(len(damaged) // 2 - 4096)
    path.write_bytes(damaged)
    book = Journal(path, "run")
    assert "set aside" in book.trouble
    assert aside_of(path).read_bytes() == damaged
    book.write("claim", 0, 0, 1)
    assert Journal(path, "run").read("claim", 0, 0) == 1


def test_every_file_set_aside_keeps_its_own_name(path):
    path.parent.mkdir()
    for text in ("first " * 100, "second " * 100, "third " * 100):
        path.write_text(text)
        Journal(path, "run")
    assert sorted(aside.read_text()[:5] for aside in path.parent.glob("*.aside")) == ["first", "secon", "third"]


def test_an_entry_that_is_no_json_is_computed_again(path):
    book = Journal(path, "run")
    book.write("claim", 0, 0, 1)
    book._database.execute("UPDATE chunks SET result = '{'")
    assert book.read("claim", 0, 0) is None
    assert "finished work was done again" in book.trouble


def test_a_disk_that_fills_up_costs_only_the_possibility_to_resume(path):
    book = Journal(path, "run")
    pages = book._database.execute("PRAGMA page_count").fetchone()[0]
    book._database.execute(f"PRAGMA max_page_count = {pages}")  # SQLite's own words for a full disk
    book.write("claim", 0, 0, "x" * 10_000)
    assert "could not be written (database or disk is full): this run cannot be resumed" in book.trouble
    book.finish(["claim"])


@pytest.mark.parametrize("place", [".", "file/journal.sqlite", "pipe"])
def test_where_nothing_can_be_kept_it_says_so_and_goes_on(tmp_path, place):
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    path = tmp_path / place
    book = Journal(path, "run")
    assert "cannot be resumed" in book.trouble
    assert book.path is None
    book.write("claim", 0, 0, 1)
    assert book.read("claim", 0, 0) == 1


def test_a_database_that_breaks_costs_only_the_possibility_to_resume(path):
    book = Journal(path, "run")
    book._database.execute("DROP TABLE chunks")
    assert book.read("claim", 0, 0) is None
    assert "could not be read" in book.trouble
    book.write("claim", 0, 0, 1)
    assert "could not be written" in book.trouble
    book.finish(["claim"])


def test_without_a_path_nothing_reaches_the_disk(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    book = Journal(None, "run")
    book.write("claim", 0, 0, 1)
    assert book.read("claim", 0, 0) == 1
    assert not list(tmp_path.iterdir())


def test_the_key_of_a_run_is_all_that_its_results_depend_on(tmp_path):
    mine = tmp_path / "claims.py"
    mine.write_text("a")
    keys = [run_key(0, "quick", [str(mine)]), run_key(1, "quick", [str(mine)]), run_key(0, "standard", [str(mine)])]
    mine.write_text("b")
    keys.append(run_key(0, "quick", [str(mine)]))
    keys.append(run_key(0, "quick", []))
    assert len(set(keys)) == len(keys)
    assert run_key(0, "quick", [str(mine), str(mine)]) == keys[3]
    assert run_key(0, "quick", ["<stdin>"]) == keys[4]  # claims typed in a session have no file


def test_it_lives_in_the_cache_of_the_user(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_path() == tmp_path / "limes" / "journal.sqlite"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_path() == tmp_path / ".cache" / "limes" / "journal.sqlite"
