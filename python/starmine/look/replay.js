/* Steps through games: the data of starmine/look/replay.py, drawn by board.js.
 *
 *   replay(element, data, { page: true });
 *
 * With `page`, the keyboard works anywhere on the page, and the address names game and turn (#game=2&turn=17).
 * Other options: `title`, an element in place of the game's title; `buttons`, elements before the settings.
 * All text is set as text, never as markup.
 */
import { draw, lastTurn } from "./board.js";
import { plot, xOf } from "./curves.js";
import { el, svg } from "./elements.js";
import { known, lifeOf, opening, others, titleOf } from "./words.js";

const SPEED = 900; // milliseconds between turns
const GAP = 10; // pixels between the parts of the page, as in replay.css
const SIGNS =
  "On cards: ! the last copy of a needed card, × never to be played, ▶ playable now. The map below a card is what its owner can know of it: a row a suit, a column a rank, the darker the likelier.";
const KEYS = "Keys: ← → Home End, space plays, n p mistakes, N P other moves.";

/** Shows games in an element. Returns an object with `go(turn)`, `open(game)` and the current `place`. */
export function replay(element, data, options = {}) {
  if (data.format !== 1) throw new Error(`format ${data.format} is not known: expected 1`);
  return new Replay(element, data, options);
}

class Replay {
  constructor(element, data, options) {
    this.games = data.games;
    this.options = options;
    this.place = { game: 0, turn: 0 };
    this.seat = null;
    this.beliefs = true;
    this.theme = null; // "light" or "dark" once it was chosen
    this.timer = null;
    this.root = el("div", "sr", { tabindex: options.page ? "-1" : "0", role: "region", "aria-label": "Replay of a game of Hanabi" });
    this.build();
    element.replaceChildren(this.root);
    (options.page ? document : this.root).addEventListener("keydown", (event) => this.key(event));
    if (options.page) addEventListener("hashchange", () => this.fromAddress());
    if (!options.page || !this.fromAddress()) this.open(0);
  }

  get game() {
    return this.games[this.place.game];
  }

  /** The page's parts. */
  build() {
    this.board = el("div", "sr-board");
    this.verdict = el("p", "sr-verdict");
    this.said = el("p", "sr-said", { "aria-live": "polite" });
    this.next = el("p", "sr-next");
    this.log = el("ol", "sr-log", { "aria-label": "Turns" });
    this.summary = el("section", "sr-summary", { "aria-label": "Where the points went" });
    this.chart = svg("svg", { class: "sr-chart", viewBox: "0 0 1000 100", preserveAspectRatio: "none", role: "img" });
    this.chart.addEventListener("click", (event) => this.pointed(event));
    this.legend = el("div", "sr-legend");
    this.controls = el("div", "sr-controls", {}, this.said, this.next, this.chart, this.slide(), this.buttons());
    const main = el("div", "sr-main", {}, el("div", "sr-left", {}, this.board), el("aside", "sr-side", {}, this.summary, this.log));
    this.root.append(this.header(), this.verdict, main, this.controls);
    new ResizeObserver(() => this.fit()).observe(this.root);
    addEventListener("resize", () => this.fit());
  }

  header() {
    this.chooseGame = el("select", "", { "aria-label": "Game" });
    this.games.forEach((game, index) => this.chooseGame.append(el("option", "", { value: index }, titleOf(game))));
    this.chooseGame.addEventListener("change", () => this.open(Number(this.chooseGame.value)));
    this.chooseGame.hidden = this.games.length < 2;
    this.title = this.options.title ?? el("h1", "sr-title");
    this.chooseSeat = el("select", "", { "aria-label": "Whose view" });
    this.chooseSeat.addEventListener("change", () => {
      this.seat = this.chooseSeat.value === "" ? null : Number(this.chooseSeat.value);
      this.show();
    });
    const shown = el("input", "", { type: "checkbox", "aria-label": "Show beliefs" });
    shown.checked = true;
    shown.addEventListener("change", () => {
      this.beliefs = shown.checked;
      this.show();
    });
    const theme = this.button("◐", "Change between light and dark", () => this.changeTheme());
    const right = el("div", "sr-settings", {}, ...(this.options.buttons ?? []), this.chooseSeat, el("label", "", {}, shown, " beliefs"), theme);
    return el("header", "sr-header", {}, this.title, this.chooseGame, right);
  }

  slide() {
    this.slider = el("input", "sr-slider", { type: "range", min: "0", step: "1", "aria-label": "Turn" });
    this.slider.addEventListener("input", () => this.go(Number(this.slider.value)));
    return this.slider;
  }

  buttons() {
    this.player = this.button(["▶", word(" play")], "Play", () => this.run());
    this.counter = el("span", "sr-counter");
    this.link = el("a", "sr-link", {}, "link", word(" to this turn"));
    const pair = (...made) => el("span", "sr-pair", {}, ...made);
    const mistakes = pair(
      this.button(["‹ ✗", word(" mistake")], "Previous mistake", () => this.jump(-1, "mistakes")),
      this.button(["✗", word(" mistake"), " ›"], "Next mistake", () => this.jump(1, "mistakes")),
    );
    this.others = pair(
      this.button("‹ ≠", "Previous turn on which the bot or policy would play another move", () => this.jump(-1, "others")),
      this.button("≠ ›", "Next turn on which the bot or policy would play another move", () => this.jump(1, "others")),
    );
    return el(
      "div",
      "sr-buttons",
      { role: "group", "aria-label": "Steps" },
      this.button("|◀", "First turn", () => this.go(0)),
      this.button("←", "Previous turn", () => this.go(this.place.turn - 1)),
      this.player,
      this.button("→", "Next turn", () => this.go(this.place.turn + 1)),
      this.button("▶|", "Last turn", () => this.go(Infinity)),
      this.counter,
      mistakes,
      this.others,
      this.options.page ? this.link : "",
      this.legend,
    );
  }

  button(content, label, pressed) {
    const made = el("button", "sr-button", { type: "button", "aria-label": label, title: label }, ...content);
    made.addEventListener("click", pressed);
    return made;
  }

  /** Shows another game. */
  open(index, turn) {
    this.place.game = Math.min(Math.max(index, 0), this.games.length - 1);
    const { game } = this;
    this.marks = marksOf(game);
    this.chooseGame.value = String(this.place.game);
    if (!this.options.title) this.title.textContent = titleOf(game);
    this.slider.max = String(game.actions.length);
    this.seat = this.seat !== null && this.seat < game.variant.players ? this.seat : null;
    this.chooseSeat.replaceChildren(el("option", "", { value: "" }, "open table"));
    game.seats.forEach((name, seat) => this.chooseSeat.append(el("option", "", { value: seat }, `as ${name} sees it`)));
    this.chooseSeat.value = this.seat === null ? "" : String(this.seat);
    this.others.hidden = game.compare === undefined && game.values === undefined;
    this.summarise();
    this.list();
    this.plot();
    this.go(turn ?? opening(game));
    this.fit();
  }

  /** Shows another turn, from 0 for the deal. */
  go(turn) {
    const last = this.game.actions.length;
    this.place.turn = Math.min(Math.max(Number.isNaN(turn) ? 0 : turn, 0), last);
    if (this.place.turn === last) this.stop();
    this.show();
  }

  show() {
    const { game } = this;
    const { turn } = this.place;
    const frame = seen(whole(game, turn), this.seat);
    draw(this.board, frame, { beliefs: this.beliefs, theme: this.theme, last: false });
    const knew = known(game, turn, this.seat);
    this.said.replaceChildren(...lastTurn(frame), ...(knew.length ? [el("small", "sr-why", {}, `: ${knew.join("; ")}`)] : []));
    this.slider.value = String(turn);
    this.slider.setAttribute("aria-valuetext", `turn ${turn} of ${game.actions.length}`);
    this.counter.textContent = `turn ${turn} of ${game.actions.length}`;
    this.next.replaceChildren(...nextMove(game, turn));
    this.head?.setAttribute("x1", String(xOf(game, turn)));
    this.head?.setAttribute("x2", String(xOf(game, turn)));
    for (const row of this.log.children) row.classList.toggle("sr-current", Number(row.dataset.turn) === turn);
    this.mark(turn);
    const address = this.games.length > 1 ? `#game=${this.place.game}&turn=${turn}` : `#turn=${turn}`;
    this.link.href = address;
    if (this.options.page && location.hash !== address) history.replaceState(null, "", address);
  }

  /** Lets the controls stay at the window's lower edge only where all hands fit above them. */
  fit() {
    const hands = this.board.querySelector(".sm-hands")?.getBoundingClientRect();
    if (hands === undefined) return;
    const { height } = this.controls.getBoundingClientRect();
    const top = this.root.classList.contains("sr-tight") ? height + GAP : 0;
    const bottom = hands.bottom + scrollY - top;
    this.root.classList.toggle("sr-tight", bottom + height > innerHeight);
  }

  /** Marks the turn in the lists and scrolls them there. */
  mark(turn) {
    for (const row of this.summary.querySelectorAll("[data-turn]")) {
      const isCurrent = Number(row.dataset.turn) === turn;
      row.classList.toggle("sr-current", isCurrent);
      if (isCurrent) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
    for (const list of [this.log, this.summary]) {
      const current = list.querySelector(".sr-current");
      if (current) list.scrollTop = current.offsetTop - list.clientHeight / 2;
    }
  }

  /** Goes to the game and the turn that the address names, if it names any. */
  fromAddress() {
    const named = new URLSearchParams(location.hash.slice(1));
    if (!named.has("turn") && !named.has("game")) return false;
    const game = Number(named.get("game") ?? 0);
    const turn = named.has("turn") ? Number.parseInt(named.get("turn"), 10) : undefined;
    if (game === this.place.game && this.marks) this.go(turn ?? opening(this.game));
    else this.open(Number.isInteger(game) ? game : 0, turn);
    return true;
  }

  /* Where the points went, and the list of turns. */

  summarise() {
    const { game } = this;
    const missed = game.mistakes.reduce((sum, mistake) => sum + mistake.points, 0);
    const late = game.mistakes.filter((mistake) => mistake.kind === "time");
    const rows = game.mistakes.filter((mistake) => mistake.kind !== "time").map((mistake) => this.mistake(mistake));
    if (late.length) rows.push(this.late(late));
    this.verdict.textContent = game.verdict;
    this.summary.replaceChildren(
      el("h2", "", {}, missed ? `Where ${missed} ${missed === 1 ? "point" : "points"} went` : "Where the points went"),
      ...(rows.length ? [el("ol", "sr-mistakes", {}, ...rows)] : [el("p", "", {}, "No turn cost a point.")]),
      ...otherMoves(game, this.marks),
      el("p", "sr-signs", {}, SIGNS),
      el("p", "sr-signs sr-keys", {}, KEYS),
    );
  }

  /** A card that was misplayed or discarded: what it cost, what its owner knew, and what others would have done. */
  mistake({ turn, kind, points, text }) {
    const life = kind === "misplay" ? el("small", "sr-life", {}, `${lifeOf(this.game, turn)}, `) : "";
    const row = el("button", `sr-mistake sr-${kind}`, { type: "button", "data-turn": turn }, cost(points), " ", life, `turn ${turn}: ${text}`);
    row.append(el("small", "sr-why", {}, why(this.game, turn)));
    row.addEventListener("click", () => this.go(turn));
    return el("li", "", {}, row);
  }

  /** The turns after which too few were left, in one row. */
  late(mistakes) {
    const turns = mistakes.map(({ turn, text }) => {
      const made = el("button", "sr-late", { type: "button", "data-turn": turn, title: text, "aria-label": `turn ${turn}: ${text}` }, String(turn));
      made.addEventListener("click", () => this.go(turn));
      return made;
    });
    const points = mistakes.reduce((sum, mistake) => sum + mistake.points, 0);
    return el("li", "sr-lates", {}, cost(points), " no card played when too few turns were left for all: turn ", ...turns);
  }

  list() {
    const { game, marks } = this;
    this.log.replaceChildren();
    game.actions.forEach((_, index) => {
      const turn = index + 1;
      const mark = marks.mistakes.has(turn) ? "✗ " : marks.others.has(turn) ? "≠ " : "";
      const row = el("button", "sr-turn", { type: "button" }, el("span", "sr-number", {}, String(turn)), mark + game.frames[turn].words);
      row.addEventListener("click", () => this.go(turn));
      const item = el("li", marks.mistakes.has(turn) ? "sr-bad" : "", { "data-turn": turn }, row);
      this.log.append(item);
    });
  }

  /** Goes to the next or the previous marked turn. */
  jump(step, kind) {
    const turns = [...this.marks[kind]].sort((one, other) => step * (one - other));
    const found = turns.find((turn) => step * (turn - this.place.turn) > 0);
    if (found !== undefined) this.go(found);
  }

  /* The curves. */

  plot() {
    const { head, keys } = plot(this.chart, this.game, this.marks.mistakes);
    this.head = head;
    this.legend.replaceChildren(...keys);
  }

  pointed(event) {
    const box = this.chart.getBoundingClientRect();
    this.go(Math.round(((event.clientX - box.left) / box.width) * this.game.actions.length));
  }

  /* Time, theme and keyboard. */

  run() {
    if (this.timer !== null) return this.stop();
    if (this.place.turn === this.game.actions.length) this.go(0);
    this.timer = setInterval(() => this.go(this.place.turn + 1), SPEED);
    this.label("❚❚", "Pause");
    return undefined;
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.label("▶", "Play");
  }

  label(sign, name) {
    this.player.replaceChildren(sign, word(` ${name.toLowerCase()}`));
    this.player.setAttribute("aria-label", name);
    this.player.title = name;
  }

  changeTheme() {
    const isDark = this.theme ? this.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    this.theme = isDark ? "light" : "dark";
    (this.options.page ? document.documentElement : this.root).dataset.theme = this.theme;
    this.show();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // A list that has the focus keeps space, which opens it, and the keys up and down.
    const takesSpace = ["BUTTON", "A", "SELECT"].includes(event.target.tagName) || event.target.type === "checkbox";
    const keys = {
      ArrowLeft: () => this.go(this.place.turn - 1),
      ArrowRight: () => this.go(this.place.turn + 1),
      Home: () => this.go(0),
      End: () => this.go(Infinity),
      n: () => this.jump(1, "mistakes"),
      p: () => this.jump(-1, "mistakes"),
      N: () => this.jump(1, "others"),
      P: () => this.jump(-1, "others"),
      ...(takesSpace ? {} : { " ": () => this.run() }),
    };
    if (!Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
  }
}

/** A word that narrow pages leave out. */
function word(text) {
  return el("span", "sr-word", {}, text);
}

/** What a mistake cost: points, or a life token alone. */
function cost(points) {
  return el("b", "sr-points", {}, points ? `−${points}` : "♦");
}

/** What the player of a turn knew of its card, and what the bot and the policy would have played. */
function why(game, turn) {
  const told = [...known(game, turn), ...others(game, turn).map(([name, move, gave]) => `${name} would ${move ?? "have done the same"}${gave}`)];
  return told.join("; ");
}

/** The whole frame of a turn: with what the frames of the game share, and what each card had been told by then. */
function whole(game, turn) {
  const frame = game.frames[turn];
  const hand = (cards) => cards.map((held) => ({ ...held, plausible: "", told: (game.told[held.number] ?? []).filter(([at]) => at <= turn) }));
  return {
    format: game.format,
    variant: game.variant,
    suits: game.suits,
    names: game.seats,
    observer: game.observer,
    start_player: game.start_player,
    ...frame,
    legal: [],
    hands: frame.hands.map(hand),
    policy: frame.policy ? { ...frame.policy, moves: game.moves[frame.current_player] } : null,
  };
}

/** The frame as a seat sees it: without its own cards, what the others believe, and what others think. */
function seen(frame, seat) {
  if (seat === null) return frame;
  const hide = (held) => ({ ...held, card: null });
  const open = (held) => ({ ...held, belief: null });
  const hands = frame.hands.map((cards, at) => cards.map(at === seat ? hide : open));
  return { ...frame, observer: seat, hands, policy: frame.current_player === seat ? frame.policy : null };
}

/** The turns that are marked: mistakes, and those on which the bot or the policy would have played another move. */
function marksOf(game) {
  const others = new Set();
  game.actions.forEach((action, index) => {
    const policy = game.frames[index].policy;
    const bot = game.compare?.actions[index];
    if ((bot !== undefined && bot !== action) || (bot === undefined && policy && policy.choice !== action)) others.add(index + 1);
  });
  return { mistakes: new Set(game.mistakes.map((mistake) => mistake.turn)), others };
}

function otherMoves(game, marks) {
  const name = game.compare?.name ?? game.frames[0].policy?.name;
  if (name === undefined) return [];
  return [el("p", "sr-others", {}, `${name} would have played another move on ${marks.others.size} of ${game.actions.length} turns (≠).`)];
}

/** What is played next, and what the bot and the policy would play. */
function nextMove(game, turn) {
  if (turn >= game.actions.length) return [];
  const seat = game.frames[turn].current_player;
  const parts = [`Next: ${game.seats[seat]} `, el("b", "", {}, game.moves[seat][game.actions[turn]])];
  for (const [name, move, gave] of others(game, turn + 1)) {
    parts.push(`; ${name} ${move === null ? "agrees" : "would "}`);
    if (move !== null) parts.push(el("b", "sr-differs", {}, move), gave);
  }
  return parts;
}
