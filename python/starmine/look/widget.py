"""A viewer of games for notebooks: the replay as a widget of anywidget, which Jupyter, Colab and VS Code show."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, Unpack

from starmine._core import StarmineError
from starmine._util.keywords import check_keywords
from starmine._util.later import library
from starmine._util.numbers import check_integer
from starmine.look.replay import ReplayOptions, ReplaySource, replay_data, script, style

if TYPE_CHECKING:
    import anywidget

# The board follows the traits `game` and `turn`, and they follow the board.
RENDER = """
function render({ model, el: element }) {
  const light = document.body.dataset.jpThemeLight;
  const theme = model.get("theme") ?? (light === undefined ? null : light === "true" ? "light" : "dark");
  const onPlace = ({ game, turn }) => {
    if (model.get("game") === game && model.get("turn") === turn) return;
    model.set("game", game);
    model.set("turn", turn);
    model.save_changes();
  };
  const place = { game: model.get("game"), turn: model.get("turn") };
  const shown = replay(element, model.get("data"), { theme, onPlace, place, inline: true });
  const follow = () => {
    const [game, turn] = [model.get("game"), model.get("turn")];
    if (game !== shown.place.game) shown.open(game, turn);
    else if (turn !== shown.place.turn) shown.go(turn);
  };
  model.on("change:game", follow);
  model.on("change:turn", follow);
  return () => {
    model.off("change:game", follow);
    model.off("change:turn", follow);
    shown.stop();
  };
}
export default { render };
"""


def viewer(
    games: ReplaySource, *, game: int = 0, turn: int = 0, theme: str | None = None, **shown: Unpack[ReplayOptions]
) -> anywidget.AnyWidget:
    """A widget to step through games in a notebook, with the board, the curves and the mistakes of `replay_html`.

    Args:
        games: as `replay_html` takes them.
        game: the game that is shown first.
        turn: the turn that is shown first.
        theme: "light" or "dark"; None for the notebook's or the system's.
        **shown: the fields of `ReplayOptions`.

    Returns:
        The widget. Its traits `game` and `turn` say what is shown; another value goes there, and a value that there is
        not is refused.

    Raises:
        ImportError: anywidget is not installed.
        StarmineError: as `replay_html`, and for a theme, game or turn that there is not.
        UnknownNameError: there is no such bot, policy or suit.
        VariantError: the bot or the policy does not play the variant.
        TypeError: a game or a turn is not an integer, or there is no such argument; the message has the nearest.

    >>> import starmine
    >>> games = starmine.play_games(["smart", "smart"], games=2, record=True)
    >>> widget = starmine.look.viewer(games, game=1)
    >>> widget.turn = 17
    """
    if theme not in (None, "light", "dark"):
        raise StarmineError(f"theme={theme!r} is not allowed: expected 'light', 'dark' or None")
    check_keywords("viewer", shown, ("game", "turn", "theme", *ReplayOptions.__annotations__))
    kind = _kind()
    made = kind(data=replay_data(games, **shown), theme=theme)
    made.game = check_integer("game", game)  # first, since it says which turns there are
    made.turn = check_integer("turn", turn)
    return made  # type: ignore[no-any-return]


@cache
def _kind() -> Any:
    """The widget's class, made when it is first needed, since it needs anywidget."""
    library("anywidget", "starmine.look.viewer needs anywidget", "notebook")
    import anywidget
    import traitlets

    class Viewer(anywidget.AnyWidget):  # type: ignore[misc,unused-ignore]
        _esm = script() + RENDER
        _css = style()
        data = traitlets.Dict().tag(sync=True)
        theme = traitlets.Unicode(None, allow_none=True).tag(sync=True)
        game = traitlets.Int(0).tag(sync=True)
        turn = traitlets.Int(0).tag(sync=True)

        @traitlets.validate("game")
        def _check_game(self, proposal: Any) -> int:
            game: int = proposal["value"]
            most = len(self.data["games"]) - 1
            if not 0 <= game <= most:
                raise StarmineError(f"game={game} is not allowed: expected 0 to {most}")
            return game

        @traitlets.validate("turn")
        def _check_turn(self, proposal: Any) -> int:
            turn: int = proposal["value"]
            most = len(self.data["games"][self.game]["actions"])
            if not 0 <= turn <= most:
                raise StarmineError(f"turn={turn} is not allowed: expected 0 to {most}")
            return turn

        @traitlets.observe("game")
        def _begin(self, change: Any) -> None:
            """A game that is shorter than the turn is shown from its end."""
            self.turn = min(self.turn, len(self.data["games"][self.game]["actions"]))

    return Viewer
