"""Search: the values of all moves in a position, and a belief about the own hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from starmine._core import Move, SeatedBot, StarmineError, State, Variant, View, _Player, _search
from starmine._util.equality import equal_by_value
from starmine.games.actions import action_id
from starmine.games.player_texts import NOT_OF_CORE, core_player
from starmine.games.players import resolve_player
from starmine.policies.load import TrainedPolicy


@equal_by_value
@dataclass(frozen=True)
class SearchedAction:
    """What a search found out about an action.

    Attributes:
        action: the action's id.
        mean: mean score of its roll-outs; `nan` without any.
        standard_error: of the mean; infinite with fewer than two roll-outs.
        rollouts: number of its roll-outs.
        kept: whether the search kept the action until the end; False if it dropped the action before.
    """

    action: int
    mean: float
    standard_error: float
    rollouts: int
    kept: bool


@equal_by_value
@dataclass(frozen=True)
class HandBelief:
    """The distribution of the searching seat's own hand, given what it sees and that the others play by the blueprint.

    Attributes:
        variant: the rules.
        hands: uint8 (H, slots), card indices `suit * ranks + rank`. H is at most the search's argument `hands`. A
            sample may contain a hand more than once. H is smaller if few of the sampled hands explain the game.
        probabilities: float64 (H,), of each hand; their sum is 1.
        exact: whether these are all possible hands, and not a sample.
        unexplained: the turns in which a teammate left the blueprint, ascending. In such a turn, the blueprint would
            not make the teammate's move for any of the hands that explain the earlier moves. The belief ignores these
            turns and uses all others.
    """

    variant: Variant
    hands: NDArray[np.uint8]
    probabilities: NDArray[np.float64]
    exact: bool
    unexplained: list[int]

    def __repr__(self) -> str:
        """How many hands there are; they may be very many."""
        kind = "possible" if self.exact else "sampled"
        return f"<HandBelief of {len(self.hands):,} {kind} hands, unexplained={self.unexplained}>"

    def marginals(self) -> NDArray[np.float64]:
        """The probability of each card in each slot, float64 (slots, colors * ranks), as `View.marginals`."""
        counts = np.zeros((self.hands.shape[1], self.variant.colors * self.variant.ranks))
        for slot, cards in enumerate(self.hands.T):
            np.add.at(counts[slot], cards, self.probabilities)
        return counts


@equal_by_value
@dataclass(frozen=True)
class SearchResult:
    """The result of a search.

    Attributes:
        variant: the rules.
        action: the id of the action that the search chooses.
        blueprint_action: the id of the blueprint's action.
        actions: a list of the legal actions with what was found out about them, in ascending order of their ids.
            `value(action)` finds the entry of an id.
        belief: about the own hand.
    """

    variant: Variant
    action: int
    blueprint_action: int
    actions: list[SearchedAction]
    belief: HandBelief

    def value(self, action: int | Move | str) -> SearchedAction:
        """The entry of `actions` for an action id, a `Move` or text; its `mean` is the action's estimated value.

        Raises:
            StarmineError: the action is not legal.
            TypeError: it is none of these.
        """
        number = action_id(self.variant, action)
        for searched in self.actions:
            if searched.action == number:
                return searched
        legal = [searched.action for searched in self.actions]
        raise StarmineError(f"action={action} is not legal here: expected one of {legal}")

    def __str__(self) -> str:
        """A line for each action, the best first."""
        lines = []
        for searched in sorted(self.actions, key=lambda searched: -np.nan_to_num(searched.mean, nan=-1)):
            marks = ["chosen"] * (searched.action == self.action)
            marks += ["blueprint"] * (searched.action == self.blueprint_action)
            marks += ["dropped"] * (not searched.kept)
            meaning, note = self.variant.action_meaning(searched.action), f"  {', '.join(marks)}" if marks else ""
            value = f"{searched.mean:6.2f} ± {searched.standard_error:4.2f}"
            lines.append(f"{meaning:16} {value} of {searched.rollouts:6,} roll-outs{note}")
        return "\n".join(lines)


def search(
    position: State | View,
    blueprint: Any = "smart",
    *,
    rollouts: int = 10_000,
    milliseconds: int | None = None,
    hands: int = 4096,
    depth: int | None = None,
    threshold: float | None = None,
    method: Literal["single", "mirror"] = "single",
    step: float | None = None,
    seed: int = 0,
    num_threads: int = 1,
) -> SearchResult:
    """Search for a better move than the blueprint's.

    The search samples hands of the seat to act, from what this seat sees and from the moves of the other seats, which
    play by the blueprint. A roll-out completes a sampled hand to a game, makes one of the legal actions, and plays to
    the end by the blueprint in all seats. All actions use the same hands and decks. The search drops an action that is
    behind the best action by 2.5 standard errors of the difference. After each of a few rounds it also drops the worse
    half of the actions.

    Args:
        position: a state, or a view of the seat to act. Of a state, only what this seat may see is used.
        blueprint: a bot's text or a `TrainedPolicy`, as `play_games` takes it, whose moves are not random. In a list of
            rules, one must always apply, as `play-probably-safe 0` does.
        rollouts: the most roll-outs, 1 to 10**9, over all actions.
        milliseconds: start no further roll-outs after this time, 1 to 10**9; the belief comes before it. The result is
            then another one in each run. None for no limit.
        hands: the most hands in the belief, 1 to 100,000. If the seat has at most this many possible hands, all are
            used and the belief is exact.
        depth: moves after which a roll-out ends with the score that the policy's network expects, 1 to 1,000; None to
            play to the end. Only for a policy without memory as the blueprint.
        threshold: points by which an action must be better than the blueprint's, 0 to 100; None for 0.1. Only with
            `method="single"`.
        method: "single" is SPARTA's single-agent search (Lerer et al., 2020): the others play by the blueprint.
            "mirror" is mirror descent search (Sokota et al., 2023): the others may search, too.
        step: of mirror descent: how much one point adds to the logarithm of an action's probability, above 0 and at
            most 1,000,000; None for 10. Only with `method="mirror"`.
        seed: of hands and decks, 0 to 2**64 - 1.
        num_threads: 1 to 1,024. The result does not depend on it.

    Raises:
        UnknownNameError: there is no such bot.
        SerializationError: a policy file is damaged.
        VariantError: the blueprint does not play the variant.
        TypeError: a number of another type.
        StarmineError: a number out of range, an option of the other method, a game that is over, a view of a seat that
            is not to act, or a blueprint whose moves are random, that sees its own hand, or that has no network to
            value positions for a depth.

    >>> import starmine
    >>> state = starmine.Variant().new_game(seed=7)
    >>> found = starmine.search(state, "smart", rollouts=500)
    >>> sum(action.rollouts for action in found.actions) <= 500
    True
    """
    view = position if isinstance(position, View) else position.view(position.current_player)
    if not isinstance(blueprint, str | TrainedPolicy | SeatedBot | _Player):
        raise StarmineError(f"blueprint={blueprint!r} is not allowed: {NOT_OF_CORE}")
    action, by_blueprint, actions, means, errors, counts, kept, cards, shares, exact, unexplained = _search(
        view,
        core_player(resolve_player(blueprint, "blueprint"), "blueprint", blueprint),
        rollouts=rollouts,
        milliseconds=milliseconds,
        hands=hands,
        depth=depth,
        threshold=threshold,
        method=method,
        step=step,
        seed=seed,
        num_threads=num_threads,
    )
    columns = (column.tolist() for column in (actions, means, errors, counts, kept))
    searched = [SearchedAction(*row) for row in zip(*columns, strict=True)]
    belief = HandBelief(view.variant, cards, shares, exact, unexplained)
    return SearchResult(view.variant, action, by_blueprint, searched, belief)
