import http.client
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from checks.cli import main
from checks.explore import launch
from theory.errors import InvalidInput

COMMAND = [sys.executable, "-c", "from checks.cli import main; main()", "explore", "--no-browser"]


def ended(arguments, capsys):
    """The exit code and what was said on standard error."""
    with pytest.raises(SystemExit) as stop:
        main(["explore", *arguments])
    return stop.value.code, capsys.readouterr().err


@pytest.fixture
def installed(monkeypatch):
    """As if marimo were there, but nothing is served: what would be."""
    served = []
    monkeypatch.setattr(launch, "find_spec", lambda name: object())
    monkeypatch.setattr(launch, "serve", lambda **options: served.append(options))
    return served


def test_without_marimo_a_sentence_with_the_remedy(monkeypatch, capsys):
    monkeypatch.setattr(launch, "find_spec", lambda name: None)
    code, said = ended([], capsys)
    assert code == 1
    assert said.startswith("limes: the explorer needs marimo")
    assert "pip install '.[explore]'" in said


def test_what_is_served(installed, capsys, tmp_path):
    assert ended([], capsys)[0] == 0
    assert ended(["relu-ntk", "--no-browser"], capsys)[0] == 0
    file = tmp_path / "state.json"
    file.write_text('{"formula": "relu-ntk", "at": {"rho": "1/3"}}')
    assert ended(["--state", str(file)], capsys)[0] == 0
    assert [(one["state"], one["browser"]) for one in installed] == [
        ("", True),
        ("relu-ntk rho=0.3 L=10", False),
        ("relu-ntk rho=1/3 L=10", True),
    ]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["relu-ntc"], "the nearest are relu-ntk"),
        (["--state", "relu-ntk rho"], "write name=value"),
        (["--state", "relu-nngp rho=7"], "rho = 7: give a number in [-1, 1]"),
        (["--state", "relu-nngp L=2m"], "L = 2m: "),
        (["--state", "missing.json"], "there is no such file"),
        (["relu-ntk", "--state", "relu-ntk"], "give a name or a --state"),
        (["--port", "0"], "--port"),
        (["--port", "70000"], "--port"),
    ],
)
def test_bad_usage_is_a_sentence(installed, arguments, sentence, capsys):
    code, said = ended(arguments, capsys)
    assert code == 2
    assert sentence in said
    assert not installed


def test_a_port_in_use_is_a_sentence(installed, capsys):
    with socket.create_server((launch.HOST, 0)) as other:
        port = other.getsockname()[1]
        code, said = ended(["--port", str(port)], capsys)
        assert code == 2
        assert (
            said
            == f"limes: --port = {port}: another program uses it; give another, or none: one that is free is taken\n"
        )
    launch.refuse_used(port)


def test_a_port_that_may_not_be_used(monkeypatch):
    class Forbidden(socket.socket):
        def bind(self, address):
            raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(launch.socket, "socket", Forbidden)
    with pytest.raises(InvalidInput, match="Permission denied"):
        launch.refuse_used(80)


def test_nothing_is_missing_where_marimo_is(installed):
    launch.require_marimo()


def test_it_serves_the_loopback_behind_a_token_until_ctrl_c():
    pytest.importorskip("marimo", reason="marimo is not installed")
    server = subprocess.Popen(COMMAND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        line = server.stdout.readline()
        found = re.fullmatch(r"limes explore: http://127\.0\.0\.1:(\d+)/\?access_token=(\S+)  Ctrl-C ends it\n", line)
        assert found is not None
        port, token = int(found[1]), found[2]
        assert len(token) > 20
        assert answer(port, "/") != 200
        assert answer(port, f"/?access_token={token}") in (200, 303)
        with pytest.raises(ConnectionRefusedError):  # who listened everywhere would answer there
            socket.create_connection(("127.0.0.2", port), 1)
        server.send_signal(signal.SIGINT)
        assert server.wait(timeout=60) == 0
        assert server.stdout.read() == ""
        assert server.stderr is not None
        assert "Traceback" not in server.stderr.read()
    finally:
        server.kill()


def answer(port: int, path: str) -> int:
    """The status of a request, as soon as somebody listens."""
    for _ in range(600):
        try:
            connection = http.client.HTTPConnection(launch.HOST, port, timeout=60)
            connection.request("GET", path)
            return connection.getresponse().status
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise AssertionError("nobody listens")
