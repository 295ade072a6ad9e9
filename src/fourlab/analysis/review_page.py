"""The review of a game as one HTML file: win chances, the worst mistakes, every move."""

from collections.abc import Iterator
from html import escape

from fourlab.analysis.review import Move, Review
from fourlab.arena.tables import percent
from fourlab.game.drawing import svg
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW
from fourlab.reporting import figures
from fourlab.reporting.page import NO_FIGURES, page, table, within_page

MOST_BOARDS = 6
"""Number of mistakes shown with a board, worst first."""
# Moves are one long word to a browser, which must be allowed to break it.
STYLE = """<style>
.boards { display: flex; flex-wrap: wrap; gap: 1rem; } .boards figure { width: 15rem; margin: 0; }
.boards svg { width: 100%; height: auto; } figcaption { font-size: .9rem; }
p { overflow-wrap: anywhere; }
</style>"""


def review_page(review: Review) -> str:
    """Return the whole page."""
    title = f"Review: {review.standings[-1]}"
    heading = f"<h1>{escape(title)}</h1>"
    return page(title, [STYLE, heading, *_game(review), *_mistakes(review), *_moves(review)])


# The caller may have read names and positions from anywhere: every text is escaped here or by
# `table`; only drawings are inserted as they are.


def _game(review: Review) -> Iterator[str]:
    data = review.to_dict()
    start = f" from {data['start']}" if data["start"] else ""
    yield f"<p>{escape(data['board'])}{escape(start)}: {escape(data['moves']) or 'no moves'}</p>"
    if not review.is_complete:
        yield (
            "<p>Not every position could be proven in the time given; "
            "what is not proven is estimated.</p>"
        )
    sides = [(SIDE_NAMES[side], review.accuracy(side)) for side in (RED, YELLOW)]
    rows = [
        (name, percent(side.accuracy), side.moves, percent(side.kept), percent(side.best))
        for name, side in sides
    ]
    yield table(("side", "accuracy", "moves judged", "value kept", "exactly best"), rows)
    yield f"<figure>{_chances(review)}</figure>" if figures.can_draw() else NO_FIGURES


def _chances(review: Review) -> str:
    """Return the figure of red's win chance over the plies of the game."""
    return within_page(figures.render(review.plot(), "svg").decode())


def _mistakes(review: Review) -> Iterator[str]:
    if review.mistakes:
        yield "<h2>The worst mistakes</h2>"
        boards = "".join(_board(move) for move in review.mistakes[:MOST_BOARDS])
        yield f'<div class="boards">{boards}</div>'


def _board(move: Move) -> str:
    caption = f"Move {move.number}, {SIDE_NAMES[move.position.to_move]}: {move}."
    return f"<figure>{svg(move.position)}<figcaption>{escape(caption)}</figcaption></figure>"


def _moves(review: Review) -> Iterator[str]:
    if review.moves:
        yield "<h2>Every move</h2>"
        rows = [
            (
                move.number,
                SIDE_NAMES[move.position.to_move],
                move.column + 1,
                move.category.value,
                str(before),
                str(move),
            )
            # There is one standing more than moves, the last.
            for move, before in zip(review.moves, review.standings, strict=False)
        ]
        yield table(("move", "side", "column", "", "before it", "what it did"), rows)
