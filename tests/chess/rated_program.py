"""A UCI engine for tests: plays its first legal move, and can be limited to a rating."""

import sys

import chess

GREETING = """id name First move 1.0
option name UCI_LimitStrength type check default false
option name UCI_Elo type spin default 1500 min 1234 max 2000
uciok"""


def main(options: list[str]) -> None:
    """Answer commands until quit; `unrated` leaves the options out."""
    board = chess.Board()
    for line in sys.stdin:
        words = line.split()
        if words[:1] == ["uci"]:
            lines = GREETING.splitlines()
            print("\n".join(lines[::3] if options == ["unrated"] else lines), flush=True)
        elif words[:1] == ["isready"]:
            print("readyok", flush=True)
        elif words[:1] == ["position"]:
            end = words.index("moves") if "moves" in words else len(words)
            fen = chess.STARTING_FEN if words[1] == "startpos" else " ".join(words[2:end])
            board = chess.Board(fen)
            for move in words[end + 1 :]:
                board.push_uci(move)
        elif words[:1] == ["go"]:
            print(f"bestmove {next(iter(board.legal_moves)).uci()}", flush=True)
        elif words[:1] == ["quit"]:
            break


if __name__ == "__main__":
    main(sys.argv[1:])
