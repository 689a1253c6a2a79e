/* The arrow of the last turn, from the hand of the seat that moved to what it moved or hinted.
 *
 * It runs beside the panels and between them, so that it crosses no card: left of the hands to the cards that a hint
 * touched, right of them to the stack or to the kind of the card that was moved.
 */
import { svg } from "./elements.js";

const BESIDE = 6; // pixels from the panels
const TIP = 7; // length of the arrow's head
const ROUND = 5; // radius of the corners

/** Draws the arrow of a frame's last turn on its board, in place of what was there. */
export function point(board, { last, suits }) {
  const layer = board.querySelector(".sm-arrows");
  layer.replaceChildren();
  const whole = board.getBoundingClientRect();
  if (!last || whole.width === 0) return;
  const routes = last.target === null ? moved(board, last, suits) : hinted(board, last);
  layer.setAttribute("viewBox", `0 0 ${whole.width} ${whole.height}`);
  const paths = routes.map((route) => arrow(route.map(([x, y]) => [x - whole.left, y - whole.top])));
  layer.append(svg("path", { d: paths.map(([line]) => line).join("") })); // as one, since they share their beginning
  for (const [, tip] of paths) layer.append(svg("path", { class: "sm-tip", d: tip }));
}

/** The places of a seat's panel, name, cards, last card and its face. */
function placesOf(board, seat) {
  const row = board.querySelector(`.sm-seat[data-seat="${seat}"]`);
  const box = (selector) => row.querySelector(selector)?.getBoundingClientRect();
  const panel = row.getBoundingClientRect();
  return { row, panel, name: box(".sm-name"), cards: box(".sm-cards"), end: box(".sm-card:last-child"), face: box(".sm-card:last-child .sm-face") };
}

/** The ways to the cards that a hint touched, from above; to the hand where it touched none. */
function hinted(board, last) {
  const [from, to] = [placesOf(board, last.seat), placesOf(board, last.target)];
  const beside = from.panel.left - BESIDE;
  const start = [[from.panel.left, middle(from.panel)], [beside, middle(from.panel)]];
  const touched = [...to.row.querySelectorAll(".sm-touched .sm-face")].map((face) => face.getBoundingClientRect());
  if (!touched.length) return [[...start, [beside, middle(to.name)], [to.panel.left + TIP, middle(to.name)]]];
  const above = to.panel.top - 4;
  return touched.map((face) => [...start, [beside, above], [center(face), above], [center(face), face.top - 4]]);
}

/** The way to the stack, or to the row of the kind, of the card that was played or discarded. */
function moved(board, last, suits) {
  const from = placesOf(board, last.seat);
  const suit = suits.findIndex(({ letter }) => letter === last.card[0]);
  const [stack, kinds] = [board.querySelector(`.sm-stack[data-suit="${suit}"]`), board.querySelector(".sm-kinds")].map((one) => one.getBoundingClientRect());
  const isBeside = kinds.left >= from.panel.right; // otherwise the stacks are above the hands, the kinds below
  const beside = from.panel.right + (isBeside ? (kinds.left - from.panel.right) / 2 : BESIDE);
  const y = from.face ? middle(from.face) : middle(from.panel);
  const start = [[(from.end?.right ?? from.cards.left) + 4, y], [beside, y]];
  if (!last.added) {
    const row = middle(board.querySelector(`.sm-kind[data-kind="${CSS.escape(last.card)}"]`).getBoundingClientRect());
    return [[...start, [beside, row], [isBeside ? kinds.left + TIP : kinds.right - TIP, row]]];
  }
  const [edge, before] = [stack.bottom + 4, stack.bottom + 4 + TIP];
  return [[...start, [beside, before], [center(stack), before], [center(stack), edge]]];
}

function center(box) {
  return box.left + box.width / 2;
}

function middle(box) {
  return box.top + box.height / 2;
}

/** The line through points, with round corners, and its head at the last one. */
function arrow(points) {
  const end = points.at(-1);
  const neck = towards(end, points.at(-2), TIP, 1);
  const line = points.slice(1, -1).map((corner, index) => `L${towards(corner, points[index], ROUND)}Q${corner} ${towards(corner, points[index + 2], ROUND)}`);
  const [wideX, wideY] = [(neck[1] - end[1]) * 0.7, (end[0] - neck[0]) * 0.7];
  const tip = `M${end}L${neck[0] + wideX} ${neck[1] + wideY} ${neck[0] - wideX} ${neck[1] - wideY}z`;
  return [`M${points[0]}${line.join("")}L${neck}`, tip];
}

/** The point at a distance from a corner on the way to another point, or no further than a share of the way. */
function towards([x, y], [otherX, otherY], distance, most = 0.5) {
  const length = Math.max(Math.abs(otherX - x), Math.abs(otherY - y));
  const share = length ? Math.min(distance / length, most) : 0;
  return [x + (otherX - x) * share, y + (otherY - y) * share];
}
