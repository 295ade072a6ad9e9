// The state of the page, its address, and which view is shown.
//
// A view is a module with mount(root, app) -> { unmount(), refuses?(), status?() }. refuses()
// returns why a click on the board is not accepted now; status() returns the text above the board
// that replaces "Red to move".

import { Board } from './board.js';
import { Game, isFen, named } from './game.js';
import { position } from './api.js';
import { watch } from './ready.js';
import { disc, h, load } from './ui.js';

const VIEWS = {
  play: 'Play',
  analyse: 'Analyse',
  xray: 'X-ray',
  review: 'Review',
  watch: 'Watch',
  lab: 'Lab',
};
const SHEETS = { play: [], analyse: ['more'] }; // the other views need both
const DEFAULTS = { red: 'human', yellow: 'level:3', view: 'play' };

const $ = (id) => document.getElementById(id);
const listeners = new Set();
let view = null; // what mount returned
let mounted = null; // the name of the view on the page
let complaint = ''; // why the last click did nothing

export const app = {
  state: {
    view: 'play',
    game: Game.from(),
    ply: 0,
    red: DEFAULTS.red,
    yellow: DEFAULTS.yellow,
    extra: {},
  },

  // The game up to the cursor.
  get shown() {
    return this.state.game.at(this.state.ply);
  },

  // Change the state and the address. Names other than the state's own go into state.extra (run,
  // game of a stored game …) and stay in the address until the view or the game changes; null
  // removes one.
  go(
    { view: to, ply, red, yellow, start, moves, board, any_counts: _ignored, ...extra },
    { replace = false } = {},
  ) {
    const { state } = this;
    const anew = start !== undefined || board !== undefined;
    const touched = anew || moves !== undefined;
    const next = {
      view: to ?? state.view,
      game: anew
        ? Game.from({ start, board, moves })
        : touched
          ? Game.from({ ...state.game.request(), moves })
          : state.game,
      red: red ?? state.red,
      yellow: yellow ?? state.yellow,
    };
    next.ply = within(ply ?? (touched ? Infinity : state.ply), next.game);
    next.extra = touched || next.view !== state.view ? extra : { ...state.extra, ...extra };
    this.state = next;
    const url = addressOf(next);
    if (url !== location.search || replace)
      history[replace ? 'replaceState' : 'pushState'](null, '', url || './');
    changed();
  },

  // A person's move at the cursor; what came after is cut off.
  play(column) {
    const { shown } = this;
    try {
      const reason = shown.outcome ? null : view?.refuses?.();
      if (reason) throw new Error(reason);
      shown.play(column);
    } catch (error) {
      this.complain(error.message);
      return false;
    }
    this.go({ moves: [...shown.moves, column] });
    return true;
  },

  // Say above the board and to a screen reader why something cannot be done.
  complain(text) {
    complaint = text;
    showStatus();
    this.announce(text);
  },

  subscribe(listener) {
    listeners.add(listener);
    return () => listeners.delete(listener);
  },

  announce(text) {
    const live = $('live');
    // A screen reader speaks a repeated text only if it differs.
    live.textContent = live.textContent === text ? `${text}\u00a0` : text;
  },

  // Show what the view's status() and refuses() say now; changes of the state do so by themselves.
  refresh() {
    showStatus();
    this.board.showHand();
  },

  // Open the dialog that sets a position up.
  async setUp() {
    try {
      (await load('setup', 'more')).open(this);
    } catch (error) {
      this.complain(error.message);
    }
  },

  settings: {
    // What was remembered, if it is of the same kind as what is usual.
    get(name, usual) {
      const value = stored()[name];
      return typeof value === typeof usual ? value : usual;
    },
    set(name, value) {
      try {
        localStorage.setItem('fourlab', JSON.stringify({ ...stored(), [name]: value }));
      } catch {} // a browser that remembers nothing still plays
    },
  },
};

function stored() {
  try {
    return JSON.parse(localStorage.getItem('fourlab')) ?? {};
  } catch {
    return {};
  }
}

// The nearest cursor that the game has.
const within = (ply, game) => Math.max(0, Math.min(Math.round(ply), game.moves.length));

// --- the address --------------------------------------------------------------------------------

function addressOf({ view: name, game, ply, red, yellow, extra }) {
  const query = new URLSearchParams();
  const add = (key, value, usual) => value != null && value !== usual && query.set(key, value);
  add('moves', game.movesText, '');
  add('board', game.start ? '7x6x4' : game.board, '7x6x4'); // a start says its own board
  add('start', game.start, '');
  add('ply', ply, game.moves.length);
  add('red', red, DEFAULTS.red);
  add('yellow', yellow, DEFAULTS.yellow);
  add('view', name, DEFAULTS.view);
  for (const [key, value] of Object.entries(extra)) add(key, value, '');
  const text = query
    .toString()
    .replaceAll('%2F', '/')
    .replaceAll('%3A', ':')
    .replaceAll('%2C', ',');
  return text && `?${text}`;
}

async function read() {
  const { search } = location;
  const {
    start = '',
    moves = '',
    board = '',
    ply,
    red,
    yellow,
    view: wanted,
    ...extra
  } = Object.fromEntries(new URLSearchParams(search));
  let game = Game.from();
  let problem = '';
  try {
    // A name or another notation than FEN: only the server can read it.
    const asked = { start, moves, board };
    game = Game.from(
      !start || isFen(start) ? asked : await position({ ...asked, board: board || undefined }),
    );
    if (!/^\d*$/.test(ply ?? '')) problem = `There is no move ${ply}.`;
  } catch (error) {
    problem = error.message;
  }
  if (search !== location.search) return; // the address has changed meanwhile
  app.state = {
    view: Object.hasOwn(VIEWS, wanted) ? wanted : DEFAULTS.view,
    game,
    ply: within(Number(ply ?? Infinity) || 0, game),
    red: red || DEFAULTS.red,
    yellow: yellow || DEFAULTS.yellow,
    extra,
  };
  changed();
  if (problem) app.complain(problem);
}

// --- the page -----------------------------------------------------------------------------------

let announced = null; // the game announced last

function changed() {
  complaint = '';
  announceMove();
  app.board.show(app.shown);
  document.body.dataset.view = app.state.view;
  showStatus();
  showSteps();
  showView();
  for (const listener of [...listeners]) listener(app.state);
}

// Announce the move that was added, and the end of the game, to a screen reader.
function announceMove() {
  const { shown } = app;
  const isNext = announced && shown.before?.fen === announced.fen;
  if (isNext) {
    const move = `${named(announced.toMove)}: column ${shown.moves.at(-1)}.`;
    app.announce(shown.outcome ? `${move} ${capital(shown.ending)}.` : move);
  }
  announced = shown;
}

function showStatus() {
  const { shown } = app;
  const turn = shown.outcome ? capital(shown.ending) : `${named(shown.toMove)} to move`;
  const side = shown.outcome ? shown.outcome.split(' ')[0] : shown.toMove;
  const text = complaint || (!shown.outcome && view?.status?.()) || turn;
  $('status').replaceChildren(
    ...[side !== 'draw' && disc(side), h('span', { class: complaint && 'complaint' }, text)].filter(
      Boolean,
    ),
  );
}

const capital = (text) => text[0].toUpperCase() + text.slice(1);

// The buttons below the board that move the cursor. A disabled one keeps the focus, so that
// keyboard users keep their place.
const STEPS = {
  'First position': ['«', () => 0],
  'Previous move': ['‹', (ply) => ply - 1],
  'Next move': ['›', (ply) => ply + 1],
  'Last position': ['»', () => Infinity],
};
const count = h('span', { class: 'count' });
const steps = Object.entries(STEPS).map(([label, [text, target]]) =>
  h(
    'button',
    {
      type: 'button',
      class: 'quiet',
      'aria-label': label,
      onclick: () => app.go({ ply: target(app.state.ply) }, { replace: true }),
    },
    text,
  ),
);

function showSteps() {
  const { ply, game } = app.state;
  Object.values(STEPS).forEach(([, target], i) =>
    steps[i].setAttribute('aria-disabled', String(within(target(ply), game) === ply)),
  );
  count.textContent = `${ply} / ${game.moves.length}`;
}

function showNavigation() {
  for (const [name, link] of Object.entries(links)) {
    // As an address it can be opened in another tab.
    link.setAttribute('href', addressOf({ ...app.state, view: name, extra: {} }) || './');
    if (name === app.state.view) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
}

const links = Object.fromEntries(
  Object.entries(VIEWS).map(([name, text]) => [
    name,
    h('a', { onclick: (event) => follow(event, name) }, text),
  ]),
);

function follow(event, name) {
  if (event.metaKey || event.ctrlKey || event.shiftKey) return;
  event.preventDefault();
  app.go({ view: name });
}

async function showView() {
  showNavigation();
  const name = app.state.view;
  if (name === mounted) return;
  mounted = name;
  view?.unmount();
  view = null;
  app.board.hints(null);
  app.board.highlight(null);
  $('title').textContent = VIEWS[name];
  document.title = name === 'play' ? 'Fourlab' : `${VIEWS[name]} – Fourlab`;
  const panel = $('panel');
  panel.replaceChildren();
  try {
    const module = await load(name, ...(SHEETS[name] ?? ['more', 'views']));
    if (mounted === name && !view) view = module.mount(panel, app);
    app.refresh();
  } catch (error) {
    if (mounted !== name) return;
    mounted = null; // the link and the next change try again, too
    const again = h('button', { type: 'button', onclick: showView }, 'Try again');
    panel.replaceChildren(
      h(
        'div',
        { class: 'card' },
        h('p', { class: 'problem' }, `${VIEWS[name]} could not be opened. ${error.message}`),
        h('div', { class: 'row' }, again),
      ),
    );
    app.announce(panel.firstChild.firstChild.textContent);
  }
}

// --- files dropped on the page ------------------------------------------------------------------

const hasFiles = (event) => event.dataTransfer?.types.includes('Files');

addEventListener('dragover', (event) => hasFiles(event) && event.preventDefault());
addEventListener('drop', async (event) => {
  if (!hasFiles(event)) return;
  event.preventDefault();
  const [file] = event.dataTransfer.files; // gone after the first `await`
  try {
    await (await load('drop')).take(file, app);
  } catch (error) {
    app.complain(error.message);
  }
});

// --- light and dark -----------------------------------------------------------------------------

const THEMES = { system: ['◐', 'dark'], dark: ['☾', 'light'], light: ['☀', 'system'] };

function showTheme() {
  const remembered = app.settings.get('theme', '');
  const theme = Object.hasOwn(THEMES, remembered) ? remembered : 'system';
  const [symbol, next] = THEMES[theme];
  document.documentElement.dataset.theme = theme;
  const button = $('theme');
  button.textContent = symbol;
  button.ariaLabel = button.title = `Theme: ${theme}`;
  button.onclick = () => {
    app.settings.set('theme', next);
    showTheme();
  };
}

// Digits drop a disc wherever the focus is, and arrows move the focus to the board, except while a
// text is typed or a dialog is open.
function keyDown(event) {
  if (
    event.altKey ||
    event.ctrlKey ||
    event.metaKey ||
    document.querySelector('dialog[open]') ||
    app.state.view === 'lab'
  )
    return;
  if (event.target.closest?.('input, textarea, select, [role=tree], [role=slider]')) return;
  if (/^[1-9]$/.test(event.key)) {
    event.preventDefault();
    app.play(Number(event.key));
  } else if (event.target === document.body && ['ArrowLeft', 'ArrowRight'].includes(event.key)) {
    event.preventDefault();
    app.board.focus();
  }
}

showTheme();
app.board = new Board($('board'), {
  play: (column) => app.play(column),
  ready: () => !app.shown.outcome && !view?.refuses?.(),
});
app.board.flip(app.settings.get('flip', false));
$('views').append(...Object.values(links));
$('steps').append(...steps.toSpliced(2, 0, count));
addEventListener('keydown', keyDown);
addEventListener('popstate', read);
read();
watch(() => app.shown.board);
