// Replay games from standard input and print every position as the page sees it.
// tests/web/test_javascript.py compares the output with Python's.

import { readFileSync } from 'node:fs';

import { Game } from '../../src/fourlab/web/static/game.js';

const games = JSON.parse(readFileSync(0, 'utf8'));
const seen = games.map(({ board, columns }) => {
  let game = Game.from({ board });
  const positions = [];
  for (const column of [...columns, null]) {
    const { fen, outcome, toMove, movesText } = game;
    const cells = game.winningCells.map(([x, y]) => `${x},${y}`).sort();
    positions.push({ fen, outcome, toMove, movesText, legal: game.legal(), cells });
    if (column !== null) game = game.play(column);
  }
  return positions;
});
process.stdout.write(JSON.stringify(seen));
