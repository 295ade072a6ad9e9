// Which agents can reply at once, and when the others will.
// The server is asked only while something is not ready.

import { get, post } from './api.js';

const TICKS = 2; // seconds between two questions to the server
const LONG = 100; // longer waits, in seconds, are shown in minutes

const entries = new Map(); // level or agent -> { name, ready, seconds }
const listeners = new Set();
let answeredAt = 0; // when the last answer came
export let boardOf = () => null;

// Ask until everything is ready; board() says on which board the levels are to play.
export function watch(board) {
  boardOf = board;
  ask();
}

// A listener is called every second while something is not ready, and when everything is.
export function subscribe(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const entry = (agent) => entries.get(agent) ?? entries.get(agent.split(':')[0]);

// The seconds until an agent can reply, about; 0 if it can, or if the server has not said.
export function secondsUntil(agent) {
  const { ready = true, seconds } = entry(agent) ?? {};
  return ready ? 0 : Math.max(1, Math.round(seconds - (performance.now() - answeredAt) / 1000));
}

export const about = (seconds) =>
  `about ${seconds < LONG ? `${seconds} s` : `${Math.round(seconds / 60)} min`}`;

export const nameOf = (agent) => entry(agent)?.name ?? agent;

// "Master ready in about 12 s", or an empty text if it is ready.
export function waitFor(agent) {
  const seconds = secondsUntil(agent);
  return seconds ? `${nameOf(agent)} ready in ${about(seconds)}` : '';
}

// Let an agent be prepared before the others.
export function prefer(agent) {
  if (secondsUntil(agent)) post('ready', { agent, board: boardOf() }).then(take, () => {});
}

function take(answer) {
  answeredAt = performance.now();
  for (const item of [...answer.agents, ...answer.levels]) entries.set(item.agent, item);
  for (const listener of [...listeners]) listener();
  return answer.ready;
}

async function ask() {
  try {
    if (take(await get('ready', { board: boardOf() }))) return;
  } catch {
    if (!entries.size) return; // requests wait in the server, whatever the page knows
  }
  for (let tick = 0; tick < TICKS; tick++) {
    await new Promise((done) => setTimeout(done, 1000));
    for (const listener of [...listeners]) listener();
  }
  ask();
}
