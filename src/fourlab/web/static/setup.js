// The dialog that sets a position up: draw it, paste it in any notation, or choose one by name.

import { get, position } from './api.js';
import { fromGrid, Game, named, readBoard, SIDES } from './game.js';
import { disc, h } from './ui.js';

export function open(app) {
  if (document.querySelector('dialog')) return; // clicked twice
  let game = app.shown; // what "Start" would start
  let cells = game.grid.map((row) => [...row]); // what is drawn, right or wrong
  let { inARow } = game;
  let problem = '';

  const drawing = h('div', {
    class: `drawing${app.board.flipped ? ' flipped' : ''}`,
    role: 'group',
    'aria-label': 'Drawing',
    onkeydown: arrows,
  });
  const message = h('p', { role: 'status' });
  const start = h('button', { class: 'primary', type: 'submit' }, 'Start here');
  const sizes = Object.fromEntries(
    ['Columns', 'Rows', 'In a row'].map((name) => [
      name,
      h('input', { type: 'number', min: 1, max: 31, 'aria-label': name, onchange: resize }),
    ]),
  );
  const brushes = radios(
    'brush',
    { red: [disc('red'), 'Red'], yellow: [disc('yellow'), 'Yellow'], none: ['Erase'] },
    'red',
  );
  const sides = radios(
    'side',
    { auto: ['By count'], red: ['Red'], yellow: ['Yellow'] },
    'auto',
    redraw,
  );
  const text = h('textarea', {
    'aria-label': 'A position in any notation',
    placeholder: '4453\n7/7/7/7/7/3r3 y 4\nddec …',
    spellcheck: 'false',
  });
  const names = h(
    'select',
    { 'aria-label': 'Named positions', onchange: () => names.value && read(names.value, true) },
    h('option', { value: '' }, 'Choose…'),
  );

  // --- drawing ----------------------------------------------------------------------------------

  // A new disc lands in its column, another colour replaces a disc, and erasing one lets the discs
  // above it fall.
  function draw(column, row) {
    const brush = brushes.value;
    // The discs of the column from the bottom up; the grid has its top row first.
    const stack = cells
      .map((line) => line[column])
      .reverse()
      .filter(Boolean);
    const level = cells.length - 1 - row;
    if (brush === 'none') stack.splice(Math.min(level, stack.length - 1), 1);
    else if (level < stack.length) stack[level] = SIDES.indexOf(brush) + 1;
    else stack.push(SIDES.indexOf(brush) + 1);
    cells.forEach((line, i) => (line[column] = stack[cells.length - 1 - i] ?? 0));
    redraw();
  }

  // The drawing decides; the moves that led to a pasted game are forgotten.
  function redraw() {
    take(() =>
      fromGrid(
        cells.map((row) => [...row]),
        inARow,
        sides.value === 'auto' ? null : sides.value,
      ),
    );
  }

  function take(make) {
    problem = '';
    try {
      game = make();
    } catch (error) {
      problem = error.message;
    }
    show();
  }

  function resize() {
    const [columns, rows, length] = Object.values(sizes).map((input) => input.value);
    try {
      const board = readBoard(`${columns}x${rows}x${length}`);
      inARow = board.inARow;
      // Boards grow and shrink at the top and on the right: discs stay where they lie.
      const bottom = cells.toReversed();
      cells = Array.from({ length: board.rows }, (_row, row) =>
        Array.from({ length: board.columns }, (_cell, column) => bottom[row]?.[column] ?? 0),
      ).reverse();
      redraw();
    } catch (error) {
      problem = error.message;
      show();
    }
  }

  function load(next) {
    game = next;
    problem = '';
    cells = game.grid.map((row) => [...row]);
    ({ inARow } = game);
    sides.value = game.usual ? 'auto' : game.toMove;
    [sizes.Columns.value, sizes.Rows.value, sizes['In a row'].value] = [
      game.columns,
      game.rows,
      game.inARow,
    ];
    show();
  }

  // --- reading: the server knows every notation and name ----------------------------------------

  // A FEN, a drawing and a name say their own board; all else means the board that is shown.
  async function read(notation, own = /[/\n]/.test(notation)) {
    try {
      load(Game.from(await position({ start: notation, board: own ? undefined : game.board })));
    } catch (error) {
      problem = error.message;
      show();
    }
  }

  // --- the dialog -------------------------------------------------------------------------------

  function show() {
    drawing.style.setProperty('--columns', cells[0].length);
    const spoken = (column, row) => {
      const cell = cells[row][column];
      const content = cell ? named(SIDES[cell - 1]) : 'empty';
      return `Column ${column + 1}, row ${cells.length - row}: ${content}`;
    };
    const count = cells.length * cells[0].length;
    while (drawing.children.length > count) drawing.lastChild.remove();
    while (drawing.children.length < count)
      drawing.append(h('button', { type: 'button', tabindex: -1 }));
    cells.flat().forEach((side, i) => {
      const [column, row] = [i % cells[0].length, Math.floor(i / cells[0].length)];
      const button = drawing.children[i];
      button.className = side ? `disc ${SIDES[side - 1]}` : '';
      button.setAttribute('aria-label', spoken(column, row));
      button.onclick = () => draw(column, row);
      button.onfocus = () =>
        [...drawing.children].forEach((cell) => (cell.tabIndex = cell === button ? 0 : -1));
    });
    if (![...drawing.children].some((cell) => cell.tabIndex === 0)) drawing.lastChild.tabIndex = 0;
    start.disabled = Boolean(problem);
    message.classList.toggle('problem', Boolean(problem));
    message.textContent = problem || verdict();
  }

  function verdict() {
    if (game.outcome) return `The game is over here: ${game.ending}.`;
    const odd = game.at(0).usual
      ? ''
      : ' No real game has these numbers of discs; it can be played all the same.';
    return `${named(game.toMove)} to move.${odd}`;
  }

  function arrows(event) {
    const right = app.board.flipped ? -1 : 1;
    const steps = {
      ArrowLeft: -right,
      ArrowRight: right,
      ArrowUp: -cells[0].length,
      ArrowDown: cells[0].length,
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const at = [...drawing.children].indexOf(document.activeElement);
    drawing.children[at + steps[event.key]]?.focus();
  }

  const group = (title, ...children) => h('fieldset', {}, h('legend', {}, title), children);
  const field = ([name, input]) => h('label', {}, name, input);
  const button = (label, click) => h('button', { type: 'button', onclick: click }, label);
  const dialog = h(
    'dialog',
    { 'aria-labelledby': 'setup-title', onclose: () => dialog.remove() },
    h(
      'form',
      { method: 'dialog', onsubmit: () => app.go({ ...game.request(), view: app.state.view }) },
      h('h2', { class: 'all', id: 'setup-title' }, 'Set up a position'),
      group(
        'Draw',
        h('div', { class: 'row' }, brushes),
        drawing,
        h(
          'div',
          { class: 'row' },
          button('Clear', clear),
          h('span', { class: 'note' }, 'Discs land as low as they can.'),
        ),
      ),
      h(
        'div',
        { class: 'stack' },
        group('Board', h('div', { class: 'sizes' }, Object.entries(sizes).map(field))),
        group('To move', h('div', { class: 'row' }, sides)),
        group(
          'Paste',
          text,
          h(
            'div',
            { class: 'row' },
            button('Read', () => read(text.value)),
            h('span', { class: 'note' }, 'Moves, FEN, a drawing, …'),
          ),
        ),
        group('By name', names),
      ),
      h(
        'div',
        { class: 'row all ends' },
        message,
        button('Cancel', () => dialog.close()),
        start,
      ),
    ),
  );

  function clear() {
    cells = cells.map((row) => row.map(() => 0));
    sides.value = 'auto';
    redraw();
  }

  document.body.append(dialog);
  load(game);
  dialog.showModal();
  get('positions').then(
    (list) =>
      names.append(
        ...list.map((place) => h('option', { value: place.name }, `${place.name}: ${place.about}`)),
      ),
    () => {},
  );
}

// A choice as radio buttons in a row, with a property `value`.
function radios(name, choices, chosen, change = () => {}) {
  const box = h('span', { class: 'brushes' });
  const inputs = Object.entries(choices).map(([value, label]) => {
    const input = h('input', { type: 'radio', name, value, onchange: change });
    box.append(h('label', {}, input, label));
    return input;
  });
  Object.defineProperty(box, 'value', {
    get: () => inputs.find((input) => input.checked).value,
    set(value) {
      for (const input of inputs) input.checked = input.value === value;
    },
  });
  box.value = chosen;
  return box;
}
