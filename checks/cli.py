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
from .commands.first import first
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
app.command(
    short_help="Report on claims, as HTML, as LaTeX, or both.",
    epilog="Example: limes report depth-limit depth-rate --level quick --html report.html",
)(report)
app.command(epilog="Example: limes findings")(findings)
app.command(epilog="Example: limes latex depth-limit --derivation --document > depth-limit.tex")(latex)
app.command(epilog="Example: limes evaluate relu-ntk --at rho=3/10 L=5 --digits 30")(evaluate)
app.command(epilog="Example: limes limit relu-ntk-normalised --let L=oo --along 'rho = 1 - c/L^2' --at c=2")(limit)
app.command(epilog="Example: limes first relu-nngp L --above 0.999 --at rho=9/10")(first)
app.command(epilog="Example: limes plot depth-rate -o depth-rate.svg")(plot)
app.command(
    short_help="Explore formulas and claims in the browser.", epilog="Example: limes explore relu-ntk-normalised"
)(explore)


def _one_by_one(arguments: Sequence[str]) -> list[str]:
    """The arguments as typer takes them, which a person writes with any number of values after --at and --along.

    --at is a flag before values, so --at=x=1 means --at x=1; --along is repeated.

    >>> _one_by_one(["--along", "x=1/h", "y=h", "--at=c=2"])
    ['--along', 'x=1/h', '--along', 'y=h', '--at', 'c=2']
    """
    found: list[str] = []
    option = ""
    for one in arguments:
        if one.startswith("-"):
            option, equals, value = one.partition("=")
            found += [option, value] if option == "--at" and equals else [one]
        elif option == "--along" and "=" in one and found[-1] != "--along":
            found += ["--along", one]
        else:
            found.append(one)
    return found


def _about(error: OSError) -> str:
    return f"{error.filename or 'the output could not be written'}: {error.strerror or error}"


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line on `arguments` (default: those of the process) and exit."""
    # None if it was closed, as by >&-; its number must not go to the next file that is opened
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # where Unicode cannot be written: question marks, no traceback
    warnings.filterwarnings("ignore", module="joblib")  # it remarks on the tasks that Ctrl-C cancels
    given = sys.argv[1:] if arguments is None else arguments
    try:
        app(_one_by_one(given), prog_name="limes")
    except InvalidInput as error:
        end(str(error), 2)
    except LimesError as error:
        end(str(error), 1)
    except OSError as error:  # such as a full disk
        end(_about(error), 2)
    finally:
        try:
            sys.stdout.flush()
        except OSError as error:  # where the reader has gone nobody is told, not even at exit
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if not isinstance(error, BrokenPipeError):
                end(_about(error), 2)
    raise SystemExit(0)
