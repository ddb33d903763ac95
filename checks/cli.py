"""The command line, `limes`: its commands, each a module of `checks/commands/`, and what happens when one ends.

Exit code 0: all is as recorded; 1: a verdict is not, or a line or a number could not be decided; 2: bad usage, said in
a sentence; 130: Ctrl-C.
"""

from __future__ import annotations

import io
import os
import sys
import warnings
from collections.abc import Sequence
from typing import NoReturn

import typer

from theory.errors import InvalidInput, LimesError

from .commands.audit import audit
from .commands.bench import bench
from .commands.evaluate import evaluate
from .commands.explore import explore
from .commands.findings import findings
from .commands.latex import latex
from .commands.limit import limit
from .commands.list import list_
from .commands.output import end
from .commands.plot import plot
from .commands.report import report
from .commands.show import show
from .commands.verify import verify

app = typer.Typer(
    help="Judge the theory of wide and deep networks: derived, evaluated with right digits, compared with networks.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command("list", epilog="Example: limes list")(list_)
app.command(epilog="Example: limes show depth-rate")(show)
app.command(epilog="Example: limes verify depth-limit depth-rate --level quick --json report.json")(verify)
app.command(epilog="Example: limes audit --level quick --json audit.json")(audit)
app.command(epilog="Example: limes bench kernels --json bench.json")(bench)
app.command(epilog="Example: limes report depth-limit depth-rate --level quick --html report.html")(report)
app.command(epilog="Example: limes findings")(findings)
app.command(epilog="Example: limes latex depth-limit --derivation --document > depth-limit.tex")(latex)
app.command(epilog="Example: limes evaluate relu-ntk --at rho=3/10 L=5 --digits 30")(evaluate)
app.command(epilog="Example: limes limit relu-ntk-normalised --let L=oo --along 'rho = 1 - c/L^2' --at c=2")(limit)
app.command(epilog="Example: limes plot depth-rate -o depth-rate.svg")(plot)
app.command(epilog="Example: limes explore relu-ntk-normalised")(explore)


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line on `arguments` (default: those of the process) and exit."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # where Unicode cannot be written: question marks, no traceback
    warnings.filterwarnings("ignore", module="joblib")  # it remarks on the tasks that Ctrl-C cancels
    given = sys.argv[1:] if arguments is None else arguments
    # --at is a flag before any number of values, which options cannot have here; so --at=x=1 means --at x=1
    split = [piece for one in given for piece in (("--at", one[5:]) if one.startswith("--at=") else (one,))]
    try:
        app(split, prog_name="limes")
    except InvalidInput as error:
        end(str(error), 2)
    except LimesError as error:
        end(str(error), 1)
    except OSError as error:  # such as a full disk
        end(str(error), 2)
    finally:
        try:
            sys.stdout.flush()
        except OSError as error:  # where the reader has gone nobody is told, not even at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if not isinstance(error, BrokenPipeError):
                end(str(error), 2)
    raise SystemExit(0)
