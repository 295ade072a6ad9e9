"""The rating of Arya's chess player: tests, bounds, and the ladder from stored games."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("chess")

from fourlab.arena.statistics import elo_of
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting import figures
from fourlab.studies.arya import chess_rating
from fourlab.studies.arya.chess_rating import LINKS, binomial_tail, bound, upper_end
from fourlab.studies.claims import Answer, Claim, Estimate
from fourlab.studies.workbench import Part, Picture, Workbench

MATED = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"
SCORES = (0.0, 0.5, 0.9, 0.6, 0.8, 0.8, 0.8, 0.8, 0.7)
"""The share of games that the first player of a link wins."""
PROGRAM = (sys.executable, str(Path(__file__).parents[1] / "chess" / "rated_program.py"))
SIZE = {"direct": 100, "arya": 40, "improved": 40, "rungs": 40}


def stored_games(size: dict[str, int]) -> dict[str, dict[str, object]]:
    """Return games of all links with the shares of SCORES, as a workbench stores them."""
    games: list[dict[str, object]] = []
    for link, ((_, _, name), share) in enumerate(zip(LINKS, SCORES, strict=True)):
        for number in range(size[name]):
            # Spread over the pairs, so that these do not all end alike.
            won = (number * 7919) % size[name] < share * size[name]
            white_won = won == (number % 2 == 0)
            game = {"number": number, "start": MATED, "moves": "a1a8", "ending": "checkmate"}
            game |= {"link": link, "result": "1-0" if white_won else "0-1"}
            games.append({**game, "engine": "Fish 1", "elo": 1350})
    return {str(number): game for number, game in enumerate(games)}


def conduct(folder: Path, size: dict[str, int]) -> list[Part]:
    return list(chess_rating.conduct(Workbench(folder, "quick", size, 0, Threads(1))))


def test_without_an_engine_the_study_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourlab.chess.engine.find_program", lambda: None)
    (claim,) = conduct(tmp_path, SIZE)
    assert isinstance(claim, Claim)
    assert claim.faithful == (
        "not measured: stockfish is not installed (Debian: apt-get install stockfish)"
    )
    assert not claim.verdicts()


def test_the_ladder_gives_a_rating_with_two_verdicts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourlab.chess.engine.find_program", lambda: None)
    (tmp_path / "games.json").write_text(json.dumps(stored_games(SIZE)))
    parts = conduct(tmp_path, SIZE)
    by_name = {part.name: part for part in parts if isinstance(part, Claim)}
    rating = by_name["chess-rating"]
    assert isinstance(rating.faithful, Estimate)
    # Four rungs down at a score of 80 % each, then as strong as the last one; nearly, because the
    # direct games and those against random moves count as well.
    assert rating.faithful.value == pytest.approx(1350 - 4 * elo_of(0.8), abs=60)
    assert rating.faithful.low is not None
    assert rating.faithful.high is not None
    assert rating.faithful.low < rating.faithful.value < rating.faithful.high
    assert rating.faithful.n == 180
    assert rating.reproduced is not None
    assert rating.reproduced.answer == Answer.NONE, "500 Elo are more than the reported 142"
    assert isinstance(rating.corrected, Estimate)
    lead = by_name["chess-rating-random"].true
    assert lead is not None
    assert None not in (lead.p, lead.power, lead.low, lead.high)
    assert rating.true is None, "the improved player is not the one that was rated"
    assert "decides nothing" in rating.why
    assert str(by_name["chess-rating-direct"].faithful) == "0.0 / 100.0 / 0.0 % of 100"
    for picture in (part for part in parts if isinstance(part, Picture)):
        assert figures.render(picture.draw(), "svg").startswith(b"<svg")
    games = parts[-1]
    assert isinstance(games, Picture)
    assert len(games.data.rows) == sum(SIZE[name] for _, _, name in LINKS)


def test_losing_every_game_bounds_the_rating_from_above() -> None:
    claim = bound(0, 200, 1350)
    assert isinstance(claim.faithful, Estimate)
    assert upper_end(0, 200) == pytest.approx(1 - 0.025 ** (1 / 200))
    assert claim.faithful.value == pytest.approx(1350 + elo_of(upper_end(0, 200)))
    assert claim.reproduced is not None
    assert claim.reproduced.answer == Answer.CANNOT_TELL, "a bound cannot show a rating"
    few = bound(0, 10, 1350).reproduced
    assert few is not None
    assert few.answer == Answer.CANNOT_TELL
    many = bound(50, 100, 1350).reproduced
    assert many is not None
    assert many.answer == Answer.DIFFERS
    for verdict in (claim.reproduced, few, many):
        assert verdict.p is not None
        assert verdict.power is not None
        assert 0 < verdict.power < 0.1, "a difference of the scales is hardly ever noticed"


def test_tails_and_ends_of_binomial_shares() -> None:
    assert binomial_tail(0, 5, 0.3) == 1
    assert binomial_tail(5, 5, 0.5) == pytest.approx(1 / 32)
    assert binomial_tail(2, 3, 0.5) == pytest.approx(0.5)
    # Clopper and Pearson's interval of 3 of 10 is [0.0667, 0.6525].
    assert upper_end(3, 10) == pytest.approx(0.6525, abs=1e-4)
    assert upper_end(10, 10) == 1


def test_a_game_of_the_ladder_is_stored_with_the_engine() -> None:
    games = tuple(2 for _ in LINKS)
    link = LINKS.index(("50 % random", "75 % random", "rungs"))
    played = chess_rating._Games(PROGRAM, games, 1)(2 * link)
    assert (played["link"], played["number"]) == (link, 0)
    assert (played["engine"], played["elo"]) == ("First move 1.0", 1234)
    assert played["ending"]


def test_every_player_is_linked_to_the_engine_and_to_random_moves() -> None:
    linked = {chess_rating.ENGINE}
    for _ in LINKS:
        linked |= {
            name for one, other, _ in LINKS if {one, other} & linked for name in (one, other)
        }
    assert linked == {name for one, other, _ in LINKS for name in (one, other)}
    assert "random" in linked
