"""The one family of errors that mean "the input is wrong", not "the program is"."""


class UserError(ValueError):
    """Something the user gave cannot be used; the message is one line that says what and why."""


class NotThere(UserError):
    """There is no such run, game or figure."""


class Damaged(OSError):
    """A file was spoiled from outside, so that trying again does not help."""
