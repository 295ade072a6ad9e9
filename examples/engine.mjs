// A complete engine for the protocol of docs/reference/engine-protocol.md: it wins if it can,
// else blocks, else plays near the centre.
import { createInterface } from 'node:readline';
let columns = 7,
  rows = 6,
  inARow = 4,
  disc = 'r',
  board = Array.from({ length: 7 }, () => []); // columns of discs
const other = (side) => (side === 'r' ? 'y' : 'r');

/** Return whether a disc dropped into column x completes a line in one of four directions. */
function makesLine(x, side) {
  return [
    [1, 0],
    [0, 1],
    [1, 1],
    [1, -1],
  ].some(([right, up]) => {
    let count = 1;
    for (const way of [1, -1])
      for (let n = way; board[x + n * right]?.[board[x].length + n * up] === side; n += way)
        count++;
    return count >= inARow;
  });
}
function setUp(words, size) {
  const at = words.indexOf('moves'),
    moves = at < 0 ? [] : words.slice(at + 1);
  if (size) [columns, rows, inARow] = size.split('x').map(Number);
  const lines =
    words[0] === 'fen'
      ? words[1]
          .replace(/\d+/g, (empty) => '.'.repeat(empty))
          .split('/')
          .reverse()
      : [];
  if (lines.length) [columns, rows, inARow] = [lines[0].length, lines.length, Number(words[3])];
  board = Array.from({ length: columns }, () => []);
  disc = lines.length ? words[2] : 'r';
  for (const line of lines) [...line].forEach((cell, x) => cell !== '.' && board[x].push(cell));
  for (const move of moves) {
    board[move - 1].push(disc);
    disc = other(disc);
  }
}
function choose() {
  const far = (x) => Math.abs(2 * x - columns + 1),
    open = [...board.keys()].filter((x) => board[x].length < rows);
  const legal = open.sort((a, b) => far(a) - far(b));
  return (
    legal.find((x) => makesLine(x, disc)) ??
    legal.find((x) => makesLine(x, other(disc))) ??
    legal[0]
  );
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const [word, ...rest] = line.trim().split(/\s+/);
  if (word === 'c4i') console.log('id name example in JavaScript\nid author Fourlab\nc4iok');
  else if (word === 'isready') console.log('readyok');
  else if (word === 'ping') console.log(`pong ${rest[0]}`);
  else if (word === 'newgame') setUp(['startpos'], /x/.test(rest[0]) ? rest[0] : '7x6x4');
  else if (word === 'position') setUp(rest);
  else if (word === 'go') console.log(`bestmove ${choose() + 1}`);
  else if (word === 'quit') process.exit();
});
