"""Errors in the user's input or files, as opposed to errors in the program."""


class UserError(ValueError):
    """The user's input cannot be used; the message says what is wrong and why, in one line."""


class NotThere(UserError):
    """A run, game or figure does not exist."""


class Damaged(OSError):
    """A file is damaged, so that trying again does not help."""
