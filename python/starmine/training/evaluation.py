"""Evaluation of policies while they are trained."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from starmine._core import StarmineError, Variant, shows_own_hand
from starmine._util.durable import replace_file
from starmine._util.numbers import check_number
from starmine.evaluation.evaluation import Evaluation
from starmine.evaluation.report import csv_of_table
from starmine.evaluation.run import evaluate
from starmine.games.games import Games
from starmine.games.play import play_games
from starmine.games.players import Player
from starmine.games.seeds import EVALUATION_SEED
from starmine.look import replay_html
from starmine.torch import ActorCritic, ModulePolicy
from starmine.training.games import LEARNER, PROGRESS_SEED, Partner


def scored_zero(variant: Variant) -> Variant:
    """The rules by which a lost game scores 0, as evaluations have it."""
    return Variant(**variant.parameters() | {"lost_game_score": "zero"})


def network_player(network: ActorCritic, sampled: bool = False) -> ModulePolicy:
    """The network as a player for `play_games`, even if its encoder shows the own hand.

    Args:
        network: the policy.
        sampled: sample the actions; else the most probable one is played.
    """
    return ModulePolicy(network, sampled=sampled, cheats=shows_own_hand(network.encoder))


def progress_games(
    player: Player,
    variant: Variant,
    games: int,
    partners: Sequence[Partner] = (),
    *,
    seats: Sequence[int] | None = None,
    seed: int = PROGRESS_SEED,
) -> Games:
    """Play the games that measure a run's progress by `play_games`: self-play, or one seat of games with partners.

    Calls that differ only in `player` deal the same decks. A lost game scores 0, and `fireworks` has the points that it
    kept.

    Args:
        player: as `play_games` takes it.
        variant: the rules; what a lost game scores does not matter.
        games: number of games in all. With partners each of them gets the same number for each seat: the games are
            rounded down to a multiple, or up to one game each.
        partners: each holds all other seats in turn; empty for self-play.
        seats: which the player holds in turn when it has partners; None for all.
        seed: of the decks.

    Raises:
        TypeError: `games` is not an integer.
        StarmineError: `seats` is empty, or as `play_games`.
        BotError: as `play_games`.
    """
    games = check_number("games", games, 1)
    if seats is not None and not seats:
        raise StarmineError("seats is empty: expected at least one seat")
    rules, all_seats = scored_zero(variant), range(variant.players)
    tables = [
        [player if place == seat else partner.player for place in all_seats]
        for partner in partners
        for seat in (all_seats if seats is None else seats)
    ] or [[player] * variant.players]
    count = max(1, games // len(tables))
    parts = [play_games(table, count, seed, rules, first_game=place * count) for place, table in enumerate(tables)]
    return Games.concatenate(parts)


def show_game(
    player: Player,
    variant: Variant,
    seed: int = PROGRESS_SEED,
    *,
    replay: Path | None = None,
    partner: Partner | None = None,
) -> None:
    """Print one game: a line a turn, with the table after it.

    Args:
        player: as `play_games` takes it.
        variant: the rules.
        seed: of the game.
        replay: where to write the game as a page to step through; None for no page.
        partner: holds all seats but the first; None for the player in all seats.
    """
    rules = scored_zero(variant)
    others = Partner(LEARNER, player) if partner is None else partner
    seats = [Partner(LEARNER, player)] + [others] * (variant.players - 1)
    played = play_games([seat.player for seat in seats], 1, seed, rules)
    state = rules.new_game(seed=seed)
    print(f"\nOne game, played greedily by {LEARNER}{'' if partner is None else f' with {partner.name}'}:\n{state}\n")
    for action in played.actions.tolist():
        state.apply(action)
        stacks = " ".join(map(str, state.fireworks))
        tokens = f"{state.information_tokens}i {state.life_tokens}l {state.deck_size:2}d"
        hands = " | ".join(" ".join(map(str, hand)) for hand in state.hands)
        print(f"{state.length:3}  {state.history[-1]!s:46} {state.score:2} = {stacks}  {tokens}  {hands}")
    print(f"\n{state.ending}, score {state.score} of {variant.max_score}")
    if replay is not None:
        replace_file(replay, replay_html(state, names=[seat.name for seat in seats], title="A greedy game").encode())
        print(f"to step through it, open {replay}")


def write_partner_table(
    path: Path,
    player: Player,
    variant: Variant,
    games: int,
    partners: Sequence[Partner],
    held_out: Sequence[Partner],
) -> Evaluation | None:
    """Evaluate a player with each partner by `starmine.evaluate`, print the table and write it as CSV.

    The file is as the `table.csv` of `starmine eval`. A lost game scores 0, and the decks are those of `starmine eval`,
    which no training deals.

    Args:
        path: of the table.
        player: the policy, as `play_games` takes it.
        variant: the rules; what a lost game scores does not matter.
        games: number of games with each partner. With two players each deck is played in both seatings, so an odd
            number is rounded down, and 1 up to 2.
        partners: of training.
        held_out: those that training never met.

    Returns:
        The evaluation; None without partners, and nothing is written.
    """
    if not (partners or held_out):
        return None
    evaluation = evaluate(
        {LEARNER: player},
        max(1, games // 2) if variant.players == 2 else games,
        partners={partner.name: partner.player for partner in partners} or (),
        hold_out={partner.name: partner.player for partner in held_out},
        variant=scored_zero(variant),
        seed=EVALUATION_SEED,
        figure=False,
    )
    replace_file(path, csv_of_table(evaluation).encode())
    print(f"\n{evaluation}\n\nthe table is in {path}")
    return evaluation
