"""The one family of exceptions for mistakes of the person who calls `limes`.

Every message names the argument, the value it had, and the remedy. `assert` is for what cannot happen.
"""


class LimesError(Exception):
    """Root of everything `limes` raises on purpose."""


class InvalidInput(LimesError, ValueError):
    """An argument is outside what the function is defined for."""

    def __init__(self, argument: str, value: object, remedy: str) -> None:
        """Say that `argument` was `value`, and in `remedy` what it should be.

        >>> print(InvalidInput("depth", -1, "give an integer >= 0"))
        depth = -1: give an integer >= 0
        """
        try:
            shown = value if isinstance(value, str) else repr(value)
        except Exception:  # integers of 4301 digits, lists nested too deep
            shown = f"<{type(value).__name__}>"
        super().__init__(f"{argument} = {shown[:200]}: {remedy}")
        self.argument, self.value, self.remedy = argument, value, remedy


class Undecidable(LimesError):
    """Neither certified arithmetic nor exact algebra settles this: never a pass, and not the caller's mistake."""

    def __init__(self, subject: object, reason: str) -> None:
        """Say in `reason` why `subject` stays open.

        >>> print(Undecidable("1/s", "it is infinite at s = 0"))
        1/s: it is infinite at s = 0
        """
        super().__init__(f"{str(subject)[:200]}: {reason}")
        self.subject, self.reason = subject, reason


class LimesWarning(UserWarning):
    """Something was changed or may be unreliable, and it is said."""
