/* Turns, and what the players knew, in words. A game is one of the data of replay.py, a frame one of frame.py. */

export function percent(share) {
  return share > 0 && share < 0.005 ? "<1%" : `${Math.round(share * 100)}%`;
}

/** What had been hinted about the card of a turn, and how likely it was to fit or to be needed; of hints nothing. A seat
 * that looks learns no other seat's likelihood, which depends on its own cards. */
export function known(game, turn, seat = null) {
  const last = turn > 0 ? game.frames[turn].last : null;
  if (last === null || last.target !== null) return [];
  const before = game.frames[turn - 1];
  const held = before.hands[last.seat][last.slot];
  const found = hintsOf(game, (game.told[held.number] ?? []).filter(([at, said]) => at < turn && said.startsWith("+")));
  if (held.belief && (seat === null || seat === last.seat)) found.push(chance(game, before, last, held.belief));
  return found;
}

/** Who hinted what about a card, such as "smart told it red (turn 3), rank 1 (turn 9)". */
function hintsOf(game, hints) {
  const givers = new Map();
  for (const [at, said] of hints) {
    const giver = game.seats[game.frames[at].last.seat];
    givers.set(giver, [...(givers.get(giver) ?? []), `${nameOf(game, said.slice(1))} (turn ${at})`]);
  }
  if (!givers.size) return ["no hint had touched it"];
  return [...givers].map(([giver, words]) => `${giver} hinted it: ${words.join(", ")}`);
}

/** The words for what a hint names, a suit's letter or a rank. */
function nameOf(game, said) {
  return game.suits.find(({ letter }) => letter === said)?.name ?? `rank ${said}`;
}

/** How likely the card was to fit, or to be the last copy of a needed card, by all that its owner could know. */
function chance(game, before, last, belief) {
  const { ranks } = game.variant;
  const wanted = last.kind === "discard" ? before.critical : before.playable;
  const suit = (kind) => Math.floor(kind / ranks);
  const counts = (kind) => wanted.includes(`${game.suits[suit(kind)].letter}${(kind % ranks) + 1}`) && (last.announced === null || last.announced === suit(kind));
  const share = belief.reduce((sum, part, kind) => sum + (counts(kind) ? part : 0), 0);
  return `for its owner it was ${last.kind === "discard" ? "a last copy" : "playable"} with a probability of ${percent(share)}`;
}

/** What the bot and the policy would have played on a turn, from 1; of a player itself only what differs. */
export function others(game, turn) {
  const action = game.actions[turn - 1];
  const { current_player: seat, policy } = game.frames[turn - 1];
  const found = [];
  const bot = game.compare?.actions[turn - 1];
  const isPlayer = (name) => name === game.names[seat];
  if (bot !== undefined && !(bot === action && isPlayer(game.compare.name))) found.push([game.compare.name, bot === action ? null : game.moves[seat][bot], ""]);
  if (policy && !(policy.choice === action && isPlayer(policy.name))) {
    const share = policy.probabilities[action];
    const gave = share === undefined || policy.choice === action ? "" : ` (this move: ${percent(share)})`;
    found.push([policy.name, policy.choice === action ? null : game.moves[seat][policy.choice], gave]);
  }
  return found;
}

/** The title with the players, where it does not name them, and the points. */
export function titleOf(game) {
  const isNamed = game.names.every((name) => /^seat \d+$/.test(name) || game.title.includes(name));
  const players = isNamed ? "" : ` of ${game.names.join(", ")}`;
  return `${game.title}${players}: ${game.score} of ${game.variant.max_score} points`;
}

/** The turn that a game opens on: the costliest of a lost game, or else the deal. */
export function opening(game) {
  if (!["lost", "indispensable_card_lost", "no_legal_action"].includes(game.ending)) return 0;
  return game.mistakes.reduce((worst, one) => (one.points > worst.points ? one : worst), { turn: game.actions.length, points: 0 }).turn;
}

/** Which of the life tokens a misplay took, such as "1st of 3 lives". */
export function lifeOf(game, turn) {
  const most = game.variant.max_life_tokens;
  const number = most - game.frames[turn].life_tokens;
  return `${number}${["st", "nd", "rd"][number - 1] ?? "th"} of ${most} ${most === 1 ? "life" : "lives"}`;
}
