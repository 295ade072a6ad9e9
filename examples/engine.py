"""A whole engine for the protocol of docs/engine-protocol.md: wins if it can, else blocks, else plays near the centre."""

import re
import sys


def makes_line(board, x, y, disc):
    """Whether the disc, dropped there, makes a line: count its like on both sides of it, in four directions."""
    for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
        runs = [next(n for n in range(1, 99) if board.get((x + n * way * right, y + n * way * up)) != disc) for way in (1, -1)]
        if sum(runs) > in_a_row:  # each counts one too many, and neither the disc itself
            return True
    return False


columns, rows, in_a_row = 7, 6, 4
for line in sys.stdin:
    match line.split():
        case ["c4i"]:
            print("id name example in Python\nid author Fourlab\nc4iok", flush=True)
        case ["isready"]:
            print("readyok", flush=True)
        case ["ping", number]:
            print("pong", number, flush=True)
        case ["newgame", size, *_]:
            columns, rows, in_a_row = map(int, size.split("x"))
        case ["position", *words]:  # the board is a dictionary: (column, row from the bottom) to r or y
            board, disc = {}, words[2] if words[0] == "fen" else "r"
            for y, text in enumerate(words[1].split("/")[::-1] if words[0] == "fen" else []):
                board |= {(x, y): c for x, c in enumerate(re.sub(r"\d+", lambda n: "." * int(n[0]), text)) if c in "ry"}
            for x in (int(word) - 1 for word in (words[words.index("moves") + 1 :] if "moves" in words else [])):
                board[x, sum(column == x for column, _ in board)], disc = disc, "yr"["ry".index(disc)]
        case ["go", *_]:
            tops = [sum(column == x for column, _ in board) for x in range(columns)]
            legal = sorted((x for x in range(columns) if tops[x] < rows), key=lambda x: abs(2 * x - columns + 1))
            good = [x for who in (disc, "yr"["ry".index(disc)]) for x in legal if makes_line(board, x, tops[x], who)]
            print("bestmove", (good or legal)[0] + 1, flush=True)
        case ["quit"]:
            break
