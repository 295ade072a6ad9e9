// Watch: two agents play each other, and games that were played are shown again.

import { get, position, post } from './api.js';
import { named, SIDES } from './game.js';
import { subscribe, waitFor } from './ready.js';
import { agentPicker, disc, h, percent, reduced } from './ui.js';

const SPEEDS = [0.5, 1, 2, 4, 8]; // moves a second
const DEFAULTS = { red: 'level:3', yellow: 'level:4' };

let landed = false; // whether this view has been on the page since it was loaded

export function mount(root, app) {
  let doing = null; // 'replay', 'play' or null
  let ticking = null; // ends the step that is under way
  let mine = false; // whether the change was made by this view
  let record = null; // the stored game on the page: { run, number, … }

  const action = (text, click, attributes = {}) =>
    h('button', { type: 'button', onclick: click, ...attributes }, text);
  const change = (changes, replace = true) => {
    mine = true;
    app.go(changes, { replace });
    mine = false;
  };

  // --- the loop: wait according to the speed, then show the next move ---------------------------

  const atEnd = () => app.state.ply === app.state.game.moves.length;
  const delay = () => 1000 / SPEEDS[speed.valueAsNumber];

  function pause() {
    doing = null;
    ticking?.abort();
    ticking = null;
    show();
    app.refresh(); // nobody is thinking any more
  }

  async function run(what, once = false) {
    pause();
    doing = what;
    const { signal } = (ticking = new AbortController());
    show();
    try {
      do {
        if (what === 'replay') await replayed(signal);
        else await agentMoved(signal);
      } while (!once && (what === 'replay' ? !atEnd() : !app.shown.outcome));
    } catch (error) {
      if (signal.aborted) return;
      app.complain(error.message);
    }
    if (!signal.aborted) pause();
  }

  async function replayed(signal) {
    await wait(delay(), signal);
    change({ ply: app.state.ply + 1 });
  }

  async function agentMoved(signal) {
    const { shown } = app;
    const question = { ...shown.request(), agent: pickers[shown.toMove].value };
    // The agent thinks during the pause, so a quick agent does not play faster than the speed says.
    const [answer] = await Promise.all([post('move', question, { signal }), wait(delay(), signal)]);
    change({ moves: [...shown.moves, answer.column] });
  }

  function replay() {
    if (doing === 'replay') return pause();
    if (atEnd()) change({ ply: 0 });
    run('replay');
  }

  // Play on from the position on the board, or from the start if that game is over. Back leads to
  // the game that was here.
  function letThemPlay(once) {
    if (doing === 'play' && !once) return pause();
    const { shown } = app;
    record = null;
    change({ moves: shown.outcome ? [] : shown.moves }, false);
    run('play', once);
  }

  // --- stored games -----------------------------------------------------------------------------

  const runs = h('select', { onchange: () => choose(runs.value, 0) });
  const number = h('input', {
    type: 'number',
    min: 0,
    step: 1,
    value: 0,
    onchange: () => choose(runs.value, number.value),
  });
  const about = h('p', { class: 'note', role: 'status' });
  const stored = h(
    'div',
    { class: 'card', hidden: true },
    h('h2', {}, 'Stored games'),
    h('div', { class: 'fields' }, h('label', {}, 'Run', runs), h('label', {}, 'Game', number)),
    about,
  );

  const choose = (chosen, game) =>
    chosen && app.go({ start: '', moves: [], board: app.state.game.board, run: chosen, game });

  // The list of runs may be a second old, so a run whose game has arrived can be missing.
  function select(name) {
    const isListed = [...runs.options].some(({ value }) => value === name);
    if (!isListed && record?.run === name && record.moves !== undefined)
      runs.append(h('option', { value: name }, name));
    runs.value = name;
  }

  async function listRuns() {
    const all = await get('runs');
    runs.replaceChildren(
      h('option', { value: '' }, 'Choose …'),
      ...all.map(({ name }) => h('option', { value: name }, name)),
    );
    select(app.state.extra.run ?? '');
    if (all.length) stored.hidden = false;
  }

  // Show the game that the address names from its start, unless the address has moves too.
  async function open() {
    const { run: from, game } = app.state.extra;
    if (record?.run === from && record?.number === Number(game)) return;
    // A placeholder until the game arrives; if a later choice replaces it, the answer is ignored.
    const wanted = (record =
      from === undefined || game === undefined ? null : { run: from, number: Number(game) });
    show();
    if (!wanted) return;
    const path = `runs/${encodeURIComponent(from)}/games`;
    try {
      if (!/^\d{1,9}$/.test(game))
        throw new Error(`Games have whole numbers from 0 on; there is no game “${game}”.`);
      const [saved, { total }] = await Promise.all([
        get(`${path}/${wanted.number}`),
        get(path, { limit: 1 }),
      ]);
      const { start, moves, board } = await position({
        start: saved.start,
        moves: saved.moves,
        board: saved.board,
      });
      if (record !== wanted) return; // another one was chosen meanwhile
      record = { ...saved, run: from };
      stored.hidden = false;
      select(from);
      number.max = total - 1;
      number.value = saved.number;
      if (app.state.game.moves.length) return show();
      change({ start, moves, board, ply: 0, run: from, game });
      if (!reduced()) run('replay');
    } catch (error) {
      if (record !== wanted) return;
      stored.hidden = false;
      about.textContent = error.message;
    }
  }

  // --- the panel --------------------------------------------------------------------------------

  const to = (ply) => () => {
    pause();
    change({ ply: ply() });
  };
  const steps = {
    first: action(
      '«',
      to(() => 0),
      { 'aria-label': 'First position' },
    ),
    previous: action(
      '‹',
      to(() => app.state.ply - 1),
      { 'aria-label': 'Previous move' },
    ),
    replay: action('Replay', replay, { class: 'primary' }),
    next: action(
      '›',
      to(() => app.state.ply + 1),
      { 'aria-label': 'Next move' },
    ),
    last: action(
      '»',
      to(() => Infinity),
      { 'aria-label': 'Last position' },
    ),
  };
  const slider = h('input', {
    type: 'range',
    min: 0,
    'aria-label': 'Move',
    oninput: () => to(() => slider.valueAsNumber)(),
  });
  const description = h('p', {});
  const speed = h('input', {
    type: 'range',
    min: 0,
    max: SPEEDS.length - 1,
    step: 1,
    value: app.settings.get('speed', 1),
    oninput: paced,
  });
  const pace = h('span', { class: 'note' });
  const pickers = Object.fromEntries(
    SIDES.map((side) => [
      side,
      agentPicker({
        label: [disc(side), named(side)],
        value: app.settings.get(`watch-${side}`, DEFAULTS[side]),
        change: (agent) => app.settings.set(`watch-${side}`, agent),
      }),
    ]),
  );
  const start = action('Start', () => letThemPlay(false), { class: 'primary' });

  function paced() {
    app.settings.set('speed', speed.valueAsNumber);
    const moves = SPEEDS[speed.valueAsNumber];
    pace.textContent = `${moves} move${moves === 1 ? '' : 's'} a second`;
    speed.setAttribute('aria-valuetext', pace.textContent);
  }

  function show() {
    const { ply, game } = app.state;
    const last = game.moves.length;
    slider.max = last;
    slider.value = ply;
    slider.setAttribute('aria-valuetext', `${ply} of ${last}`);
    steps.replay.textContent = doing === 'replay' ? 'Pause' : 'Replay';
    start.textContent = doing === 'play' ? 'Pause' : 'Start';
    steps.replay.disabled = !last;
    for (const name of ['first', 'previous'])
      steps[name].setAttribute('aria-disabled', String(ply === 0));
    for (const name of ['next', 'last'])
      steps[name].setAttribute('aria-disabled', String(ply === last));
    description.textContent = describe(ply, game);
    const results = { 1: 'red won', 0: 'a draw', '-1': 'yellow won' };
    if (!record) about.textContent = '';
    else if (record.red)
      about.textContent = [
        `${record.red} – ${record.yellow}: ${results[record.result] ?? 'no result'}`,
        record.cause !== 'normal' && `${record.cause} ${record.detail ?? ''}`,
      ]
        .filter(Boolean)
        .join(', ');
  }

  // The move at the cursor, and what its agent thought of it if that was stored.
  function describe(ply, game) {
    if (!ply)
      return game.moves.length
        ? `The start; ${game.moves.length} moves follow.`
        : 'An empty tape: let two agents play, or choose a stored game.';
    const side = game.at(ply - 1).toMove;
    // Thoughts begin after the opening, whose moves are part of the game on the page.
    const thought = record?.thoughts?.[record.thoughts.length - game.moves.length + ply - 1];
    const player = record?.[side] ?? named(side);
    const parts = [
      `Move ${ply} of ${game.moves.length}: ${player} plays column ${game.moves[ply - 1]}`,
      thought?.value != null && `expects ${percent(thought.value)}`,
      thought?.visits && `${thought.visits.reduce((sum, count) => sum + count)} visits`,
      thought?.seconds != null && duration(thought.seconds),
    ];
    return parts.filter(Boolean).join(', ');
  }

  function duration(seconds) {
    return seconds < 1 ? `${(1000 * seconds).toPrecision(2)} ms` : `${seconds.toFixed(1)} s`;
  }

  function changed() {
    if (!mine) pause();
    show();
    if (!mine) open();
  }

  root.append(
    h(
      'div',
      { class: 'card' },
      description,
      slider,
      h('div', { class: 'row tape' }, Object.values(steps)),
      h('label', { class: 'speed' }, 'Speed', speed, pace),
    ),
    h(
      'div',
      { class: 'card' },
      h('h2', {}, 'Two agents'),
      pickers.red,
      pickers.yellow,
      h(
        'div',
        { class: 'row' },
        start,
        action('Step', () => letThemPlay(true)),
        action('New game', () => app.go({ moves: [] })),
      ),
      h(
        'p',
        { class: 'note' },
        'The agents play on from the position on the board. Your browser’s Back button returns.',
      ),
    ),
    stored,
  );
  paced();
  show();
  const unsubscribe = [app.subscribe(changed), subscribe(() => app.refresh())];
  listRuns().catch((error) => (about.textContent = error.message));
  open();
  // A link to a game replays it at once.
  const opens = !landed && opensHere() && app.state.game.moves.length && atEnd();
  if (opens && !reduced()) replay();
  landed = true;
  return {
    unmount() {
      for (const end of unsubscribe) end();
      ticking?.abort();
    },
    refuses: () => 'This is for watching. Open Play to take over.',
    status() {
      const { toMove } = app.shown;
      if (doing !== 'play') return false;
      const waiting = waitFor(pickers[toMove].value);
      return waiting ? `${named(toMove)}: ${waiting}` : `${named(toMove)} is thinking…`;
    },
  };
}

// Whether the page was opened with this view.
function opensHere() {
  const [page] = performance.getEntriesByType('navigation');
  return new URL(page.name).searchParams.get('view') === 'watch';
}

function wait(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}
