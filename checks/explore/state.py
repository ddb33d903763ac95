r"""What the explorer shows, as text: it is shared as a link, a line or a file, and read back by the same grammar.

A state names a formula, or a claim, or both; `at` has the text of each parameter as it was typed (it may use the names
of the parameters before it); `digits` are those of the value, `axis` is the parameter of the plot and `scale` what its
other axis shows, `width` the size of the networks that are sampled, `let` and `along` the path of a limit. As a line,
defaults left out:

    relu-ntk-normalised rho=0.3 L=100 digits=30 axis=L let=L:oo along=rho:1-c/L^2

and as a link, the same after `?state=`. Whatever comes back is checked: nothing in it is run, and a mistake is an
`InvalidInput` that says what to write instead.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from theory.errors import InvalidInput
from theory.formulas import FORMULAS, Formula

from ..grammar import LONGEST_TEXT
from .controls import controls
from .scale import Scale

SCHEMA = 1
FIRST = "relu-ntk-normalised"  # what an explorer opened without a name shows
MOST_DIGITS = 200
LARGEST_FILE = 100_000  # bytes
OPTIONS = ("claim", "digits", "axis", "scale", "width", "let", "along")


@dataclass(frozen=True)
class State:
    """See the module. `formula` is empty for a claim that has none; `at` has every parameter of the formula."""

    formula: str = FIRST
    claim: str = ""
    at: Mapping[str, str] = field(default_factory=dict)
    digits: int = 15
    axis: str = ""
    scale: Scale = Scale.AUTOMATIC
    width: int = 64
    let: str = ""
    along: str = ""

    @classmethod
    def of(cls, name: str = FIRST) -> State:
        """The state that an explorer starts in, for the name of a formula or the id of a claim.

        >>> State.of("relu-ntk").at
        {'rho': '0.3', 'L': '10'}
        >>> State.of("relu-ntc")
        Traceback (most recent call last):
        theory.errors.InvalidInput: name = relu-ntc: no claim or formula is called so; the nearest are relu-ntk, ...
        """
        if name in FORMULAS:
            return cls(name).completed()
        return cls.of_claim(name, [*FORMULAS])

    @classmethod
    def of_claim(cls, id: str, besides: Sequence[str] = ()) -> State:
        """The same for the id of a claim, with its first formula; `besides` are other names that it may be meant for.

        >>> State.of_claim("depth-rate").formula
        'depth-leading-error'
        """
        from ..ledger import LEDGER

        if id not in LEDGER:
            near = difflib.get_close_matches(id, [*besides, *LEDGER], n=3, cutoff=0.4) or ["listed by limes list"]
            what = "claim or formula" if besides else "claim"
            raise InvalidInput("name", id, f"no {what} is called so; the nearest are {', '.join(near)}")
        own = [formula for formula in LEDGER[id].formulas if formula in FORMULAS]
        return cls(own[0] if own else "", id).completed()

    @classmethod
    def from_text(cls, text: str) -> State:
        """The state that a line says: a name, and `name=value` as often as wanted, apart by spaces.

        >>> State.from_text("relu-ntk rho=1/3 digits=20").to_text()
        'relu-ntk rho=1/3 L=10 digits=20'
        """
        if len(text) > 5 * LONGEST_TEXT:
            raise InvalidInput("state", text[:40] + "…", f"{len(text)} characters; a state has few")
        name, *pieces = text.split() or [FIRST]
        given: dict[str, Any] = {"name": name, "at": {}}
        for piece in pieces:
            key, equals, value = piece.partition("=")
            if not equals:
                raise InvalidInput("state", piece, "write name=value without spaces, such as rho=0.3")
            target = given if key in OPTIONS else given["at"]
            if key in target:
                raise InvalidInput("state", piece, f"{key} was given before; give it once")
            target[key] = value
        return cls.from_json(given)

    @classmethod
    def from_json(cls, data: Any) -> State:
        """The state that `to_json` wrote, or one given by some of its entries; `name` may stand for what it names."""
        if not isinstance(data, dict):
            raise InvalidInput("state", data, 'give an object, such as {"formula": "relu-ntk", "at": {"rho": "0.3"}}')
        known = {"schema", "name", "at", *(one.name for one in fields(cls))}
        for key in data:
            if key not in known:
                raise InvalidInput("state", str(key), f"a state has {', '.join(sorted(known))}")
        if data.get("schema", SCHEMA) != SCHEMA:
            raise InvalidInput("schema", data["schema"], f"this version of limes reads {SCHEMA}")
        state = cls.of(_text(data, "name") or _text(data, "formula") or _text(data, "claim") or FIRST)
        if claim := _text(data, "claim"):
            state = replace(state, claim=cls.of_claim(claim).claim)
        at = data.get("at", {})
        if not isinstance(at, dict) or not all(isinstance(text, str) for text in at.values()):
            raise InvalidInput("at", at, 'give texts by name, such as {"rho": "0.3"}')
        state = replace(state, at=at, let=_text(data, "let"), along=_text(data, "along"), axis=_text(data, "axis"))
        return replace(
            state,
            scale=_scale(data),
            digits=_integer(data, "digits", cls.digits, MOST_DIGITS),
            width=_integer(data, "width", cls.width, 10**6),
        ).completed()

    @classmethod
    def read(cls, given: str) -> State:
        """The state in a file, or else in a line of text: what `limes explore --state` takes."""
        path = Path(given)
        try:
            is_file = path.is_file()
        except (OSError, ValueError):  # too long for a name of a file
            is_file = False
        if not is_file:
            if given.endswith(".json"):
                raise InvalidInput("--state", given, "there is no such file")
            return cls.from_text(given)
        try:
            if path.stat().st_size > LARGEST_FILE:
                raise InvalidInput("--state", given, f"a state has at most {LARGEST_FILE} bytes")
            data = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InvalidInput("--state", given, f"give a file that can be read ({error.strerror})") from None
        except (ValueError, RecursionError):
            raise InvalidInput("--state", given, "give a file that the explorer wrote; this is no JSON") from None
        return cls.from_json(data)

    def completed(self) -> State:
        """With the defaults of the parameters that have no text. Refuses parameters that the formula has not."""
        formula = self.known
        wanted = {} if formula is None else {name: one.default for name, one in controls(formula).items()}
        for name in self.at:
            if name not in wanted:
                names = ", ".join(wanted) or "none"
                raise InvalidInput(str(name), self.at[name], f"the parameters of {self.formula} are {names}")
        axes = [] if formula is None else axes_of(formula)
        if self.axis and self.axis not in axes:
            raise InvalidInput("axis", self.axis, f"give one of {', '.join(axes) or 'no parameters'}")
        axis = self.axis or next(iter(axes), "")
        return replace(self, at={name: self.at.get(name, text) for name, text in wanted.items()}, axis=axis)

    @property
    def known(self) -> Formula | None:
        """The formula itself, or None where a claim has none."""
        return FORMULAS[self.formula] if self.formula else None

    def to_text(self) -> str:
        """One line, from which `from_text` makes the same state."""
        values = self.to_json()
        del values["schema"]
        at = values.pop("at")
        name = values.pop("formula") or values.pop("claim")
        written = (f"{key}={''.join(str(value).split())}" for key, value in (at | values).items())
        return " ".join([name, *written])

    def to_query(self) -> str:
        """What comes after the address of an explorer in a link to this state."""
        return "?state=" + quote_plus(self.to_text())

    def to_json(self) -> dict[str, Any]:
        """Plain data, what differs from the defaults: the contents of a file of a state."""
        plain = State(self.formula, at=self.at).completed() if self.formula else State("")
        data: dict[str, Any] = {"schema": SCHEMA, "formula": self.formula, "at": dict(self.at)}
        changed = {key: value for key in OPTIONS if (value := getattr(self, key)) != getattr(plain, key)}
        return data | {key: value.value if isinstance(value, Scale) else value for key, value in changed.items()}

    def to_file(self) -> bytes:
        """The contents of a file from which `read` makes the same state."""
        return (json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n").encode()


def opening(*given: object) -> tuple[State, str]:
    """The state of the first text that there is; if it is refused, the first state of all, and why.

    >>> opening(None, "relu-ntk rho")[1]
    'state = rho: write name=value without spaces, such as rho=0.3'
    """
    try:
        return State.from_text(next((str(text) for text in given if text), FIRST)), ""
    except InvalidInput as error:
        return State.of(), str(error)


def axes_of(formula: Formula) -> list[str]:
    """The parameters over which the formula can be plotted, those that run to infinity first."""
    names = [name for name, control in controls(formula).items() if not control.words]
    return sorted(names, key=lambda name: not controls(formula)[name].logarithmic)


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data.get(key, "")
    if not isinstance(value, str) or len(value) > LONGEST_TEXT:
        raise InvalidInput(key, value, f"give a text of at most {LONGEST_TEXT} characters")
    return value


def _scale(data: Mapping[str, Any]) -> Scale:
    words = {one.value: one for one in Scale}
    text = _text(data, "scale") or Scale.AUTOMATIC.value
    if text not in words:
        raise InvalidInput("scale", text, f"give one of {', '.join(words)}")
    return words[text]


def _integer(data: Mapping[str, Any], key: str, default: int, most: int) -> int:
    given = data.get(key, default)
    text = str(given) if isinstance(given, int) and not isinstance(given, bool) and abs(given) < 10**9 else given
    if (
        not isinstance(text, str)
        or not text.isascii()
        or not text.isdigit()
        or len(text) > 9
        or not 1 <= int(text) <= most
    ):
        raise InvalidInput(key, given, f"give an integer from 1 to {most}")
    return int(text)
