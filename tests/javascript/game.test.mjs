// The page's own rules and notation. tests/web/test_javascript.py compares them with Python's.

import assert from 'node:assert/strict';
import test from 'node:test';

import {
  Game,
  fromGrid,
  isFen,
  named,
  readBoard,
  readMoves,
} from '../../src/fourlab/web/static/game.js';

const played = (moves, board = '7x6x4') => Game.from({ moves, board });

test('a new game is empty and red begins', () => {
  const game = Game.from();
  assert.equal(game.board, '7x6x4');
  assert.equal(game.toMove, 'red');
  assert.equal(game.outcome, null);
  assert.equal(game.ending, null);
  assert.deepEqual(game.legal(), [1, 2, 3, 4, 5, 6, 7]);
  assert.equal(game.fen, '7/7/7/7/7/7 r 4');
});

test('discs fall to the lowest empty cell and sides alternate', () => {
  const game = played('445');
  assert.equal(game.cell(4, 1), 1);
  assert.equal(game.cell(4, 2), 2);
  assert.equal(game.cell(5, 1), 1);
  assert.equal(game.height(4), 2);
  assert.equal(game.height(1), 0);
  assert.equal(game.toMove, 'yellow');
});

test('playing makes a new game and leaves the old one alone', () => {
  const before = played('44');
  const after = before.play(1);
  assert.equal(before.movesText, '44');
  assert.equal(after.movesText, '441');
  assert.equal(after.at(2), before);
  assert.equal(after.at(0).movesText, '');
  assert.throws(() => {
    before.toMove = 'yellow';
  }, TypeError);
});

for (const [direction, moves, cells] of [
  [
    'horizontal',
    '1122334',
    [
      [1, 1],
      [2, 1],
      [3, 1],
      [4, 1],
    ],
  ],
  [
    'vertical',
    '1212121',
    [
      [1, 1],
      [1, 2],
      [1, 3],
      [1, 4],
    ],
  ],
  [
    'rising',
    '32234514344',
    [
      [1, 1],
      [2, 2],
      [3, 3],
      [4, 4],
    ],
  ],
  [
    'falling',
    '1574644265554',
    [
      [7, 1],
      [6, 2],
      [5, 3],
      [4, 4],
    ],
  ],
]) {
  test(`a ${direction} line of four wins`, () => {
    const game = played(moves);
    assert.equal(game.outcome, 'red wins');
    assert.equal(game.ending, 'red wins with four in a row');
    assert.deepEqual(game.legal(), []);
    const sorted = (list) => list.map(String).sort();
    assert.deepEqual(sorted(game.winningCells), sorted(cells));
    assert.throws(() => game.play(1), /The game is over: red wins with four in a row\./);
  });
}

test('two lines completed by one disc are both shown', () => {
  const grid = [
    [0, 0, 0, 0],
    [1, 0, 0, 0],
    [1, 0, 0, 0],
    [1, 1, 1, 0],
  ];
  assert.equal(fromGrid(grid, 3, 'yellow').winningCells.length, 5);
});

test('a full board without a line is a draw', () => {
  const full = played('123412341234', '4x3x4');
  assert.equal(full.outcome, 'draw');
  assert.equal(full.ending, 'a draw, the board is full');
  assert.deepEqual(full.legal(), []);
});

test('columns that are full or do not exist are refused', () => {
  const game = played('111111');
  assert.throws(() => game.play(1), /Column 1 is full\./);
  assert.deepEqual(game.legal(), [2, 3, 4, 5, 6, 7]);
  for (const column of [0, 8, -1, 1.5, '4', null]) {
    assert.throws(() => game.play(column), /There is no column/);
  }
});

test('boards are read, and those that cannot be are refused with a reason', () => {
  assert.deepEqual(readBoard('7x6'), { columns: 7, rows: 6, inARow: 4 });
  assert.deepEqual(readBoard(' 5x4x3 '), { columns: 5, rows: 4, inARow: 3 });
  assert.throws(() => readBoard('7*6'), /A board is written/);
  assert.throws(() => readBoard('0x6x4'), /at least one column/);
  assert.throws(() => readBoard('7x6x2'), /At least three in a row/);
  assert.throws(() => readBoard('9x8x4'), /too large/);
  assert.throws(() => readBoard('7x6x99'), /too large/);
});

test('moves are digits, or numbers with commas on wide boards', () => {
  assert.deepEqual(readMoves('4453'), [4, 4, 5, 3]);
  assert.deepEqual(readMoves('10,11,3,'), [10, 11, 3]);
  assert.deepEqual(readMoves(''), []);
  assert.deepEqual(readMoves([4, 4]), [4, 4]);
  assert.throws(() => readMoves('44a'), /Moves are columns/);
  assert.equal(played('10,10,2,', '12x4x4').movesText, '10,10,2,');
  assert.equal(played('4453').movesText, '4453');
});

test('a FEN is distinguished from other texts', () => {
  for (const text of ['7/7/7/7/7/7 r 4', '7/7/7/7/7/3r3 y', 'ry/ry', '4 r 4']) {
    assert.ok(isFen(text), text);
  }
  for (const text of ['4453', '', '7', '7/7/7 x', 'abc/7', '7/7 r 444']) {
    assert.ok(!isFen(text), text);
  }
});

test('a position survives writing and reading it', () => {
  for (const moves of ['', '4', '4453', '121212', '44444432']) {
    const game = played(moves);
    const read = Game.from({ start: game.fen });
    assert.deepEqual(read.grid, game.grid);
    assert.equal(read.toMove, game.toMove);
    assert.equal(read.fen, game.fen);
  }
});

test('a position given as FEN keeps its start and goes on from there', () => {
  const game = Game.from({ start: '7/7/7/7/7/3r3 y 4', moves: '44' });
  assert.equal(game.start, '7/7/7/7/7/3r3 y 4');
  assert.equal(game.movesText, '44');
  assert.equal(game.fen, '7/7/7/3r3/3y3/3r3 y 4');
  assert.deepEqual(game.request(), { start: game.start, moves: '44', board: '7x6x4' });
});

test('positions that cannot be are refused', () => {
  const refused = (start, reason, board = '') =>
    assert.throws(() => Game.from({ start, board }), reason);
  refused('7/7/7/7/3r3/7 y 4', /A disc floats above an empty cell in column 4/);
  refused('7/7/7/7/7/6 r 4', /same number of cells/);
  refused('rrrr/yyyy r 4', /Both sides have won/);
  refused('7/7/7/7/7/7 r 4', /on a 7x6x4 board, not 5x4x4/, '5x4x4');
  refused('nonsense', /Cannot read the position/);
});

test('unusual numbers of discs are marked in requests', () => {
  const usual = Game.from({ start: '7/7/7/7/7/3r3 y 4' });
  assert.ok(usual.usual);
  assert.ok(!('any_counts' in usual.request()));
  const unusual = Game.from({ start: '7/7/7/7/7/rr5 y 4' });
  assert.ok(!unusual.usual);
  assert.equal(unusual.request().any_counts, true);
});

test('the side to move of a grid follows from the discs, unless it is given', () => {
  const grid = [
    [0, 0, 0],
    [0, 0, 0],
    [1, 0, 0],
  ];
  assert.equal(fromGrid(grid, 3).toMove, 'yellow');
  assert.equal(fromGrid(grid, 3, 'red').toMove, 'red');
  assert.equal(
    fromGrid(
      [
        [0, 0, 0],
        [0, 0, 0],
        [0, 0, 0],
      ],
      3,
    ).start,
    '',
  );
});

test('sides have names', () => {
  assert.equal(named('red'), 'Red');
  assert.equal(named('yellow'), 'Yellow');
});
