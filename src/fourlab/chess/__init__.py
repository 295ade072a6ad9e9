"""Chess, played by the textbook search that also plays Connect Four; python-chess has the rules."""

from fourlab.errors import UserError

try:
    import chess as chess
except ModuleNotFoundError:
    raise UserError("chess needs python-chess: pip install 'fourlab[chess]'") from None
