/* The page of starmine play: tables to sit or watch at. What may be seen comes from the server (web_tables.py).
 * All text is set as text, never as markup.
 */
import { draw, lastTurn } from "./board.js";
import { el } from "./elements.js";
import { replay } from "./replay.js";

const SPEEDS = { fast: 0, normal: 800, slow: 2000 }; // milliseconds before a partner's turn
const ALIVE = 20000; // milliseconds between signs that the page is open
const PERSON = "you";

const root = el("div", "sr", { role: "region", "aria-label": "Hanabi" });
let choices = null;
let open = null; // the key of the table that is shown
let shown = null; // what was told of it last
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
async function askAt(table, what, told) {
  const path = `tables/${table.id}`;
  try {
    return await ask(`${path}/${what}`, { ...told, at: [table.frame.turn, table.undone] });
  } catch (error) {
    if (error.isStale) await show(await ask(path));
    throw error;
  }
}

/* The list of tables, and the form for a new one. */

async function showTables() {
  clearTimeout(timer);
  open = null;
  const tables = await ask("tables");
  const list = el("ul", "sp-tables", { "aria-label": "Tables" });
  for (const table of tables) {
    const state = table.over ? " (over)" : table.waits ? " (your turn)" : "";
    list.append(el("li", "", {}, el("a", "", { href: `#table=${table.id}` }, table.title + state)));
  }
  const title = el("h1", "sr-title", {}, "Hanabi");
  root.replaceChildren(title, ...(tables.length ? [list] : []), form(), say());
}

function form() {
  const rules = select("Variant", choices.variants, "standard");
  const players = select("Seats", ["2", "3", "4", "5"], "2");
  const seats = el("div", "sp-form", { role: "group", "aria-label": "Who sits where" });
  const fill = () => {
    const held = [...seats.querySelectorAll("select")].map((seat) => seat.value);
    const offered = [PERSON, ...choices.players];
    const rows = Array.from({ length: Number(players.value) }, (_, seat) => {
      const other = held[1] ?? choices.players[0];
      return label(`Seat ${seat}`, select(`Seat ${seat}`, offered, held[seat] ?? (seat === 0 ? PERSON : other)));
    });
    seats.replaceChildren(...rows);
  };
  players.addEventListener("change", fill);
  fill();
  const start = button("Start", () => begin(rules.value, [...seats.querySelectorAll("select")].map((seat) => (seat.value === PERSON ? null : seat.value))));
  start.classList.add("sp-primary");
  const made = el("section", "sp-form", { "aria-label": "New table" }, label("Variant", rules), label("Seats", players));
  made.append(seats, el("p", "sr-others", {}, "Without you in a seat, you watch, and see all cards."), start);
  return made;
}

async function begin(variant, seats) {
  const table = await ask("tables", { variant, seats });
  location.hash = `#table=${table.id}`;
}

/* A table. */

async function enter(id) {
  clearTimeout(timer);
  open = id;
  paused = false;
  await show(await ask(`tables/${id}`));
}

/** Shows a table, and goes on with the partners' turns. */
async function show(table) {
  if (open !== table.id) return; // the person has left it meanwhile
  shown = table;
  if (table.over) {
    await ended(table);
    return;
  }
  if (root.dataset.table !== table.id || !root.querySelector(".sp-board")) build(table);
  const acts = table.waits ? { onAction: (action) => send(table, "act", { action }) } : {};
  draw(root.querySelector(".sp-board"), table.frame, { ...acts, last: false });
  for (const [name, enabled] of [["Take back", table.moved], ["Advice", table.waits]]) {
    const found = root.querySelector(`[data-name="${name}"]`);
    if (found) found.disabled = !enabled;
  }
  log(table);
  happened(table);
  word(table.waits ? "Your turn." : `${table.frame.names[table.frame.current_player]} is to act.`);
  goOn(table);
}

/** Asks for the partner's turn, after a while. */
function goOn(table) {
  clearTimeout(timer);
  if (!table.waits && !paused) timer = setTimeout(() => send(table, "step", {}), SPEEDS[speed]);
}

async function send(table, what, told) {
  clearTimeout(timer);
  if (sending) return; // the second click of two
  sending = true;
  try {
    await show(await askAt(table, what, told));
  } catch (error) {
    problem(error);
  } finally {
    sending = false;
  }
}

function build(table) {
  root.dataset.table = table.id;
  const pace = select("Speed", Object.keys(SPEEDS), speed);
  pace.addEventListener("change", () => {
    speed = pace.value;
  });
  const bar = el("div", "sp-bar", {});
  if (table.seat !== null) {
    const bots = select("Adviser", table.advisers, table.advisers[0]);
    bar.append(button("Take back", () => send(shown, "back", {})), button("Advice", () => advise(bots.value)), bots);
  } else bar.append(pause(), button("Next turn", () => send(shown, "step", {})));
  bar.append(pace, button("Leave", () => leave(table)));
  const turns = el("ol", "sr-log", { "aria-label": "Turns" });
  const happened = el("p", "sp-happened", { "aria-live": "polite" });
  happened.style.setProperty("--lines", table.seat === null ? 1 : table.frame.hands.length - 1);
  const controls = el("div", "sr-controls sp-controls", {}, happened, say(), bar);
  const main = el("div", "sr-main", {}, el("div", "sr-left sp-board"), el("aside", "sr-side sp-side", {}, controls, turns));
  root.replaceChildren(header(table), main);
}

function header(table) {
  return el("div", "sr-header", {}, el("h1", "sr-title", {}, table.title), el("div", "sr-settings", {}, home()));
}

function home() {
  return el("a", "sr-link", { href: "#" }, "All tables");
}

function pause() {
  const made = button("Pause", async () => {
    paused = !paused;
    made.textContent = paused ? "Go on" : "Pause";
    if (!paused) await send(shown, "step", {});
    else clearTimeout(timer);
  });
  return made;
}

async function advise(bot) {
  const found = await askAt(shown, "advice", { bot });
  word(`${found.bot} would: ${found.text}`);
  root.querySelectorAll(".sp-advised").forEach((made) => made.classList.remove("sp-advised"));
  root.querySelector(`.sm-move[data-action="${found.action}"]`)?.classList.add("sp-advised");
}

async function leave(table) {
  await ask(`tables/${table.id}/close`, {});
  location.hash = "#";
}

function log(table) {
  const turns = root.querySelector(".sr-log");
  turns.replaceChildren(...table.log.map((text, turn) => el("li", "", {}, el("span", "sr-number", {}, String(turn + 1)), text)));
  turns.scrollTop = turns.scrollHeight;
}

/** What was played since the person's last move; to one who watches, the last turn. */
function happened(table) {
  const turns = table.seat === null ? [] : table.log.slice(table.last_own_turn);
  const lines = turns.length ? turns.map((text) => [text]) : [lastTurn(table.frame)];
  root.querySelector(".sp-happened").replaceChildren(...lines.map((line) => el("span", "", {}, ...line)));
}

/** At the end: the replay with all cards, beliefs and mistakes. */
async function ended(table) {
  root.dataset.table = "";
  const data = await ask(`tables/${table.id}/replay`);
  const { score, variant } = table.frame;
  const back = table.undone ? ` after ${table.undone} moves were taken back` : "";
  const how = table.frame.ending.replaceAll("_", " ");
  const save = el("a", "sr-button", { href: `tables/${table.id}/replay.html`, download: "hanabi.html" }, "Save replay");
  const result = el("h1", "sr-title sp-result", { "aria-live": "polite" }, `${score} of ${variant.max_score} points${back}: ${how}`);
  const whole = el("div", "sp-replay");
  const again = button("Play again", () => begin(table.told.variant, table.told.seats));
  root.replaceChildren(whole, say());
  const played = replay(whole, data, { title: result, buttons: [again, save, button("Leave", () => leave(table)), home()] });
  played.go(table.frame.turn);
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

function label(text, made) {
  return el("label", "", {}, el("span", "", {}, text), made);
}

/** Shows what the address names. */
async function route() {
  try {
    const id = new URLSearchParams(location.hash.slice(1)).get("table");
    await (id === null ? showTables() : enter(id));
  } catch (error) {
    problem(error);
  }
}

document.getElementById("play").replaceChildren(root);
addEventListener("hashchange", route);
setInterval(() => fetch("choices").catch(() => {}), ALIVE);
try {
  choices = await ask("choices");
  await route();
} catch (error) {
  problem(error);
}
