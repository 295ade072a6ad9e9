"""A whole engine for the protocol of docs/engine-protocol.md: wins if it can, else blocks, else plays near the centre."""

import re
import sys


def makes_line(board, x, y, disc):
    """Whether the disc, dropped there, makes a line: count its like on both sides of it, in four directions."""

    def run(right, up):  # counts one too many
        return next(n for n in range(1, 99) if board.get((x + n * right, y + n * up)) != disc)

    return any(run(*way) + run(-way[0], -way[1]) > in_a_row for way in ((1, 0), (0, 1), (1, 1), (1, -1)))


columns, rows, in_a_row, board, disc = 7, 6, 4, {}, "r"
for line in sys.stdin:
    match line.split():
        case ["c4i"]:
            print("id name example in Python\nid author Fourlab\nc4iok", flush=True)
        case ["isready"] | ["ping", _] as words:
            print("readyok" if words[0] == "isready" else "pong", *words[1:], flush=True)
        case ["newgame", *words]:
            columns, rows, in_a_row = map(int, words[0].split("x")) if words[:1] not in ([], ["seed"]) else (7, 6, 4)
        case ["position", *words]:  # the board is a dictionary: (column, row from the bottom) to r or y
            board, disc = {}, words[2] if words[0] == "fen" else "r"
            for y, text in enumerate(words[1].split("/")[::-1] if words[0] == "fen" else []):
                cells = re.sub(r"\d+", lambda n: "." * int(n[0]), text)
                columns, rows, in_a_row = len(cells), y + 1, int(words[3])
                board |= {(x, y): cell for x, cell in enumerate(cells) if cell in "ry"}
            for x in (int(word) - 1 for word in (words[words.index("moves") + 1 :] if "moves" in words else [])):
                board[x, sum(column == x for column, _ in board)], disc = disc, "yr"["ry".index(disc)]
        case ["go", *_]:
            tops = [sum(column == x for column, _ in board) for x in range(columns)]
            legal = sorted((x for x in range(columns) if tops[x] < rows), key=lambda x: abs(2 * x - columns + 1))
            good = [x for who in (disc, "yr"["ry".index(disc)]) for x in legal if makes_line(board, x, tops[x], who)]
            print("bestmove", (good or legal)[0] + 1, flush=True)
        case ["quit"]:
            break
