"""Chess by the textbook search; the rules are checked against python-chess's slow functions."""

import json
import warnings
from collections import Counter
from pathlib import Path

import chess
import numpy as np
import pytest

from fourlab.agent import Limit, Stop
from fourlab.agents.mcts.textbook import Edge
from fourlab.chess import uci
from fourlab.chess.game import (
    VALUES,
    Chess,
    ChessState,
    ChessWithCaptures,
    evaluate,
    mate_in_one,
    priors,
    profit,
)
from fourlab.chess.match import ChessGame, ChessMatch, Games, summarize
from fourlab.chess.players import PRESETS, ChessDecision, Searcher, player
from fourlab.chess.uci import Bounds, Engine
from fourlab.errors import UserError
from tests.promises import Report

MATES = {
    "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1": {"a1a8"},
    "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4": {"h5f7"},
    "rnbqkbnr/pppp1ppp/8/4p3/6P1/5P2/PPPPP2P/RNBQKBNR b KQkq - 0 2": {"d8h4"},
    "k7/2K5/8/8/8/8/8/1R6 w - - 0 1": {"b1a1"},
    "7k/P5pp/8/8/8/8/8/K7 w - - 0 1": {"a7a8q", "a7a8r"},
    "5rkr/5p1p/8/6N1/8/8/8/K7 w - - 0 1": set(),
}
"""Positions and all moves that mate in one."""
FEW_MOVES = 4
"""Choosing from the first few moves only makes positions repeat."""
FEW_PIECES = (
    "4k3/8/8/8/8/8/8/R3K2r w - - 0 1",
    "8/8/4k3/8/8/3N1K2/8/6b1 b - - 90 80",
    "k7/8/8/8/8/8/6P1/6K1 w - - 0 1",
)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def ending_of(board: chess.Board) -> str:
    """Return how a game has ended according to python-chess."""
    if board.is_checkmate() or board.is_stalemate():
        return "checkmate" if board.is_checkmate() else "stalemate"
    if board.is_insufficient_material():
        return "insufficient material"
    if board.is_fifty_moves():
        return "fifty moves"
    return "threefold repetition" if board.is_repetition(3) else ""


def test_endings_agree_with_python_chess() -> None:
    chance = rng()
    endings = set()
    for fen in (*FEW_PIECES * 8, *[chess.STARTING_FEN] * 4):
        board = chess.Board(fen)
        state = ChessState.of(fen)
        while not state.ending:
            assert not ending_of(board)
            assert set(state.moves) == set(board.legal_moves)
            move = state.moves[int(chance.integers(min(len(state.moves), FEW_MOVES)))]
            board.push(move)
            state = state.play(move)
        assert state.ending == ending_of(board)
        assert state.result == board.result(claim_draw=True)
        endings.add(state.ending)
    assert endings >= {"threefold repetition", "insufficient material", "fifty moves"}


def test_threefold_repetition_is_a_draw() -> None:
    there_and_back = ["Nf3", "Nf6", "Ng1", "Ng8"]
    assert ChessState.of(moves=there_and_back * 2).ending == "threefold repetition"
    assert ChessState.of(moves=(there_and_back * 2)[:-1]).ending == ""
    with_castling = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"
    kings_walk = ["Ke2", "Ke7", "Ke1", "Ke8"] * 2  # loses the right to castle
    assert ChessState.of(with_castling, kings_walk).ending == ""
    repeated = ChessState.of(with_castling, [*kings_walk, "Ke2", "Ke7"])
    assert repeated.ending == "threefold repetition"


def test_fifty_moves_without_a_capture_or_a_pawn_move_are_a_draw_but_a_mate_is_a_mate() -> None:
    assert ChessState.of("7k/8/8/8/8/8/6R1/K7 w - - 98 90", ["Rg3"]).ending == ""
    assert ChessState.of("7k/8/8/8/8/8/6R1/K7 w - - 99 90", ["Rg3"]).ending == "fifty moves"
    assert ChessState.of("6k1/5ppp/8/8/8/8/8/R5K1 w - - 99 90", ["Ra8"]).ending == "checkmate"


def test_a_stalemate_is_a_draw_and_a_mate_a_win() -> None:
    stalemate = ChessState.of("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")
    mate = ChessState.of(moves=["f3", "e5", "g4", "Qh4"])
    assert (stalemate.ending, stalemate.result) == ("stalemate", "1/2-1/2")
    assert [Chess().score(stalemate, side) for side in (0, 1)] == [0, 0]
    assert [Chess().score(mate, side) for side in (0, 1)] == [-1, 1]
    assert Chess().score(ChessState.of(), 0) is None


def test_castling_en_passant_and_promotion_are_moves_like_any_other() -> None:
    castled = ChessState.of("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", ["O-O", "e8c8"])
    assert castled.board.board_fen() == "2kr3r/8/8/8/8/8/8/R4RK1"
    taken = ChessState.of(moves=["e4", "a6", "e5", "d5", "exd6"])
    assert taken.board.piece_at(chess.D5) is None
    promoting = ChessState.of("7k/P7/8/8/8/8/8/K7 w - - 0 1")
    assert {move.uci() for move in promoting.moves} >= {"a7a8q", "a7a8r", "a7a8b", "a7a8n"}
    assert promoting.play(promoting.read("a8=N")).board.piece_type_at(chess.A8) == chess.KNIGHT


@pytest.mark.parametrize(
    "fen",
    [
        chess.STARTING_FEN,
        "4k3/8/8/8/1b6/8/3N4/4K2R w K - 0 1",
        "4k3/8/8/8/8/4r3/8/R3K2R w KQ - 0 1",
        "7k/P7/8/8/8/8/8/K7 w - - 0 1",
    ],
)
def test_random_moves_are_all_the_legal_moves_and_equally_likely(fen: str) -> None:
    state = ChessState.of(fen)
    chance = rng()
    drawn = Counter(
        Chess().random_move(state, lambda n: int(chance.integers(n)))
        for _ in range(200 * len(state.moves))
    )
    assert set(drawn) == set(chess.Board(fen).legal_moves)
    assert all(120 < times < 290 for times in drawn.values())


@pytest.mark.parametrize("text", ["", "e2e5", "Nf6", "0000", "--", "castle", "e2e4q"])
def test_illegal_moves_are_refused(text: str) -> None:
    with pytest.raises(UserError, match="is not a legal move here"):
        ChessState.of().read(text)


@pytest.mark.parametrize(
    "fen",
    [
        "",
        "x",
        "8/8/8/8/8/8/8/8 w - - 0 1",
        "kk6/8/8/8/8/8/8/K7 w - - 0 1",
        "k7/8/8/8/8/8/8/KR6 b - - x 1",
    ],
)
def test_illegal_positions_are_refused(fen: str) -> None:
    with pytest.raises(UserError, match="is not a"):
        ChessState.of(fen)


@pytest.mark.parametrize(
    ("fen", "move", "gain"),
    [
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "exd5", 1),
        ("4k3/8/4p3/3q4/4P3/8/8/4K3 w - - 0 1", "exd5", 8),  # a queen for a pawn
        ("4k3/8/4p3/3p4/8/8/8/3QK3 w - - 0 1", "Qxd5", -8),  # a pawn for a queen
        ("4k3/8/8/3p4/8/8/8/3QK3 w - - 0 1", "Qd4", 0),
        ("7k/P7/8/8/8/8/8/K7 w - - 0 1", "a8=Q", 8),
        ("r6k/1P6/8/8/8/8/8/K7 w - - 0 1", "bxa8=Q", 13),
        ("1r5k/P7/8/8/8/8/8/K7 w - - 0 1", "a8=Q", -1),  # it is taken: a pawn is lost
        ("7k/8/8/8/8/8/1q6/K7 w - - 0 1", "Kxb2", 9),
    ],
)
def test_the_profit_of_a_move(fen: str, move: str, gain: int) -> None:
    state = ChessState.of(fen)
    assert profit(state.board, state.read(move)) == gain


def test_the_evaluation_is_the_material_of_the_side_to_move() -> None:
    chance = rng()
    for _ in range(20):
        state = ChessState.of()
        for _ in range(60):
            if not state.ending:
                state = state.play(
                    ChessWithCaptures().rollout_move(state, lambda n: int(chance.integers(n)))
                )
        sides = {state.board.turn: 1, not state.board.turn: -1}
        lead = sum(
            VALUES[piece.piece_type] * sides[piece.color]
            for piece in state.board.piece_map().values()
        )
        assert evaluate(state) == pytest.approx(lead / (abs(lead) + 5))


def test_profitable_moves_have_higher_priors_and_are_played_in_rollouts() -> None:
    state = ChessState.of("4k3/8/8/3n1p2/4P3/8/8/4K3 w - - 0 1")
    prior = dict(zip(state.moves, priors(state, state.moves), strict=True))
    assert sum(prior.values()) == pytest.approx(1)
    takes_knight, takes_pawn, quiet = (state.read(move) for move in ("exd5", "exf5", "e5"))
    assert prior[takes_knight] > prior[takes_pawn] > prior[quiet] > 0
    assert ChessWithCaptures().rollout_move(state, lambda n: 0) == takes_knight


@pytest.mark.parametrize("fen", MATES)
def test_mates_in_one_are_found(fen: str) -> None:
    state = ChessState.of(fen)
    mate = mate_in_one(state)
    assert (mate.uci() if mate else None) in (MATES[fen] or {None})
    for name in ("improved", "arya") if MATES[fen] else ():
        decision = player(name).decide(state, Limit(), rng())
        assert decision.move.uci() in MATES[fen]
        assert decision.value == 1


def test_a_mate_in_two_is_proven() -> None:
    state = ChessState.of("7k/8/8/8/8/8/R7/1R5K w - - 0 1")  # the rooks take turns
    decision = player("improved").decide(state, Limit(simulations=2000), rng())
    assert decision.value == 1
    assert decision.simulations < 2000


def test_the_improved_player_takes_what_hangs_and_saves_what_is_attacked() -> None:
    for fen, move in (
        ("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1", "e4d5"),
        ("8/8/8/8/8/k7/2p5/1B5K w - - 0 1", "b1c2"),  # the draw, or black gets a queen
    ):
        assert player("improved").decide(ChessState.of(fen), Limit(), rng()).move.uci() == move


def test_a_proven_draw_is_better_than_a_bad_move_and_worse_than_a_good_one() -> None:
    improved = PRESETS["improved"]
    tie_breaks = rng().random(3)
    assert isinstance(improved, Searcher)
    a, b, c = ChessState.of().moves[:3]
    draw = Edge(a, visits=90, total=30.0, proven=0)
    lost = Edge(b, visits=80, total=40.0, proven=-1)
    for total, chosen in ((1.0, c), (-1.0, a)):
        assert (
            improved.best([draw, lost, Edge(c, visits=5, total=total)], tie_breaks).move == chosen
        )
    assert improved.best([lost, draw], tie_breaks) is draw
    assert improved.best([draw, lost, Edge(c, visits=1, total=1.0, proven=1)], tie_breaks).move == c


def test_a_winning_side_avoids_stalemate() -> None:
    state = ChessState.of("7k/8/5KQ1/8/8/8/8/8 w - - 0 1")
    for seed in range(5):
        after = state.play(player("improved").decide(state, Limit(), rng(seed)).move)
        assert after.ending in ("", "checkmate")


@pytest.mark.parametrize("name", PRESETS)
def test_the_same_seed_gives_the_same_decision_with_and_without_a_callback(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fourlab.chess.players.REPORT_SECONDS", 0.0)
    reported: list[ChessDecision] = []
    state = ChessState.of(moves=["e4", "e5"])
    limit = Limit(simulations=20)
    alone = player(name).decide(state, limit, rng(7))
    watched = player(name).decide(state, limit, rng(7), reported.append)
    assert (alone.move, alone.line, alone.value) == (watched.move, watched.line, watched.value)
    assert alone.move in state.moves
    assert len(reported) == (0 if name == "random" else 20)


def test_searches_end_at_the_first_bound() -> None:
    improved = PRESETS["improved"]
    state = ChessState.of()
    stop = Stop()
    assert improved.decide(state, Limit(), rng()).simulations == 400
    assert improved.decide(state, Limit(simulations=30, seconds=100), rng()).simulations == 30
    assert improved.decide(state, Limit(nodes=25), rng()).simulations == 25
    assert improved.decide(state, Limit(seconds=0.05, simulations=10**9), rng()).simulations < 10**6
    assert improved.decide(state, Limit(seconds=0.05), rng()).move in state.moves
    assert len(improved.decide(state, Limit(depth=2, simulations=10**9), rng()).line) == 2
    stop.set()
    stopped = improved.decide(state, Limit(stop=stop), rng())
    assert (stopped.simulations, stopped.value) == (0, None)
    assert stopped.move in state.moves


def test_a_match_swaps_colours_and_every_pair_has_an_opening_of_its_own() -> None:
    match = ChessMatch(("random", "random"), games=6, seed=3)
    games = [match(number) for number in range(6)]
    assert [game.start for game in games[::2]] == [game.start for game in games[1::2]]
    assert len({game.start for game in games}) == 3
    for game in games:
        end = ChessState.of(game.start, game.moves.split())
        assert (end.result, end.ending) == (game.result, game.ending)
        assert ChessState.of(game.start).board.ply() == 4
    assert match(5) == games[5]


def test_the_summary_is_the_first_players_and_counts_pairs() -> None:
    # In games with odd numbers the first player is black.
    results = ["1-0", "0-1", "1-0", "1-0", "1/2-1/2", "0-1", "0-1"]
    games = [
        ChessGame(i, chess.STARTING_FEN, "e2e4 e7e5", result, "checkmate")
        for i, result in enumerate(results)
    ]
    summary = summarize(ChessMatch(("improved", "random"), games=8), games)
    assert [summary[name]["count"] for name in ("wins", "draws", "losses")] == [4, 1, 2]
    assert summary["counts"] == [0, 0, 1, 1, 1]  # the last game has no partner yet
    assert summary["as_white"]["wins"]["count"] == summary["as_black"]["wins"]["count"] == 2
    assert summary["elo"]["why"] == "too few pairs: 10 are needed"


def test_games_are_kept_in_a_file_and_a_cut_off_line_is_dropped(tmp_path: Path) -> None:
    match = ChessMatch(("random", "random"), games=4)
    file = tmp_path / "games.jsonl"
    kept = Games(match, file)
    played = [match(number) for number in range(3)]
    for game in played:
        kept.add(game)
    assert Games(match, file).games == played
    file.write_text(file.read_text()[:-5])
    again = Games(match, file)
    assert again.games == played[:2]
    again.add(played[2])
    assert Games(match, file).games == played
    assert [json.loads(line)["number"] for line in file.read_text().splitlines()[1:]] == [0, 1, 2]


def test_a_file_of_another_match_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "games.jsonl"
    Games(ChessMatch(("random", "random"), seed=1), file)
    with pytest.raises(UserError, match="does not hold the games"):
        Games(ChessMatch(("random", "random"), seed=2), file)
    file.write_text("something\nelse\n")
    with pytest.raises(UserError, match="cannot read chess games"):
        Games(ChessMatch(("random", "random")), file)
    for empty in ("", "cut off"):
        file.write_text(empty)
        with pytest.raises(UserError, match="does not hold the games"):
            Games(ChessMatch(("random", "random")), file)


@pytest.mark.parametrize(
    ("words", "white", "simulations", "limit"),
    [
        ("", True, 0, Limit()),
        ("", True, 70, Limit(simulations=70)),
        ("nodes 500", True, 70, Limit(simulations=70)),
        ("nodes 500", True, 0, Limit(simulations=500)),
        ("movetime 1000", True, 0, Limit(seconds=0.95)),
        ("movetime 10", True, 0, Limit(seconds=0.005)),
        ("movetime 0", True, 0, Limit(seconds=0.001)),
        ("wtime 60000 btime 30000 winc 0 binc 500", True, 0, Limit(seconds=1.95)),
        ("wtime 60000 btime 30000 winc 0 binc 500", False, 0, Limit(seconds=1.45)),
        ("wtime 1000 movestogo 1", True, 0, Limit(seconds=0.45)),
        ("wtime -50 btime 10", False, 0, Limit(seconds=0.001)),
        ("depth 3 mate 2 ponder searchmoves e2e4 d2d4", True, 0, Limit(depth=3)),
        ("infinite", True, 70, Limit(simulations=10**12)),
    ],
)
def test_go_is_translated_to_a_limit(
    words: str, white: bool, simulations: int, limit: Limit
) -> None:
    stop = Stop()
    actual = Bounds.of(words.split()).limit(white, simulations, stop)
    assert actual.stop is stop
    assert actual.seconds == pytest.approx(limit.seconds)
    assert (actual.simulations, actual.depth) == (limit.simulations, limit.depth)


def said(*lines: str) -> list[str]:
    """Return the lines that the engine answers to some lines."""
    texts: list[str] = []
    Engine(texts.append).serve(lines)
    return [line for text in texts for line in text.splitlines()]


def test_the_engine_greets_and_ignores_unknown_commands() -> None:
    greeting = said(
        "uci",
        "isready",
        "",
        "xyzzy",
        "debug on",
        "ponderhit",
        "register later",
        "stop",
        "quit",
        "uci",
    )
    assert greeting[0].startswith("id name Fourlab")
    assert greeting[-2:] == ["uciok", "readyok"]
    assert [line.split()[2] for line in greeting if line.startswith("option")] == [
        "Preset",
        "Simulations",
        "Seed",
    ]


def test_searchmoves_restricts_the_search() -> None:
    assert Bounds.of(["searchmoves", "a2a3", "h2h3", "depth", "2"]) == Bounds(
        depth=2, searchmoves=("a2a3", "h2h3")
    )
    assert said("go nodes 40 searchmoves a2a3")[-1] == "bestmove a2a3"
    assert said("go searchmoves h2h3 a2a3 nodes 40")[-1] in ("bestmove a2a3", "bestmove h2h3")
    back_rank_mate = "position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"
    assert said(back_rank_mate, "go nodes 40 searchmoves g1g2")[-1] == "bestmove g1g2"
    assert said("go nodes 40 searchmoves a1a8")[-1] in {
        f"bestmove {move.uci()}" for move in ChessState.of().moves
    }


def test_the_engine_ends_soon_after_its_input_or_if_its_output_is_closed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(uci, "SECONDS_TO_ANSWER", 0.2)
    assert said("go nodes 100000000")[-1].startswith("bestmove ")

    def say(text: str) -> None:
        raise BrokenPipeError

    with warnings.catch_warnings():
        warnings.simplefilter("error", pytest.PytestUnhandledThreadExceptionWarning)
        Engine(say).serve(["go nodes 10"])


@pytest.mark.soak
def test_the_improved_player_is_far_stronger_than_aryas(figure: Report) -> None:
    planned = ChessMatch(("improved", "arya"), 10)
    games = [planned(number, None) for number in range(planned.games)]
    figure("score, 0.85 being 300 Elo", summarize(planned, games)["score"], 0.85, at_least=True)


def test_the_engine_reports_errors_and_continues() -> None:
    for line in (
        "position fen nonsense",
        "position startpos moves e2e5",
        "setoption name Preset value stockfish",
        "setoption name Simulations value many",
        "setoption name Seed value -1",
    ):
        error, *rest = said(line, "go nodes 5")
        assert error.startswith("info string ")
        assert rest[-1].startswith("bestmove ")


def test_positions_are_read_in_every_form() -> None:
    fen = "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1"
    for line, legal in (
        ("position startpos", "e2e4"),
        ("position startpos moves", "e2e4"),
        ("position startpos moves e2e4 c7c5", "g1f3"),
        (f"position fen {fen}", "a1a8"),
        (f"position fen {fen} moves", "a1a8"),
        (f"position fen {fen} moves a1b1 h7h6", "b1b8"),
    ):
        engine = Engine(print)
        engine.execute(line.split())
        assert engine.state.board.is_legal(chess.Move.from_uci(legal)), line


def test_the_engine_answers_every_go_once() -> None:
    lines = [
        "go nodes 5",
        "position startpos moves e2e4",
        "go infinite",
        "go depth 1",
        "go infinite",
        "stop",
        "stop",
        "go infinite",
    ]
    answers = [line for line in said(*lines) if line.startswith("bestmove")]
    assert len(answers) == 5
    assert chess.Move.from_uci(answers[0].split()[1]) in chess.Board().legal_moves
    board = chess.Board()
    board.push_uci("e2e4")
    assert all(
        chess.Move.from_uci(answer.split()[1]) in board.legal_moves for answer in answers[1:]
    )


def test_the_engine_reports_mates_and_has_no_move_after_one() -> None:
    info, answer = said("position fen 6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "go infinite")
    assert "score mate 1 pv a1a8" in info
    assert answer == "bestmove a1a8"
    assert said("position startpos moves f2f3 e7e5 g2g4 d8h4", "go movetime 100") == [
        "bestmove 0000"
    ]
    drawn = "position startpos moves" + " g1f3 g8f6 f3g1 f6g8" * 2
    assert said(drawn, "go nodes 20")[-1].startswith("bestmove ")  # nobody has claimed the draw


def test_the_engine_is_reproducible_by_its_seed() -> None:
    def answer(seed: int, *lines: str) -> str:
        return said(
            "setoption name Simulations value 15", f"setoption name Seed value {seed}", *lines, "go"
        )[-1]

    assert answer(9) == answer(9) == answer(9, "ucinewgame")
    assert len({answer(seed) for seed in range(8)}) > 1
