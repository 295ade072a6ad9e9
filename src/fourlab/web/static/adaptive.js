// The adaptive opponent: a level that this browser remembers and that follows a person's results.
// Which level comes next is the server's rule: GET /agents says it for every level.

import { agents } from './ui.js';

export const ADAPTIVE = 'adaptive';
const FIRST = 'level:3';

// The level that plays for an agent: the adaptive one's, or the agent itself.
export const playing = (agent, settings) =>
  agent === ADAPTIVE ? settings.get('adaptive-level', FIRST) : agent;

// Choose the next level after a game; result is 'win', 'loss' or 'draw', for the person.
export async function adapt(result, settings) {
  const { levels } = await agents();
  const level = levels.find(({ agent }) => agent === playing(ADAPTIVE, settings));
  const next = level?.[`after_${result}`] ?? level?.agent ?? FIRST;
  settings.set('adaptive-level', next);
  return levels.find(({ agent }) => agent === next);
}
