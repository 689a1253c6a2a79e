/* The page of starmine play: a game to sit or watch at. What may be seen comes from the server (web_game.py).
 * All text is set as text, never as markup.
 */
import { draw, lastTurn } from "./board.js";
import { el } from "./elements.js";
import { replay } from "./replay.js";

const SPEEDS = { fast: 0, normal: 800, slow: 2000 }; // milliseconds before a partner's turn
const ALIVE = 20000; // milliseconds between signs that the page is open

const root = el("div", "sr", { role: "region", "aria-label": "Hanabi" });
let shown = null; // what was told of the game last
let speed = "normal";
let paused = false;
let timer = null;
let sending = false;

/** Asks the server; an answer of it that is no success becomes an error with its words. */
async function ask(path, told) {
  const settings = told === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(told) };
  let answer;
  try {
    answer = await fetch(path, settings);
  } catch {
    throw new Error("The program does not answer; it may have been ended.");
  }
  const found = await answer.json();
  if (!answer.ok) throw Object.assign(new Error(found.error), { isStale: answer.status === 409 });
  return found;
}

/** Asks what depends on the position that is shown: another page may have moved on. */
async function askAt(what, told) {
  try {
    return await ask(what, { ...told, at: [shown.game, shown.frame.turn] });
  } catch (error) {
    if (error.isStale) await show(await ask("game"));
    throw error;
  }
}

/** Shows the game, and goes on with the partners' turns. */
async function show(game) {
  shown = game;
  if (game.over) {
    await ended(game);
    return;
  }
  if (root.dataset.game !== String(game.game)) build(game);
  const acts = game.waits ? { onAction: (action) => send("act", { action }) } : {};
  draw(root.querySelector(".sp-board"), game.frame, { ...acts, last: false });
  const advice = root.querySelector('[data-name="Advice"]');
  if (advice) advice.disabled = !game.waits;
  log(game);
  happened(game);
  word(game.waits ? "Your turn." : `${game.frame.names[game.frame.current_player]} is to act.`);
  goOn(game);
}

/** Asks for the partner's turn, after a while. */
function goOn(game) {
  clearTimeout(timer);
  if (!game.waits && !paused) timer = setTimeout(() => send("step", {}), SPEEDS[speed]);
}

async function send(what, told) {
  clearTimeout(timer);
  if (sending) return; // the second click of two
  sending = true;
  try {
    await show(await askAt(what, told));
  } catch (error) {
    problem(error);
  } finally {
    sending = false;
  }
}

function build(game) {
  root.dataset.game = String(game.game);
  paused = false;
  const pace = select("Speed", Object.keys(SPEEDS), speed);
  pace.addEventListener("change", () => {
    speed = pace.value;
  });
  const bar = el("div", "sp-bar", {});
  if (game.seat !== null) {
    const bots = select("Adviser", game.advisers, game.advisers[0]);
    bar.append(button("Advice", () => advise(bots.value)), bots);
  } else bar.append(pause(), button("Next turn", () => send("step", {})));
  bar.append(pace, button("New game", () => send("begin", {})));
  const turns = el("ol", "sr-log", { "aria-label": "Turns" });
  const happened = el("p", "sp-happened", { "aria-live": "polite" });
  happened.style.setProperty("--lines", game.seat === null ? 1 : game.frame.hands.length - 1);
  const controls = el("div", "sr-controls sp-controls", {}, happened, say(), bar);
  const main = el("div", "sr-main", {}, el("div", "sr-left sp-board"), el("aside", "sr-side sp-side", {}, controls, turns));
  root.replaceChildren(el("div", "sr-header", {}, el("h1", "sr-title", {}, game.title)), main);
}

function pause() {
  const made = button("Pause", async () => {
    paused = !paused;
    made.textContent = paused ? "Go on" : "Pause";
    if (!paused) await send("step", {});
    else clearTimeout(timer);
  });
  return made;
}

async function advise(bot) {
  const found = await askAt("advice", { bot });
  word(`${found.bot} would: ${found.text}`);
  root.querySelectorAll(".sp-advised").forEach((made) => made.classList.remove("sp-advised"));
  root.querySelector(`.sm-move[data-action="${found.action}"]`)?.classList.add("sp-advised");
}

function log(game) {
  const turns = root.querySelector(".sr-log");
  turns.replaceChildren(...game.log.map((text, turn) => el("li", "", {}, el("span", "sr-number", {}, String(turn + 1)), text)));
  turns.scrollTop = turns.scrollHeight;
}

/** What was played since the person's last move; to one who watches, the last turn. */
function happened(game) {
  const turns = game.seat === null ? [] : game.log.slice(game.last_own_turn);
  const lines = turns.length ? turns.map((text) => [text]) : [lastTurn(game.frame)];
  root.querySelector(".sp-happened").replaceChildren(...lines.map((line) => el("span", "", {}, ...line)));
}

/** At the end: the replay with all cards, beliefs and mistakes. */
async function ended(game) {
  root.dataset.game = "";
  const data = await ask("replay");
  const { score, variant } = game.frame;
  const how = game.frame.ending.replaceAll("_", " ");
  const save = el("a", "sr-button", { href: "replay.html", download: "hanabi.html" }, "Save replay");
  const result = el("h1", "sr-title sp-result", { "aria-live": "polite" }, `${score} of ${variant.max_score} points: ${how}`);
  const whole = el("div", "sp-replay");
  root.replaceChildren(whole, say());
  const buttons = [button("New game", () => send("begin", {})), save];
  const played = replay(whole, data, { title: result, buttons });
  played.go(game.frame.turn);
  whole.firstChild.focus({ preventScroll: true }); // so that the keys step through the game at once
  scrollTo(0, 0);
}

/* Small parts. */

function say() {
  return el("p", "sp-say", { "aria-live": "polite" });
}

function word(text) {
  const line = root.querySelector(".sp-say");
  if (!line) return;
  line.classList.remove("sp-problem");
  line.textContent = text;
}

function problem(error) {
  if (!root.querySelector(".sp-say")) root.append(say());
  word(error.message);
  root.querySelector(".sp-say").classList.add("sp-problem");
}

function button(name, act) {
  const made = el("button", "sr-button", { type: "button", "data-name": name }, name);
  made.addEventListener("click", async () => {
    try {
      await act();
    } catch (error) {
      problem(error);
    }
  });
  return made;
}

function select(name, values, chosen) {
  const made = el("select", "", { "aria-label": name });
  for (const value of values) made.append(el("option", "", { value }, value));
  made.value = chosen;
  return made;
}

document.getElementById("play").replaceChildren(root);
setInterval(() => fetch("game").catch(() => {}), ALIVE);
try {
  await show(await ask("game"));
} catch (error) {
  problem(error);
}
