// Analyse: what every column is worth, proven or estimated, by two agents side by side.

import { get } from './api.js';
import { named } from './game.js';
import { stream } from './stream.js';
import { agentPicker, disc, h, percent, toggle } from './ui.js';

const DEEPER = [1, 5, 30]; // seconds; the last is replaced by what the server allows

// Follow an agent's opinion of a position; returns a function that stops it.
export function follow(
  position,
  agent,
  seconds,
  { onOpinion, done = onOpinion, failed = () => {} },
) {
  return stream(
    'analysis/stream',
    { ...position.request(), agent, seconds },
    { onProgress: onOpinion, onDone: done, onError: failed },
  );
}

// An opinion as the board shows it above its columns.
export const hintsOf = (opinion) =>
  opinion.columns.map((column) => ({
    text: column.open && column.says !== '–' ? column.says : '',
    kind: kindOf(column),
    estimated: !column.proven,
    best: column.column === opinion.best,
  }));

const kindOf = ({ proven }) =>
  proven ? { 1: 'win', 0: 'draw', '-1': 'loss' }[proven.result] : 'unknown';

export function mount(root, app) {
  const opinions = [newOpinion('first', 'perfect'), newOpinion('second', 'alphazero')];
  let budgets = DEEPER;
  let depth = 0; // index of the budget
  let position = null; // what the opinions are about

  function newOpinion(name, usual) {
    return {
      name,
      usual,
      chosen: app.settings.get(`analyse-${name}`, ''),
      latest: null,
      running: false,
      problem: '',
      close: () => {},
    };
  }

  // A network knows only the usual board; on others a plain search is the default.
  const agentOf = ({ chosen, usual }) =>
    chosen || (usual === 'alphazero' && app.shown.board !== '7x6x4' ? 'mcts' : usual);

  function start(opinion) {
    opinion.close();
    opinion.problem = '';
    // A hidden tab needs no search; neither does a finished game, which the server would refuse.
    opinion.running = app.settings.get('engine', true) && !document.hidden && !position.outcome;
    if (!opinion.running) return;
    const onOpinion = (latest) => {
      opinion.latest = latest;
      show();
    };
    const ended = (problem) => {
      opinion.running = false;
      opinion.problem = problem;
      show();
    };
    opinion.close = follow(position, agentOf(opinion), budgets[depth], {
      onOpinion,
      done: (latest) => {
        onOpinion(latest);
        ended('');
        // One message for screen readers, not two that interrupt each other.
        if (opinion === opinions[0]) app.announce(verdict.textContent);
      },
      failed: (error) => {
        ended(`${agentOf(opinion)}: ${error.message}`);
        app.announce(opinion.problem);
      },
    });
  }

  function stop() {
    for (const opinion of opinions) {
      opinion.close();
      opinion.running = false;
    }
  }

  function restart() {
    stop();
    opinions.forEach(start);
    show();
  }

  function changed() {
    if (position?.fen === app.shown.fen) return;
    position = app.shown;
    depth = 0;
    for (const opinion of opinions) {
      opinion.latest = null;
      opinion.picker.value = agentOf(opinion);
    }
    restart();
  }

  // --- the panel --------------------------------------------------------------------------------

  const remember = (name) => (on) => {
    app.settings.set(name, on);
    if (name === 'engine') restart();
    else show();
  };
  const engine = toggle('Engine', app.settings.get('engine', true), remember('engine'));
  const hints = toggle('Hints', app.settings.get('hints', true), remember('hints'));
  const deeper = h('button', { type: 'button', onclick: goDeeper });
  const setup = h('button', { type: 'button', onclick: () => app.setUp() }, 'Set up…');
  const verdict = h('h2');
  const effort = h('p', { class: 'note' });
  const line = h('ol', { class: 'moves' });
  const lineCard = h(
    'div',
    { class: 'card' },
    h('h2', {}, 'Best line'),
    h('p', { class: 'note' }, 'Choose a move to play up to it.'),
    line,
  );
  const table = h('table');
  const problems = h('div', { class: 'problem' });
  const again = h('button', { type: 'button', onclick: tryAgain }, 'Try again');
  for (const opinion of opinions) {
    opinion.picker = agentPicker({
      label: `${opinion.name[0].toUpperCase()}${opinion.name.slice(1)} opinion`,
      value: opinion.chosen || opinion.usual,
      change(chosen) {
        opinion.chosen = chosen;
        app.settings.set(`analyse-${opinion.name}`, chosen);
        opinion.latest = null;
        start(opinion);
        show();
      },
    });
  }

  function goDeeper() {
    depth += 1;
    restart();
  }

  function tryAgain() {
    opinions.filter((opinion) => opinion.problem).forEach(start);
    show();
  }

  function show() {
    const [{ latest }] = opinions;
    const running = opinions.some((opinion) => opinion.running);
    const on = app.settings.get('engine', true);
    app.board.hints(on && app.settings.get('hints', true) ? (latest ? hintsOf(latest) : []) : null);
    verdict.replaceChildren(...verdictOf(latest, on));
    effort.textContent = latest ? effortOf(latest) : '';
    const finished = opinions.every((opinion) => opinion.latest?.finished);
    deeper.disabled =
      !on || running || finished || Boolean(position.outcome) || depth >= budgets.length - 1;
    deeper.textContent = running
      ? `Searching, ${budgets[depth]} s`
      : depth < budgets.length - 1
        ? `Go deeper (${budgets[depth + 1]} s)`
        : 'As deep as allowed';
    deeper.classList.toggle('dots', running);
    showLine(latest?.line ?? []);
    showTable();
    const failed = opinions.filter((opinion) => opinion.problem);
    problems.replaceChildren(...failed.map((opinion) => h('p', {}, opinion.problem)));
    again.hidden = !failed.length;
  }

  function verdictOf(latest, on) {
    if (position.outcome) return ['The game is over'];
    const side = named(position.toMove);
    if (!latest)
      return [disc(position.toMove), `${side} to move${on ? '' : ': the engine is off'}`];
    return [disc(position.toMove), `${side} ${saysOf(latest)}`];
  }

  function showLine(columns) {
    const key = `${position.fen} ${columns}`;
    if (line.dataset.key === key) return; // replacing a button would take the focus away
    line.dataset.key = key;
    lineCard.hidden = !columns.length;
    let game = position;
    line.replaceChildren(
      ...columns.flatMap((column, i) => {
        if (!game.legal().includes(column)) return [];
        const label = `Play up to ${named(game.toMove)} in column ${column}`;
        const side = disc(game.toMove);
        game = game.play(column);
        const go = () => app.go({ moves: [...position.moves, ...columns.slice(0, i + 1)] });
        return h(
          'li',
          {},
          h('button', { type: 'button', 'aria-label': label, onclick: go }, side, column),
        );
      }),
    );
  }

  function showTable() {
    const head = h(
      'tr',
      {},
      h('th', { scope: 'col' }, 'Column'),
      opinions.map((opinion) => h('th', { scope: 'col' }, agentOf(opinion))),
    );
    const rows = Array.from({ length: position.columns }, (_, i) =>
      h(
        'tr',
        {},
        h('th', { scope: 'row' }, i + 1),
        opinions.map(({ latest }) => cell(latest?.columns[i], latest?.best === i + 1)),
      ),
    );
    table.replaceChildren(
      h('caption', { class: 'hidden' }, 'What each column is worth to the side to move'),
      h('thead', {}, head),
      h('tbody', {}, rows),
    );
  }

  const mark = (kind, example) =>
    h('span', {}, h('span', { class: `hint unknown ${kind}` }, example), ` ${kind}`);
  root.append(
    h(
      'div',
      { class: 'card' },
      verdict,
      effort,
      h('div', { class: 'row switches' }, engine, hints),
      h('div', { class: 'actions' }, deeper, setup),
    ),
    h(
      'div',
      { class: 'card' },
      h('h2', {}, 'Two opinions'),
      h(
        'div',
        { class: 'pair' },
        opinions.map((opinion) => opinion.picker),
      ),
      problems,
      again,
      table,
      h(
        'p',
        { class: 'note legend' },
        mark('proven', 'wins in 7'),
        mark('estimated', '≈ 63 %'),
        h('span', {}, '★ best'),
      ),
    ),
    lineCard,
  );

  const visible = () =>
    document.hidden ? stop() : opinions.some((opinion) => !opinion.latest?.finished) && restart();
  document.addEventListener('visibilitychange', visible);
  const unsubscribe = app.subscribe(changed);
  get('about').then(
    ({ caps }) => {
      budgets = [
        ...new Set(
          DEEPER.slice(0, 2)
            .map((seconds) => Math.min(seconds, caps.analysis_seconds))
            .concat(caps.analysis_seconds),
        ),
      ];
      show();
    },
    () => {},
  );
  changed();
  return {
    unmount() {
      unsubscribe();
      document.removeEventListener('visibilitychange', visible);
      stop();
    },
  };
}

function cell(column, best) {
  if (!column) return h('td', {}, '…');
  const text = `${!column.proven && column.value !== null ? '≈ ' : ''}${column.says}`;
  return h(
    'td',
    { class: `${kindOf(column)}${best ? ' best' : ''}` },
    text,
    best && h('span', { title: 'best' }, ' ★'),
  );
}

function saysOf({ proven, value }) {
  if (proven) {
    const words = { 1: 'wins', 0: 'can hold a draw', '-1': 'loses' }[proven.result];
    return `${words}${proven.result && proven.plies ? ` in ${proven.plies}` : ''} (proven)`;
  }
  return value === null ? 'to move' : `to move: ≈ ${percent(value)} (estimated)`;
}

function effortOf({ agent, seconds, simulations, nodes }) {
  const counted = simulations
    ? `, ${simulations.toLocaleString('en')} simulations`
    : nodes
      ? `, ${nodes.toLocaleString('en')} positions`
      : '';
  return `${agent}: ${seconds.toFixed(1)} s${counted}`;
}
