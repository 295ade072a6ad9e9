"""A complete engine for the protocol of docs/reference/engine-protocol.md.

It wins if it can, else blocks, else plays near the centre.
"""

import re
import sys

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))
OTHER = {"r": "y", "y": "r"}

columns, rows, in_a_row = 7, 6, 4
board = {}  # (column, row from the bottom) -> "r" or "y"
disc = "r"  # of the side to move


def height(x):
    """Return the number of discs in a column."""
    return sum(column == x for column, _ in board)


def makes_line(x, side):
    """Return whether a disc dropped into column x completes a line."""
    y = height(x)
    for right, up in DIRECTIONS:
        count = 1
        for way in (1, -1):
            n = way
            while board.get((x + n * right, y + n * up)) == side:
                count += 1
                n += way
        if count >= in_a_row:
            return True
    return False


def choose():
    """Return a column that wins, else one that blocks, else the one nearest to the centre."""
    legal = [x for x in range(columns) if height(x) < rows]
    legal.sort(key=lambda x: abs(2 * x - columns + 1))
    for side in (disc, OTHER[disc]):
        for x in legal:
            if makes_line(x, side):
                return x
    return legal[0]


for line in sys.stdin:
    match line.split():
        case ["c4i"]:
            print("id name example in Python\nid author Fourlab\nc4iok", flush=True)
        case ["isready"]:
            print("readyok", flush=True)
        case ["ping", number]:
            print("pong", number, flush=True)
        case ["newgame", *words]:
            size = words[0] if words and words[0] != "seed" else "7x6x4"
            columns, rows, in_a_row = map(int, size.split("x"))
        case ["position", kind, *words]:
            board, disc = {}, "r"
            if kind == "fen":
                texts = words[0].split("/")[::-1]  # rows from the bottom
                cells = [re.sub(r"\d+", lambda empty: "." * int(empty[0]), text) for text in texts]
                columns, rows, in_a_row = len(cells[0]), len(cells), int(words[2])
                disc = words[1]
                for y, row in enumerate(cells):
                    board |= {(x, y): cell for x, cell in enumerate(row) if cell != "."}
            for move in words[words.index("moves") + 1 :] if "moves" in words else []:
                x = int(move) - 1
                board[x, height(x)] = disc
                disc = OTHER[disc]
        case ["go", *_]:
            print("bestmove", choose() + 1, flush=True)
        case ["quit"]:
            break
