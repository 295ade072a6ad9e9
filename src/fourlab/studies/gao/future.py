"""Gao's future work, carried out: stronger opponents and better evaluation."""

from collections.abc import Iterator

from fourlab.arena.results import Results
from fourlab.arena.tally import Tally
from fourlab.arena.tournament import Player, Tournament
from fourlab.reporting import figures
from fourlab.studies.ablation import gains
from fourlab.studies.claims import Claim, Estimate, Source, Value, Verdict, share
from fourlab.studies.trainings import ONE_TRAINING
from fourlab.studies.verdicts import larger_share
from fourlab.studies.workbench import Part, Picture, Table, Workbench

BASE, BEST = "the report's search", "+ wins proven"
NETWORK = "a network judges"
STEPS = {
    BASE: "gao:simulations={}",
    "the same, 10 × simulations": "gao:simulations={}0",
    "two players in the tree": "gao:simulations={},opponent=player",
    "+ rollouts win and block": "gao:simulations={},opponent=player,rollouts=wins-and-blocks",
    BEST: "mcts:simulations={}",
    "+ 10 × simulations": "mcts:simulations={}0",
    NETWORK: "guided:simulations={}",
}
"""The players: improvements of the report's search, where + adds to the step before.

The number of simulations is the same for all unless the name says otherwise. The names are stored
with the games.
"""
SLUGS = {
    "the same, 10 × simulations": "more-simulations",
    "two players in the tree": "two-players",
    "+ rollouts win and block": "rollouts",
    BEST: "proofs",
    "+ 10 × simulations": "proofs-more-simulations",
    NETWORK: "network",
}
"""The steps in the names of claims."""
WHY = {
    "the same, 10 × simulations": "a deeper search, but the opponent in the tree still plays "
    "at random",
    "two players in the tree": "the opponent in the tree searches, too",
    "+ rollouts win and block": "a heuristic in the rollouts",
    BEST: "the search also proves wins and losses, and plays the most visited column",
    "+ 10 × simulations": "a deeper search at ten times the cost",
    NETWORK: "a learned evaluation in place of rollouts",
}
POINTS = 20
"""Margin of shares of games, in percentage points."""
DEPTHS = (2, 4, 6)
"""Search depths of the minimax opponents, in plies."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Play a round robin, with every opening played by both colours."""
    steps = [
        Player(spec.format(bench.size["simulations"]), name=name) for name, spec in STEPS.items()
    ]
    # Ties at random, else minimax would repeat its games.
    minimax = [
        Player(f"minimax:depth={depth},ties=random", name=f"minimax {depth}") for depth in DEPTHS
    ]
    tournament = Tournament(
        (*steps, *minimax), openings="random:4", rounds=bench.size["rounds"], seed=bench.seed
    )
    # Counted as in any tournament, with pairs of games as units.
    results = Results(tournament)
    for game in bench.play("games", tournament):
        results.add(game)
    opponents = [player.label for player in minimax]
    yield from _gains(results, opponents)
    ratings = {rating.name: rating for rating in results.ratings(bench.seed)}
    # Best rating first, in rows and columns.
    names = list(ratings)
    scores = {
        (one, other): score
        for one in names
        for other in names
        if one != other and (score := results.share(one, other).score) is not None
    }
    head = ("player", "games", "score", "Elo [95 %]", *(f"against {name}" for name in opponents))
    rows = [
        (
            name,
            rating.games,
            _percent(rating.score),
            str(rating.elo),
            *(_percent(scores.get((name, opponent))) for opponent in opponents),
        )
        for name, rating in ratings.items()
    ]
    title = f"Round robin, {bench.size['simulations']} simulations per move"
    table = Table(title, head, tuple(rows))
    yield table
    caption = "Score of each row's player against each column's player, in percent"
    yield Picture("cross-table", caption, lambda: figures.cross_table(names, scores), table)


def _gains(results: Results, opponents: list[str]) -> Iterator[Part]:
    """Compare results against minimax, and each step with the report's search."""
    for opponent in opponents:
        # Faithful and corrected, as the table of claims names them.
        base, best = (results.share(name, opponent) for name in (BASE, BEST))
        yield Claim(
            f"future-{opponent.replace(' ', '-')}",
            f"games won against {opponent}; the better search wins more",
            "",
            Source.OURS,
            faithful=share(base.wins, base.games),
            corrected=share(best.wins, best.games),
            true=larger_share(best.wins, best.games, base.wins, base.games, POINTS),
            labels={"faithful": "the report's search", "corrected": "with all steps but networks"},
            why="all steps but networks are a two-player tree, rollouts that win and block, and "
            "proofs",
        )
    rows = []
    for name, why in WHY.items():
        # Direct games only.
        against = results.share(name, BASE)
        tally = results.tally(name, BASE)
        yield Claim(
            f"future-gain-{SLUGS[name]}",
            f"gain over the report's search: {name}",
            "",
            Source.OURS,
            corrected=gain(tally),
            true=None if name == NETWORK else stronger(tally),
            why=ONE_TRAINING if name == NETWORK else "",
            labels={"corrected": "gain"},
        )
        won = str(share(against.wins, against.games))
        rows.append((name, why, won, against.draws, str(gain(tally))))
    head = ("search", "what it changes", "won", "drawn", "gain")
    yield Table("Direct games against the report's search", head, tuple(rows))


def gain(tally: Tally) -> Value:
    """Return the lead in Elo from the pairs of games that two players played with each other.

    The difference of their ratings would not do: its interval cannot be derived from those of the
    two ratings, which are relative to the mean of all players.
    """
    elo = tally.elo()
    if elo.value is None:
        return f"no Elo: {elo.why}"
    games = tally.units * tally.games_per_unit
    # A score whose interval reaches 0 or 1 is unbounded in Elo.
    ends = ["no bound" if end is None else f"{end:.0f}" for end in (elo.low, elo.high)]
    note = f"interval [{', '.join(ends)}]" if "no bound" in ends else ""
    return Estimate(elo.value, elo.low, elo.high, games, unit="Elo", digits=0, note=note)


def stronger(tally: Tally) -> Verdict:
    """Test the claim that the first player is stronger, as the ablations test what a fix gains."""
    return gains(tally)


def _percent(score: float | None) -> str:
    return "" if score is None else f"{100 * score:.0f} %"
