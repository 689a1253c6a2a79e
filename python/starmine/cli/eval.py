"""`starmine eval`: self-play and cross-play of bots, and play with partners."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Annotated, Any

from tyro.conf import Positional, arg

from starmine._core import StarmineError, Variant, _Player, bots, policies
from starmine.cli import player_files
from starmine.cli.options import INTERRUPTED, PRESETS, Command, Integer, Quiet, Threads, rules_of_text
from starmine.evaluation import evaluate
from starmine.games.player_texts import names_player, own_policy, player_of_text, short_name
from starmine.games.seeds import EVALUATION_SEED
from starmine.games.variants import FORM

FAILED = 1  # exit status where no game of a pairing could be played


@dataclass(kw_only=True)
class Eval(Command):
    """Play bots with themselves and with each other, and print the matrix of mean scores.

    With two players, each pairing is played in both orders. With more, one bot holds one seat, and the other bot all
    other seats. The exit status is 1 if all games of a pairing failed, and 2 if all games of all pairings did.
    """

    name = "eval"

    bots: Annotated[
        Positional[list[str]],
        arg(
            metavar="[BOT ...]",
            help=f"{', '.join([*bots(), *policies()])}; a list of rules, such as 'rules: play-safe; discard-oldest'; a "
            "policy file, such as mine.safetensors, or the folder of a run, such as results/ippo-2p; a class or an "
            "object of a Python file, such as mybot.py:Student or a ChatPlayer, which plays as in play_games; or "
            "NAME=BOT, which is shown by that name",
            help_behavior_hint="(default: all bots that play the variant, except random ones and cheaters)",
        ),
    ] = field(default_factory=list)
    partners: Annotated[
        list[str],
        arg(name="with", metavar="BOT ...", help="play with these partners instead", help_behavior_hint=""),
    ] = field(default_factory=list)
    hold_out: Annotated[
        list[str],
        arg(
            metavar="BOT ...",
            help="partners, or names of partners, that training has not met: they are marked and have a mean of their "
            "own",
            help_behavior_hint="",
        ),
    ] = field(default_factory=list)
    methods: Annotated[
        list[str],
        arg(
            metavar="METHOD ...",
            help="the bots METHOD-1, METHOD-2, ... are seeds of one method: adds its mean over seeds, and their "
            "cross-play",
            help_behavior_hint="",
        ),
    ] = field(default_factory=list)
    games: Annotated[
        Integer,
        arg(help="games of each pairing, N; with --with and two players a cell has both seat orders, 2 N games"),
    ] = 1000
    variant: Annotated[
        str | None,
        arg(
            metavar="RULES",
            help=f"rules: {FORM}; {PRESETS}",
            help_behavior_hint="(default: those of the policies and runs, or standard)",
        ),
    ] = None
    players: Annotated[
        Integer | None,
        arg(metavar="N", help="seats, 2 to 5", help_behavior_hint="(default: as --variant or the policies say, or 2)"),
    ] = None
    seed: Annotated[Integer, arg(help="seed of the decks; the default is reserved for evaluations")] = EVALUATION_SEED
    num_threads: Threads = None
    output: Annotated[
        str | None,
        arg(
            metavar="DIR",
            help="folder for all games, which starmine replay and starmine data read, eval.json, eval.csv, the table as"
            " table.csv, and the heat map eval.png. The same command resumes an interrupted evaluation, "
            "and with more bots it plays the missing pairings only",
            help_behavior_hint="(default: print only)",
        ),
    ] = None
    fresh: Annotated[bool, arg(help="discard the evaluation that the folder holds", help_behavior_hint="")] = False
    figure: Annotated[bool, arg(help="draw no heat map, which needs matplotlib", help_behavior_hint="")] = True
    quiet: Quiet = False

    def run(self) -> int:
        """Evaluate, print, and return the exit status: 1 if all games of a pairing failed."""
        evaluated, partners = bots_by_name(self.bots), bots_by_name(self.partners)
        held_out = held_out_of(self.hold_out, partners)
        try:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*every game failed in")  # which is said below for each pairing
                evaluation = evaluate(
                    evaluated or None,
                    self.games,
                    partners=partners or (),
                    hold_out=held_out,
                    methods=self.methods,
                    variant=self.rules([evaluated, partners, held_out]),
                    seed=self.seed,
                    num_threads=self.num_threads,
                    output=self.output,
                    fresh=self.fresh,
                    figure=None if self.figure else False,
                    progress=not self.quiet,
                )
        except KeyboardInterrupt:
            if self.output is None:
                self.complain("interrupted; nothing is kept without --output DIR")
            else:
                again = ", without --fresh," if self.fresh else ""
                self.complain(f"interrupted; the same command{again} goes on from {self.output}")
            return INTERRUPTED
        print(evaluation)
        if self.output is not None:
            print(f"\nwritten to {self.output}")
        of_files = [player for player in (evaluated | partners | held_out).values() if not isinstance(player, str)]
        if evaluation.stored and of_files:
            self.complain(
                f"{evaluation.stored:,} games were played before and are shown as stored. "
                f"{player_files.NOT_TOLD} with --fresh"
            )
        failed = [pairing for pairing in evaluation.pairings if 0 < pairing.games == pairing.failed]
        for pairing in failed:
            self.complain(f"every game of {pairing.player} with {pairing.partner} failed")
        return FAILED if failed else 0

    def rules(self, given: list[dict[str, Any]]) -> Variant:
        """The rules that the options choose; without options those of all policies, if they are the same."""
        if self.variant is None and self.players is None:
            own = [rules for players in given for player in players.values() if (rules := rules_of(player))]
            if own and all(rules._plays_alike(own[0]) for rules in own):
                # Runs may be trained with lost games that keep their points; evaluations count them as 0.
                return Variant(**own[0].parameters() | {"lost_game_score": "zero"})
        return rules_of_text(self.variant or "standard", self.players)


def rules_of(player: Any) -> Variant | None:
    """The rules that a policy was trained on; None for other players."""
    if isinstance(player, str):
        text, player = player, player_of_text(player, "bot")
        if isinstance(player, _Player) and player.weights is not None and not player.searches:
            player = own_policy(text, "bot")
    rules = getattr(player, "variant", None)
    return rules if isinstance(rules, Variant) else None


def held_out_of(texts: list[str], partners: dict[str, Any]) -> dict[str, Any]:
    """The bots that are held out, by name; a text that is the name of a partner stands for this partner."""
    named = {text: partners[text] for text in texts if text in partners}
    return named | bots_by_name([text for text in texts if text not in partners])


def bots_by_name(texts: list[str]) -> dict[str, Any]:
    """The bots by the names that they are shown by: NAME=BOT, or the bot itself; of a Python file its own name."""
    players: dict[str, Any] = {}
    for text in texts:
        name, is_named, bot = (text, "", "") if names_player(text) else text.partition("=")
        bot = bot if is_named else name
        if not is_named:
            name = player_files.name_of(bot) if player_files.is_of_file(bot) else short_name(bot)
        if name in players:
            raise StarmineError(f"bot={text!r} is not allowed: expected the name {name!r} once")
        players[name] = player_files.player_of(bot)
    return players
