"""Chess, by the same tree search that plays Connect Four in the textbook; the rules are python-chess's."""

from fourlab.errors import UserError

try:
    import chess as chess
except ModuleNotFoundError:
    raise UserError("chess needs python-chess: pip install 'fourlab[chess]'") from None
