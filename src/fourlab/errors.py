"""Errors in the user's input or files, as opposed to errors in the program."""


class UserError(ValueError):
    """The user's input cannot be used; the message says what is wrong and why, in one line."""

    def _render_traceback_(self) -> list[str]:
        """Return what notebooks show instead of a traceback through our code: the message."""
        return [f"{type(self).__name__}: {' '.join(str(self).split())}"]


class NotThere(UserError):
    """A run, game or figure does not exist."""


class Damaged(OSError):
    """A file is damaged, so that trying again does not help."""
