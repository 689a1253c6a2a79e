/* The curves of a game below its board: the score, what could still be reached, what the policy expects. */
import { el, svg } from "./elements.js";

/** Draws the curves into an SVG of 1000 x 100. Returns the line that stands at the turn shown, and the legend. */
export function plot(chart, game, mistakes) {
  const most = game.variant.max_score;
  const y = (value) => 100 - (96 * Math.max(0, Math.min(value, most))) / most - 2;
  const points = (values) => values.map((value, turn) => `${xOf(game, turn)},${y(value)}`).join(" ");
  const scores = game.frames.map((frame) => frame.score);
  const head = svg("line", { class: "sr-head", y1: "0", y2: "100", x1: "0", x2: "0" });
  const drawn = [
    svg("polygon", { class: "sr-area", points: `0,100 ${points(scores)} ${xOf(game, scores.length - 1)},100` }),
    svg("polyline", { class: "sr-reach", points: points(game.reachable) }),
  ];
  const keys = [el("span", "sr-key-score", {}, "score"), el("span", "sr-key-reach", {}, "can still be reached")];
  if (game.values) {
    drawn.push(svg("polyline", { class: "sr-value", points: points(game.values.map((value, turn) => scores[turn] + value)) }));
    keys.push(el("span", "sr-key-value", {}, "the policy expects"));
  }
  for (const turn of mistakes) drawn.push(svg("line", { class: "sr-tick", x1: xOf(game, turn), x2: xOf(game, turn), y1: "0", y2: "14" }));
  chart.replaceChildren(...drawn, head);
  chart.setAttribute("aria-label", `Score by turn: ${game.score} of ${most} at the end`);
  return { head, keys: [...keys, el("span", "sr-key-tick", {}, "mistake")] };
}

/** Where a turn stands in the SVG. */
export function xOf(game, turn) {
  return (1000 * turn) / Math.max(game.actions.length, 1);
}
