/* Draws a position of Hanabi from a frame (its fields: starmine/look/frame.py). No dependencies but
 * arrow.js, elements.js, suits.js and words.js next to it, board.css, and colors.css of shapes.py.
 *
 *   import { draw } from "./board.js";
 *   draw(element, frame, { theme: "dark", onAction: (action) => ... });
 *
 * Options, all of which may be left out:
 *   theme      "light" or "dark"; without it the system's preference
 *   onAction   function(action, move): the frame's legal moves become buttons, which call it
 *   beliefs    false hides the maps of what the owners of cards believe
 *   policy     false hides what the frame's policy thinks
 *   last       false leaves out the line that tells the last turn
 *
 * All text is set as text, never as markup. Elements carry what they show in data attributes: data-seat, data-slot
 * and data-card of a card, data-suit and data-height of a stack, data-kind and data-discarded of a kind of card.
 */

import { point } from "./arrow.js";
import { el, svg } from "./elements.js";
import { SUITS } from "./suits.js";
import { percent } from "./words.js";

/** Draws a frame into an element, in place of what it held, and keeps the keyboard's focus on the same button. */
export function draw(element, frame, options = {}) {
  if (frame.format !== 1) throw new Error(`format ${frame.format} is not known: expected 1`);
  const focused = element.contains(document.activeElement) ? document.activeElement.dataset.key : undefined;
  const board = el("div", "sm-board", { role: "group", "aria-label": `Hanabi, turn ${frame.turn}` });
  if (options.theme) board.dataset.theme = options.theme;
  board.append(
    status(frame),
    el("div", "sm-main", {}, hands(frame, options), table(frame, options)),
    ...(options.last === false ? [] : [el("p", "sm-last", { "aria-live": "polite" }, ...lastTurn(frame))]),
    svg("svg", { class: "sm-arrows", "aria-hidden": "true" }),
  );
  element.replaceChildren(board);
  point(board, frame);
  follow(board, frame);
  if (focused !== undefined) element.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  return board;
}

/** A suit's shape. */
function shape(letter) {
  const made = svg("svg", { viewBox: "0 0 24 24", class: "sm-shape", "aria-hidden": "true" });
  made.append(svg("path", { d: (SUITS[letter] ?? SUITS.K).shape }));
  return made;
}

/* The table's numbers. */

function status(frame) {
  const { variant } = frame;
  return el(
    "div",
    "sm-status",
    {},
    number("Score", frame.score, `/${variant.max_score}`),
    tokens("Hints", frame.information_tokens, variant.max_information_tokens, "sm-information"),
    tokens("Lives", frame.life_tokens, variant.max_life_tokens, "sm-life"),
    number("Deck", frame.deck_size, ""),
    number("Turn", frame.turn, ""),
  );
}

function number(label, value, rest) {
  const shown = el("span", "sm-number", { "data-value": value }, String(value), el("small", "", {}, rest));
  return el("div", "sm-stat", {}, el("span", "sm-label", {}, label), shown);
}

function tokens(label, left, most, kind) {
  const dots = Array.from({ length: most }, (_, index) => el("i", index < left ? "sm-dot" : "sm-dot sm-spent"));
  const row = el("span", `sm-dots ${kind}`, { role: "img", "aria-label": `${label}: ${left} of ${most}`, title: label, "data-value": left }, ...dots);
  return el("div", "sm-stat sm-tokens", {}, el("span", "sm-label", {}, label), row, el("small", "sm-count", {}, `${left}/${most}`));
}

/* The hands. */

/** The seats in the order of play, the observer last, where the player sits. */
function seats(frame) {
  const players = frame.hands.length;
  const first = frame.observer === null ? 0 : frame.observer + 1;
  return Array.from({ length: players }, (_, index) => (first + index) % players);
}

function hands(frame, options) {
  const section = el("section", "sm-hands", { "aria-label": "Hands" });
  section.classList.toggle("sm-many", frame.hands.length > 3);
  section.style.setProperty("--seats", frame.hands.length);
  section.style.setProperty("--cards", frame.variant.hand_size);
  for (const seat of seats(frame)) section.append(hand(frame, seat, options));
  return section;
}

function hand(frame, seat, options) {
  const acting = frame.ending === null && frame.current_player === seat;
  const row = el("div", "sm-seat", { "data-seat": seat });
  row.classList.toggle("sm-acting", acting);
  const name = el("div", "sm-name", {}, el("span", "sm-who", { title: frame.names[seat] }, seatTogether(frame.names[seat])));
  if (frame.observer === seat && frame.names[seat] !== "you") name.append(el("span", "sm-tag", {}, "you"));
  if (acting) name.append(el("span", "sm-tag sm-turn", {}, "to act"));
  const cards = el("div", "sm-cards", { role: "list", "aria-label": `Hand of ${frame.names[seat]}` });
  frame.hands[seat].forEach((held, slot) => cards.append(card(frame, seat, slot, held, options)));
  row.append(name, cards);
  if (options.onAction) row.append(moves(frame, seat, options));
  return row;
}

/** A name whose number of the seat is not cut off: "smart (seat 1)". */
function seatTogether(name) {
  return name.replace(/\(seat (\d)\)$/, "(seat\u00a0$1)");
}

function card(frame, seat, slot, held, options) {
  const made = el("div", "sm-card", { role: "listitem", "data-seat": seat, "data-slot": slot, "data-card": held.card ?? "" });
  const words = cardWords(frame, slot, held);
  made.setAttribute("aria-label", words);
  made.title = words;
  const { last } = frame;
  made.classList.toggle("sm-touched", last !== null && last.target === seat && last.touched.includes(slot));
  made.append(held.card === null ? back(frame, held) : face(frame, held.card), told(frame, held));
  if (options.beliefs !== false && held.belief) made.append(map(frame, held.belief));
  return made;
}

function cardWords(frame, slot, held) {
  const parts = [`slot ${slot}: ${held.card ?? "hidden"}`];
  if (frame.critical.includes(held.card)) parts.push("critical");
  if (frame.playable.includes(held.card)) parts.push("playable");
  if (frame.dead.includes(held.card)) parts.push("dead");
  const heard = held.told.map(([turn, said]) => `${said.startsWith("+") ? "" : "not "}${said.slice(1)} (turn ${turn})`);
  parts.push(heard.length ? `told ${heard.join(", ")}` : "not hinted");
  if (held.belief) parts.push(`its owner: ${likely(frame, held.belief)}`);
  return parts.join("; ");
}

/** The most likely cards in words. */
function likely(frame, belief) {
  const order = belief.map((share, kind) => [share, kind]).filter(([share]) => share > 0);
  order.sort((one, other) => other[0] - one[0]);
  const shown = order.slice(0, 3).map(([share, kind]) => `${kindName(frame, kind)} ${percent(share)}`);
  return shown.join(", ") + (order.length > 3 ? `, ${order.length - 3} others` : "");
}

function kindName(frame, kind) {
  const { ranks } = frame.variant;
  return `${frame.suits[Math.floor(kind / ranks)].letter}${(kind % ranks) + 1}`;
}

function face(frame, name) {
  const made = el("div", `sm-face sm-${name[0]}`, { "aria-hidden": "true" });
  made.append(el("b", "", {}, name.slice(1)), shape(name[0]), el("small", "", {}, name[0]));
  if (frame.critical.includes(name)) made.append(el("i", "sm-mark sm-critical", {}, "!"));
  else if (frame.dead.includes(name)) made.append(el("i", "sm-mark sm-dead", {}, "×"));
  if (frame.playable.includes(name)) made.append(el("i", "sm-mark sm-playable", {}, "▶"));
  return made;
}

/** The back of a card, with what its owner was told. */
function back(frame, held) {
  const made = el("div", "sm-face sm-back", { "aria-hidden": "true" });
  if (held.color !== null) made.classList.add("sm-known", `sm-${frame.suits[held.color].letter}`);
  made.append(el("b", "", {}, held.rank === null ? "?" : String(held.rank + 1)));
  if (held.color !== null) {
    const { letter } = frame.suits[held.color];
    made.append(shape(letter), el("small", "", {}, letter));
  }
  return made;
}

/** The marks of hints: what the card's owner was told. */
function told(frame, held) {
  const marks = el("div", "sm-told", { "aria-hidden": "true" });
  if (held.color !== null) {
    const { letter } = frame.suits[held.color];
    marks.append(el("span", `sm-hint sm-${letter}`, {}, shape(letter), letter));
  }
  if (held.rank !== null) marks.append(el("span", "sm-hint sm-rank", {}, String(held.rank + 1)));
  return marks;
}

/** What the owner of a card believes: a row a suit, a column a rank. */
function map(frame, belief) {
  const { colors, ranks } = frame.variant;
  const made = el("div", "sm-map", { role: "img", "aria-label": likely(frame, belief) });
  made.style.setProperty("--ranks", ranks);
  for (let suit = 0; suit < colors; suit += 1) {
    for (let rank = 0; rank < ranks; rank += 1) {
      const share = belief[suit * ranks + rank];
      const cell = el("i", share > 0 ? `sm-${frame.suits[suit].letter}` : "sm-none");
      cell.style.setProperty("--share", share > 0 ? 0.18 + 0.82 * Math.sqrt(share) : 0);
      made.append(cell);
    }
  }
  return made;
}

/** The legal moves that concern a hand, as buttons. */
function moves(frame, seat, options) {
  const made = el("div", "sm-moves", { role: "group", "aria-label": `Moves with the hand of ${frame.names[seat]}` });
  for (const move of frame.legal) {
    if ((move.target ?? frame.current_player) !== seat) continue;
    const button = el("button", "sm-move", { type: "button", "data-action": move.action, "data-key": `action ${move.action}` });
    button.setAttribute("aria-label", moveWords(frame, move));
    button.title = move.text;
    if (move.color !== null) {
      const { letter, name } = frame.suits[move.color];
      button.classList.add("sm-brief", `sm-${letter}`);
      button.append(shape(letter), el("span", "sm-letter", {}, letter), el("span", "sm-text", {}, name));
    } else if (move.rank !== null) {
      button.classList.add("sm-brief");
      button.append(el("span", "sm-text", {}, "rank "), String(move.rank + 1));
    } else button.append(shortMove(frame, move));
    button.addEventListener("click", () => options.onAction(move.action, move));
    made.append(button);
  }
  return made;
}

function shortMove(frame, move) {
  const announced = move.announced === null ? "" : ` as ${frame.suits[move.announced].name}`;
  return `${move.kind} ${move.slot}${announced}`;
}

function moveWords(frame, move) {
  if (move.target === null) return shortMove(frame, move).replace(" ", " slot ");
  const what = move.color !== null ? frame.suits[move.color].name : `rank ${move.rank + 1}`;
  return `hint ${frame.names[move.target]}: ${what}`;
}

/* The table: fireworks, the kinds of cards with their discarded copies, and the policy. */

function table(frame, options) {
  const made = el("section", "sm-table", { "aria-label": "Table" }, fireworks(frame), kinds(frame));
  if (frame.policy && options.policy !== false) made.append(policy(frame));
  return made;
}

function fireworks(frame) {
  const row = el("div", "sm-fireworks", { role: "list", "aria-label": "Fireworks" });
  frame.fireworks.forEach((height, suit) => {
    const { letter, name } = frame.suits[suit];
    const stack = el("div", `sm-stack sm-${letter}`, { role: "listitem", "data-suit": suit, "data-height": height });
    stack.setAttribute("aria-label", `${name}: ${height} of ${frame.variant.ranks}`);
    stack.classList.toggle("sm-empty", height === 0);
    stack.classList.toggle("sm-moved", frame.last !== null && frame.last.added && frame.last.card[0] === letter);
    stack.append(shape(letter), el("b", "", { "aria-hidden": "true" }, String(height)), el("small", "", { "aria-hidden": "true" }, letter));
    row.append(stack);
  });
  return row;
}

/** Each kind of card with a dot a copy: filled where it is discarded. */
function kinds(frame) {
  const gone = new Map();
  for (const name of frame.discards) gone.set(name, (gone.get(name) ?? 0) + 1);
  const made = el("div", "sm-kinds", { role: "list", "aria-label": `Discards: ${frame.discards.length} cards` });
  made.style.setProperty("--ranks", frame.variant.ranks);
  frame.suits.forEach(({ letter }, suit) => {
    frame.variant.copies[suit].forEach((copies, rank) => made.append(kind(frame, suit, letter, rank, copies, gone)));
  });
  return made;
}

function kind(frame, suit, letter, rank, copies, gone) {
  const name = `${letter}${rank + 1}`;
  const discarded = gone.get(name) ?? 0;
  const made = el("div", `sm-kind sm-${letter}`, { role: "listitem", "data-kind": name, "data-discarded": discarded });
  const words = [`${name}: ${discarded} of ${copies} discarded`];
  if (rank < frame.fireworks[suit]) {
    made.classList.add("sm-played");
    words.push("played");
  } else if (frame.dead.includes(name)) {
    made.classList.add("sm-lost");
    words.push("dead");
  } else if (frame.critical.includes(name)) {
    made.classList.add("sm-last-copy");
    words.push("critical");
  }
  const { last } = frame;
  made.classList.toggle("sm-moved", last !== null && last.target === null && !last.added && last.card === name);
  const dots = Array.from({ length: copies }, (_, index) => el("i", index < discarded ? "sm-gone" : ""));
  made.append(el("b", "", { "aria-hidden": "true" }, name), el("span", "sm-copies", { "aria-hidden": "true" }, ...dots));
  made.setAttribute("aria-label", words.join(", "));
  made.title = words.join(", ");
  return made;
}

/** A policy's most likely actions, and its value. */
function policy(frame) {
  const { name = "policy", probabilities, value, choice } = frame.policy;
  const made = el("div", "sm-policy", { role: "list", "aria-label": `What ${name} thinks` });
  const title = el("div", "sm-label", {}, name);
  if (value !== undefined && value !== null) title.append(el("span", "sm-value", {}, ` expects ${value.toFixed(1)} more`));
  made.append(title);
  const rows = Object.entries(probabilities ?? (choice !== undefined && choice !== null ? { [choice]: 1 } : {}));
  rows.sort((one, other) => other[1] - one[1]);
  for (const [action, share] of rows.filter((row) => row[1] >= 0.001).slice(0, 6)) {
    const bar = el("span", "sm-bar", { "aria-hidden": "true" }, el("i"));
    bar.firstChild.style.setProperty("--share", share);
    const text = frame.policy.moves?.[action] ?? frame.legal.find((move) => move.action === Number(action))?.text ?? action;
    made.append(el("div", "sm-option", { role: "listitem", "data-action": action }, el("span", "sm-text", {}, text), bar, percent(share)));
  }
  return made;
}

/* The last turn: a line of text and an arrow. */

/** The last turn in words, and how the game ended. */
export function lastTurn(frame) {
  const parts = [frame.words];
  if (frame.ending !== null) parts.push(el("b", "sm-ending", {}, ` Game over: ${frame.ending.replaceAll("_", " ")}`));
  return parts;
}

/** Draws the arrow anew when the board's size changes. */
function follow(board, frame) {
  if (typeof ResizeObserver === "undefined") return;
  const observer = new ResizeObserver(() => (board.isConnected ? point(board, frame) : observer.disconnect()));
  observer.observe(board);
}
