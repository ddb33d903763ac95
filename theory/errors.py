"""The one family of exceptions for mistakes of the person who calls `limes`.

Every message names the argument, the value it had, and the remedy. `assert` is for what cannot happen.
"""

LONGEST, HEAD, TAIL = 80, 40, 20  # characters of a value: beyond the first, its head and its tail are said


class LimesError(Exception):
    """Root of everything `limes` raises on purpose."""


class InvalidInput(LimesError, ValueError):
    """An argument is outside what the function is defined for."""

    def __init__(self, argument: str, value: object, remedy: str) -> None:
        """Say that `argument` was `value`, and in `remedy` what it should be.

        >>> print(InvalidInput("depth", -1, "give an integer >= 0"))
        depth = -1: give an integer >= 0
        """
        super().__init__(f"{argument} = {shortened(value)}: {remedy}")
        self.argument, self.value, self.remedy = argument, value, remedy


class MissingInput(InvalidInput):
    """An argument that must be given was not."""

    def __init__(self, argument: str, remedy: str) -> None:
        """Say that `argument` is missing, and in `remedy` what to give.

        >>> print(MissingInput("depth", "give an integer >= 0"))
        depth is missing: give an integer >= 0
        """
        LimesError.__init__(self, f"{argument} is missing: {remedy}")
        self.argument, self.value, self.remedy = argument, None, remedy


class Undecidable(LimesError):
    """Neither certified arithmetic nor exact algebra settles this: never a pass, and not the caller's mistake."""

    def __init__(self, subject: object, reason: str) -> None:
        """Say in `reason` why `subject` stays open.

        >>> print(Undecidable("1/s", "it is infinite at s = 0"))
        1/s: it is infinite at s = 0
        """
        super().__init__(f"{shortened(subject)}: {reason}")
        self.subject, self.reason = subject, reason


class LimesWarning(UserWarning):
    """Something was changed or may be unreliable, and it is said."""


def shortened(value: object) -> str:
    r"""A value in one line of a sentence: text as it is, everything else as Python shows it, long ones in part.

    >>> shortened(10**400)
    '1000000000000000000000000000000000000000…00000000000000000000 (401 characters)'
    >>> shortened("a\nb\x1b[31m")
    'a\\nb\\x1b[31m'
    """
    try:
        text = value if isinstance(value, str) else " ".join(repr(value).split())
    except Exception:  # integers of 4301 digits, lists nested too deep
        return f"<{type(value).__name__}>"
    if len(text) > LONGEST:
        text = f"{text[:HEAD]}…{text[-TAIL:]} ({len(text)} characters)"
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text) or "''"
