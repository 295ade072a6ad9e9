// The rules in JavaScript, so that a click drops a disc at once. A Game never changes; playing a
// column makes a new one.

const MAX_BITS = 63; // as on the server: (rows + 1) * columns may be at most this
const NUMBERS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

export const SIDES = ['red', 'yellow'];
export const named = (side) => (side === 'red' ? 'Red' : 'Yellow');

export class Game {
  // grid: rows of 0 (empty), 1 (red), 2 (yellow), top row first.
  constructor({ columns, rows, inARow, start, grid, toMove, moves = [], before = null }) {
    Object.assign(this, { columns, rows, inARow, start, grid, toMove, moves, before });
    this.winningCells = lines(grid, inARow);
    const full = grid[0].every((cell) => cell);
    this.outcome = this.winningCells.length
      ? `${SIDES[this.cell(...this.winningCells[0]) - 1]} wins`
      : full
        ? 'draw'
        : null;
    Object.freeze(this);
  }

  // Read what an address or an answer of the server says; a start is '' (the empty board) or a FEN.
  static from({ start = '', moves = '', board = '' } = {}) {
    const rules = board ? readBoard(board) : null;
    let game = start ? readFen(start, rules) : empty(rules ?? readBoard('7x6x4'));
    for (const column of readMoves(moves)) game = game.play(column);
    return game;
  }

  get board() {
    return `${this.columns}x${this.rows}x${this.inARow}`;
  }

  get movesText() {
    return this.moves.map((column) => (this.columns > 9 ? `${column},` : column)).join('');
  }

  get fen() {
    const row = (cells) =>
      cells
        .map((cell) => '-ry'[cell])
        .join('')
        .replace(/-+/g, (gap) => gap.length);
    return `${this.grid.map(row).join('/')} ${this.toMove[0]} ${this.inARow}`;
  }

  // How a request to the API names this position.
  request() {
    const asked = { start: this.start, moves: this.movesText, board: this.board };
    return this.at(0).usual ? asked : { ...asked, any_counts: true };
  }

  // Whether the numbers of discs can come up in a real game, and nobody was to move after the end.
  get usual() {
    const [red, yellow] = [1, 2].map(
      (side) => this.grid.flat().filter((cell) => cell === side).length,
    );
    return red - yellow === SIDES.indexOf(this.toMove) && this.outcome !== `${this.toMove} wins`;
  }

  // The cell of a column and a row, both counted from 1, row 1 at the bottom.
  cell(column, row) {
    return this.grid[this.rows - row][column - 1];
  }

  height(column) {
    return this.grid.filter((row) => row[column - 1]).length;
  }

  legal() {
    if (this.outcome) return [];
    return this.grid[0].flatMap((cell, index) => (cell ? [] : [index + 1]));
  }

  play(column) {
    if (this.outcome) throw new Error(`The game is over: ${this.ending}.`);
    if (!(Number.isInteger(column) && column >= 1 && column <= this.columns)) {
      throw new Error(`There is no column ${column}: the board has columns 1 to ${this.columns}.`);
    }
    const row = this.rows - 1 - this.height(column);
    if (row < 0) throw new Error(`Column ${column} is full.`);
    const grid = [...this.grid];
    grid[row] = grid[row].with(column - 1, SIDES.indexOf(this.toMove) + 1);
    const toMove = this.toMove === 'red' ? 'yellow' : 'red';
    return new Game({ ...this, grid, toMove, moves: [...this.moves, column], before: this });
  }

  // The game after its first n moves.
  at(n) {
    let game = this;
    while (game.moves.length > n) game = game.before;
    return game;
  }

  // The outcome as people say it.
  get ending() {
    if (this.outcome === 'draw') return 'a draw, the board is full';
    return this.outcome && `${this.outcome} with ${NUMBERS[this.inARow] ?? this.inARow} in a row`;
  }
}

export function readBoard(text) {
  const match = /^(\d{1,3})x(\d{1,3})(?:x(\d{1,3}))?$/.exec(text.trim());
  if (!match)
    throw new Error(
      `A board is written columns x rows x in a row, for example 7x6x4, not ${text}.`,
    );
  const [columns, rows, inARow] = match.slice(1).map((number) => Number(number ?? 4));
  if (columns < 1 || rows < 1) throw new Error('A board needs at least one column and one row.');
  if (inARow < 3) throw new Error('At least three in a row must win.');
  if ((rows + 1) * columns > MAX_BITS || inARow > MAX_BITS) {
    throw new Error(
      `The board ${text} is too large: (rows + 1) × columns may be at most ${MAX_BITS}.`,
    );
  }
  return { columns, rows, inARow };
}

export function isFen(text) {
  return /^[ry\d]+((\/[ry\d]+)+|(\/[ry\d]+)*\s+[ry](\s+\d{1,2})?)$/.test(text);
}

export function readMoves(moves) {
  if (Array.isArray(moves)) return moves;
  if (!/^[\d,\s]*$/.test(moves))
    throw new Error(`Moves are columns, for example 4453, not ${moves}.`);
  return (moves.match(moves.includes(',') ? /\d+/g : /\d/g) ?? []).map(Number);
}

// A game that starts from a board of any discs; throws where no game could go on from it.
export function fromGrid(grid, inARow, toMove = null) {
  const [columns, rows] = [grid[0].length, grid.length];
  readBoard(`${columns}x${rows}x${inARow}`);
  if (grid.some((row) => row.length !== columns))
    throw new Error('The rows of a board must all have the same number of cells.');
  const count = (side) => grid.flat().filter((cell) => cell === side).length;
  const floats = grid[0].findIndex((_, column) =>
    grid.some((row, i) => row[column] && grid[i + 1]?.[column] === 0),
  );
  if (floats >= 0) throw new Error(`A disc floats above an empty cell in column ${floats + 1}.`);
  const side = toMove ?? (count(1) > count(2) ? 'yellow' : 'red');
  const bare = new Game({ columns, rows, inARow, start: '', grid, toMove: side });
  if (new Set(bare.winningCells.map((cell) => bare.cell(...cell))).size > 1)
    throw new Error('Both sides have won.');
  return grid.flat().every((cell) => !cell) && side === 'red'
    ? bare
    : new Game({ ...bare, start: bare.fen });
}

function readFen(text, rules) {
  if (!isFen(text)) throw new Error(`Cannot read the position ${text}.`);
  const [cells, side, inARow] = text.trim().split(/\s+/);
  const grid = cells
    .split('/')
    .map((line) =>
      line
        .match(/\d+|[ry]/g)
        .flatMap((token) =>
          /\d/.test(token)
            ? Array(Math.min(Number(token), MAX_BITS)).fill(0)
            : [' ry'.indexOf(token)],
        ),
    );
  const game = fromGrid(
    grid,
    Number(inARow ?? rules?.inARow ?? 4),
    side && (side === 'r' ? 'red' : 'yellow'),
  );
  const asked = rules && `${rules.columns}x${rules.rows}x${rules.inARow}`;
  if (asked && asked !== game.board)
    throw new Error(`The position is on a ${game.board} board, not ${asked}.`);
  return game;
}

function empty({ columns, rows, inARow }) {
  const grid = Array.from({ length: rows }, () => Array(columns).fill(0));
  return new Game({ columns, rows, inARow, start: '', grid, toMove: 'red' });
}

// The cells of every winning line, as [column, row] from 1 with row 1 at the bottom.
function lines(grid, inARow) {
  const rows = grid.length;
  const cells = new Map();
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < grid[0].length; column++) {
      const side = grid[row][column];
      if (!side) continue;
      for (const [down, right] of [
        [0, 1],
        [1, 0],
        [1, 1],
        [1, -1],
      ]) {
        const line = Array.from({ length: inARow }, (_, i) => [row + i * down, column + i * right]);
        if (line.every(([r, c]) => grid[r]?.[c] === side)) {
          for (const [r, c] of line) cells.set(`${c} ${r}`, [c + 1, rows - r]);
        }
      }
    }
  }
  return [...cells.values()];
}
