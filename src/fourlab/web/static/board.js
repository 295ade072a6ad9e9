// The board: an SVG picture below one button per column, which handles clicks, keys and the texts
// for screen readers.

import { named, SIDES } from './game.js';
import { h, reduced, svg } from './ui.js';

const CELL = 100; // units of the drawing
const RADIUS = 41;
const STAR = 'M0-22 5.9-8.1 20.9-6.8 9.5 3.1 12.9 17.8 0 10-12.9 17.8-9.5 3.1-20.9-6.8-5.9-8.1z';

export class Board {
  // play(column): a person wants to play there; ready(): whether the board would take a disc now.
  constructor(root, { play, ready }) {
    Object.assign(this, { root, play, ready, game: null, column: null, size: '', flipped: false });
    this.hintRow = h('div', { class: 'hints', hidden: true });
    this.picture = svg('svg', { 'aria-hidden': 'true', class: 'picture' });
    this.hand = h('div', { class: 'hand' }); // the disc above the board; it can be dragged
    this.columns = h('div', { class: 'columns', role: 'group', 'aria-label': 'Columns' });
    this.numbers = h('div', { class: 'numbers', 'aria-hidden': 'true' });
    this.frame = h('div', { class: 'frame' }, this.picture, this.columns, this.hand);
    root.classList.add('board');
    root.append(this.hintRow, this.frame, this.numbers);
    this.columns.addEventListener('keydown', (event) => this.keyDown(event));
    this.listenToPointer();
  }

  // Draw a game; a disc that was added falls.
  show(game) {
    const before = this.game;
    this.game = game;
    if (game.board !== this.size) this.build(game);
    const added = [];
    for (const [row, cells] of game.grid.entries()) {
      for (const [column, side] of cells.entries()) {
        const place = this.cells[row][column];
        if (place.side === side) continue;
        place.disc?.remove();
        place.side = side;
        place.disc = side ? drawnDisc(SIDES[side - 1], column, row) : null;
        if (side) {
          this.discs.append(place.disc);
          added.push([place.disc, row]);
        }
      }
    }
    if (added.length === 1 && before) fall(...added[0]);
    this.marks.replaceChildren(
      ...game.winningCells.map(([column, row]) => drawnMark(column - 1, game.rows - row)),
    );
    this.buttons.forEach((button, i) =>
      button.setAttribute('aria-label', spokenColumn(game, i + 1)),
    );
    const last = game.moves.at(-1);
    [...this.numbers.children].forEach((number, i) =>
      number.classList.toggle('last', i + 1 === last),
    );
    this.showHand();
  }

  build({ columns, rows, board }) {
    this.size = board;
    this.column = Math.ceil(columns / 2);
    this.root.style.setProperty('--columns', columns);
    this.root.style.setProperty('--rows', rows);
    this.root.classList.toggle('wide', columns > 9);
    this.root.classList.toggle('crowded', columns > 15);
    this.cells = Array.from({ length: rows }, () =>
      Array.from({ length: columns }, () => ({ side: 0, disc: null })),
    );
    this.discs = svg('g');
    this.marks = svg('g');
    this.picture.setAttribute('viewBox', `0 ${-CELL} ${columns * CELL} ${(rows + 1) * CELL}`);
    this.picture.replaceChildren(this.discs, plate(columns, rows), this.marks);
    const numbers = Array.from({ length: columns }, (_, i) => i + 1);
    this.buttons = numbers.map((column) =>
      h('button', {
        type: 'button',
        tabindex: column === this.column ? 0 : -1,
        'aria-describedby': `hint-${column}`,
        onclick: () => this.play(column),
        onfocus: () => this.point(column),
      }),
    );
    this.columns.replaceChildren(...this.buttons);
    this.numbers.replaceChildren(...numbers.map((column) => h('span', {}, column)));
    this.hintRow.replaceChildren(...numbers.map((column) => h('span', { id: `hint-${column}` })));
  }

  // What an engine says about each column; [] keeps the room, null takes it away.
  hints(list) {
    this.hintRow.hidden = list === null;
    [...this.hintRow.children].forEach((place, i) => {
      const hint = list?.[i];
      place.className = hint?.text
        ? `hint ${hint.kind} ${hint.estimated ? 'estimated' : 'proven'}${hint.best ? ' best' : ''}`
        : '';
      place.textContent = hint?.text
        ? `${hint.estimated ? '≈ ' : ''}${hint.text.replace(' %', '\u00a0%')}`
        : '';
    });
  }

  // Make one column stand out, or none.
  highlight(column) {
    this.buttons?.forEach((button, i) => button.classList.toggle('lit', i + 1 === column));
  }

  // Show the board as in a mirror: only its looks turn round, the columns keep their numbers.
  flip(on) {
    this.flipped = on;
    this.root.classList.toggle('flipped', on);
  }

  focus() {
    this.buttons[this.column - 1].focus();
  }

  // The column that the hand is above and that the keyboard would play.
  point(column) {
    this.column = column;
    this.buttons.forEach((button, i) => (button.tabIndex = i + 1 === column ? 0 : -1));
    this.showHand();
  }

  showHand(dragged = null) {
    const { hand, game, column } = this;
    hand.hidden = !this.ready();
    hand.className = `hand disc ${game.toMove}`;
    hand.style.insetInlineStart = `${(100 * ((dragged ?? column) - 1)) / game.columns}%`;
  }

  keyDown(event) {
    const { columns } = this.game;
    const right = this.flipped ? -1 : 1;
    const steps = {
      ArrowLeft: this.column - right,
      ArrowRight: this.column + right,
      Home: 1,
      End: columns,
    };
    const target = steps[event.key];
    if (target === undefined) return;
    event.preventDefault();
    this.buttons[(target - 1 + columns) % columns].focus();
  }

  // The disc above the board follows the pointer. Dragged, it drops where it is released; a plain
  // click is left to the buttons.
  listenToPointer() {
    let from = null; // the column where the pointer went down; 0 on the hand itself
    const { frame, hand } = this;
    const place = (event) => {
      const { left, right, width } = frame.getBoundingClientRect();
      return (
        ((this.flipped ? right - event.clientX : event.clientX - left) / width) * this.game.columns
      );
    };
    const columnAt = (event) =>
      Math.max(1, Math.min(this.game.columns, Math.floor(place(event)) + 1));
    frame.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return;
      from = event.target === hand ? 0 : columnAt(event);
      if (from === 0) hand.setPointerCapture(event.pointerId);
    });
    frame.addEventListener('pointermove', (event) => {
      const column = columnAt(event);
      if (column !== this.column && !(event.pointerType === 'touch' && from === null))
        this.point(column);
      if (from !== null && from !== column)
        this.showHand(Math.max(1, Math.min(this.game.columns, place(event) + 0.5)));
    });
    const end = (event) => {
      const started = from;
      from = null;
      const box = frame.getBoundingClientRect();
      const inside =
        event.clientX >= box.left &&
        event.clientX <= box.right &&
        event.clientY >= box.top - CELL / 2 &&
        event.clientY <= box.bottom;
      if (started !== null && event.type === 'pointerup' && inside && columnAt(event) !== started)
        this.play(columnAt(event));
      this.showHand();
    };
    addEventListener('pointerup', (event) => from !== null && end(event));
    addEventListener('pointercancel', (event) => from !== null && end(event));
  }
}

// "Column 4: Red, Yellow", from the bottom up.
function spokenColumn(game, column) {
  const height = game.height(column);
  const discs = Array.from({ length: height }, (_, i) =>
    named(SIDES[game.cell(column, i + 1) - 1]),
  );
  return `Column ${column}: ${discs.join(', ') || 'empty'}${height === game.rows ? ' (full)' : ''}`;
}

const centre = (index) => index * CELL + CELL / 2;

// A blue plate with round holes; the discs fall behind it.
function plate(columns, rows) {
  const cells = Array.from({ length: columns * rows }, (_, i) => [
    centre(i % columns),
    centre(Math.floor(i / columns)),
  ]);
  const half = `a${RADIUS} ${RADIUS} 0 1 0`;
  const holes = cells.map(
    ([x, y]) => `M${x - RADIUS} ${y}${half} ${2 * RADIUS} 0${half} ${-2 * RADIUS} 0z`,
  );
  return svg(
    'g',
    { class: 'plate' },
    svg('path', {
      'fill-rule': 'evenodd',
      d: `M0 0H${columns * CELL}V${rows * CELL}H0z${holes.join('')}`,
    }),
    cells.map(([cx, cy]) => svg('circle', { cx, cy, r: RADIUS + 2 })),
  );
}

// Red carries a ring and yellow a star, so colour is never needed.
function drawnDisc(side, column, row) {
  const pattern =
    side === 'red'
      ? svg('circle', { class: 'pattern', r: 25 })
      : svg('path', { class: 'pattern', d: STAR });
  const body = svg('g', {}, svg('circle', { r: RADIUS + 3 }), pattern);
  return svg('g', { class: side, transform: `translate(${centre(column)} ${centre(row)})` }, body);
}

function drawnMark(column, row) {
  return svg(
    'g',
    { class: 'won', transform: `translate(${centre(column)} ${centre(row)})` },
    svg('circle', { class: 'halo', r: RADIUS - 1 }),
    svg('circle', { class: 'rim', r: RADIUS - 1 }),
    svg('path', { d: 'M-15 1L-4 13L17 -12' }),
  );
}

// Free fall from above the board with one small bounce; the duration grows with the square root of
// the height.
function fall(disc, row) {
  if (reduced()) return;
  const height = (row + 1) * CELL;
  disc.firstChild.animate(
    [
      { transform: `translateY(${-height}px)`, easing: 'cubic-bezier(.5, 0, .9, .6)' },
      { transform: 'none', offset: 0.72, easing: 'ease-out' },
      { transform: `translateY(${-height * 0.05}px)`, offset: 0.86, easing: 'ease-in' },
      { transform: 'none' },
    ],
    { duration: 200 + 110 * Math.sqrt(row + 1) },
  );
}
