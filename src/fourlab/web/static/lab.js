// Lab: the runs, their results, and how they compare; running ones refresh automatically.

import { address, get } from './api.js';
import { bar, lineChart, table } from './chart.js';
import { h } from './ui.js';

const SOON = 3000; // milliseconds until the next look
const PAGE = 50; // games on one page of the list
const FOCUSABLE = 'a, button, summary, [tabindex]';
const SIGNS = { running: '▶', finished: '✓', stopped: '❚❚', damaged: '!' };

export function mount(root, app) {
  const list = h('ul', { class: 'runs' });
  const nothing = h('p', { class: 'note', role: 'status' }, 'Loading …');
  const differences = h('div', { class: 'card', hidden: true });
  const detail = h('div', { class: 'detail' });
  const items = new Map(); // of the list, by name
  let compared = ''; // the runs whose differences are on the page
  let open = null; // the run on the page: { name, show, told }
  let timer = null;
  let gone = false;

  async function refresh() {
    clearTimeout(timer);
    try {
      const runs = await get('runs');
      if (gone) return;
      nothing.hidden = runs.length > 0;
      nothing.textContent =
        'No runs yet. Start one: fourlab match, fourlab tournament or fourlab train.';
      for (const run of runs) {
        if (items.has(run.name)) items.get(run.name).show(run);
        else items.set(run.name, item(run));
      }
      const wanted = runs.map((run) => items.get(run.name).element);
      if (
        wanted.some((element, i) => element !== list.children[i]) ||
        list.children.length > wanted.length
      )
        list.replaceChildren(...wanted); // else the focus stays
      compare();
      await showRun(runs.find((run) => run.name === app.state.extra.run));
    } catch (error) {
      nothing.hidden = false;
      nothing.textContent = error.message;
    }
    clearTimeout(timer);
    if (!gone && document.visibilityState === 'visible') timer = setTimeout(refresh, SOON);
  }

  function item(run) {
    const name = h('button', {
      type: 'button',
      class: 'run',
      onclick: () => app.go({ run: run.name }),
    });
    const mark = h('input', {
      type: 'checkbox',
      'aria-label': `Compare ${run.name}`,
      onchange: () =>
        app.go(
          {
            compare: [
              ...ticked().filter((other) => other !== run.name),
              ...(mark.checked ? [run.name] : []),
            ].join(','),
          },
          { replace: true },
        ),
    });
    const made = {
      element: h('li', {}, mark, name),
      show(now) {
        name.replaceChildren(
          h('b', {}, now.name),
          statusOf(now),
          now.headline && h('span', { class: 'note' }, now.headline),
        );
        mark.checked = ticked().includes(now.name);
        if (now.name === app.state.extra.run) name.setAttribute('aria-current', 'true');
        else name.removeAttribute('aria-current');
        return made;
      },
    };
    return made.show(run);
  }

  // The runs that are ticked, as the address says; no name has a comma.
  const ticked = () => (app.state.extra.compare ?? '').split(',').filter(Boolean);

  async function compare() {
    const wanted = ticked();
    if (String(wanted) === compared) return;
    compared = String(wanted);
    differences.hidden = wanted.length < 2;
    if (differences.hidden) return;
    try {
      const { runs, settings } = await get('compare', { run: wanted });
      if (String(wanted) !== compared) return;
      const rows = Object.entries(settings).map(([setting, values]) => [
        setting,
        ...values.map(plain),
      ]);
      differences.replaceChildren(
        h('h2', {}, 'Where they differ'),
        rows.length
          ? table(['setting', ...runs], rows, 'Differing settings')
          : h('p', {}, 'These runs have the same settings.'),
      );
    } catch (error) {
      differences.replaceChildren(h('p', { class: 'problem' }, error.message));
    }
  }

  // A run that has not changed since the last look is not asked for again.
  async function showRun(listed) {
    const name = app.state.extra.run;
    if (name === undefined) {
      open = null;
      detail.replaceChildren();
      return;
    }
    const shown = JSON.stringify(listed);
    if (open?.name === name && open.shown === shown && listed?.status !== 'running') return;
    try {
      const run = await get(`runs/${encodeURIComponent(name)}`);
      if (gone || app.state.extra.run !== name) return;
      if (open?.name !== name) {
        open = { name, ...details(name, app) };
        detail.replaceChildren(...open.elements);
        // On a phone the details are below the list.
        if (detail.getBoundingClientRect().top > innerHeight) detail.scrollIntoView();
      }
      open.shown = shown;
      open.show(run);
    } catch (error) {
      open = null;
      detail.replaceChildren(h('p', { class: 'card problem' }, error.message));
    }
  }

  const seen = () => document.visibilityState === 'visible' && refresh();
  document.addEventListener('visibilitychange', seen);
  const unsubscribe = app.subscribe(() => app.state.view === 'lab' && refresh());
  root.append(
    h(
      'div',
      { class: 'lab' },
      h('div', { class: 'card' }, h('h2', {}, 'Runs'), nothing, list),
      h('div', { class: 'detail' }, differences, detail),
    ),
  );
  refresh();
  return {
    unmount() {
      gone = true;
      clearTimeout(timer);
      unsubscribe();
      document.removeEventListener('visibilitychange', seen);
    },
  };
}

// "2026-11-16T12:13:27+0000" in the reader's format; some browsers need a colon in the offset.
const when = (text) =>
  new Date(text.replace(/(\d\d)$/, ':$1')).toLocaleString([], {
    dateStyle: 'medium',
    timeStyle: 'short',
  });
const plain = (value) =>
  value == null ? '–' : typeof value === 'object' ? JSON.stringify(value) : String(value);

function statusOf({ status, kind, done, total, unit }) {
  const count =
    done !== null &&
    `${done.toLocaleString('en')}${total ? ` / ${total.toLocaleString('en')}` : ''} ${unit ?? ''}`;
  const line = h(
    'span',
    { class: 'row status' },
    h(
      'span',
      { class: `badge ${status}` },
      h('span', { 'aria-hidden': 'true' }, SIGNS[status]),
      ` ${status}`,
    ),
    h('span', { class: 'note' }, kind),
  );
  line.append(
    ...(count
      ? [
          total && status !== 'finished'
            ? bar(done / total, count)
            : h('span', { class: 'note' }, count),
        ]
      : []),
  );
  return line;
}

// The parts of one run; each is drawn again only when what it shows has changed.
function details(name, app) {
  const parts = ['head', 'tables', 'curves', 'figures', 'games', 'settings'];
  const hosts = Object.fromEntries(parts.map((title) => [title, h('div', { class: 'card' })]));
  const drawn = {};
  const charts = new Map();
  let offset = 0;
  let games = 0;

  function part(which, data, draw) {
    const text = JSON.stringify(data);
    if (drawn[which] === text) return;
    drawn[which] = text;
    const host = hosts[which];
    const children = draw(data).filter(Boolean);
    const place = [...host.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
    host.hidden = !children.length;
    host.replaceChildren(...children);
    host.querySelectorAll(FOCUSABLE)[place]?.focus(); // keep the place of keyboard users
  }

  function show(run) {
    const path = `runs/${encodeURIComponent(name)}`;
    part(
      'head',
      [run.status, run.kind, run.done, run.total, run.unit, run.headline, run.created],
      () => [
        h('h2', {}, name),
        statusOf(run),
        run.headline && h('p', {}, run.headline),
        run.created && h('p', { class: 'note' }, `Begun ${when(run.created)}`),
      ],
    );
    part('tables', run.tables, (tables) =>
      tables.flatMap(({ title, head, rows }) => [
        h('h2', {}, title),
        table(
          head,
          rows.map((cells) => cells.map(plain)),
          title,
        ),
      ]),
    );
    showCurves(run.metrics);
    part('figures', [charts.size ? [] : run.figures, run.done], ([figures]) =>
      // a training's figure has the same curves
      figures.map((figure) =>
        h('img', {
          class: 'figure',
          src: address(`${path}/figures/${encodeURIComponent(figure)}.svg`, { done: run.done }),
          alt: `Figure: ${figure}`,
        }),
      ),
    );
    part('settings', run.settings, (settings) => [
      h(
        'details',
        {},
        h('summary', {}, 'Settings'),
        table(
          ['setting', 'value'],
          Object.entries(settings).map(([setting, value]) => [setting, plain(value)]),
          'Settings',
        ),
      ),
    ]);
    games = run.games ?? 0;
    showGames();
  }

  // Charts stay and are only drawn anew, so that the numbers below them stay open.
  function showCurves(metrics) {
    for (const { label, names, logarithmic } of metrics?.curves ?? []) {
      const series = names
        .map((metric, place) => ({
          name: metric,
          ink: (place % 7) + 1,
          points: metrics.rows
            .map((numbers) => [numbers[metrics.unit], numberIn(numbers, metric)])
            .filter(([, value]) => value !== null),
        }))
        .filter((curve) => curve.points.length);
      if (!series.length) continue;
      if (!charts.has(label)) {
        const chart = lineChart({
          title: label,
          x: { label: metrics.unit },
          y: {
            label,
            log: logarithmic && series.some((curve) => curve.points.some(([, value]) => value > 0)),
          },
        });
        charts.set(label, chart);
        hosts.curves.append(chart.element);
      }
      charts.get(label).draw({ series });
    }
    hosts.curves.hidden = !charts.size;
  }

  async function showGames() {
    hosts.games.hidden = !games;
    if (!games) return;
    const from = offset;
    const answer = await get(`runs/${encodeURIComponent(name)}/games`, {
      offset: from,
      limit: PAGE,
    }).catch(() => null);
    if (!answer || from !== offset) return;
    const last = Math.min(offset + PAGE, answer.total);
    const turn = (text, to) => {
      const pointless = to < 0 || to >= answer.total;
      const go = () => {
        offset = to;
        showGames();
      };
      return h(
        'button',
        { type: 'button', 'aria-disabled': String(pointless), onclick: () => pointless || go() },
        text,
      );
    };
    part('games', [offset, answer], () => [
      h('h2', {}, 'Games'),
      table(['game', 'red', 'yellow', 'result', 'plies', 'ended'], answer.games.map(row), 'Games'),
      answer.total > PAGE &&
        h(
          'div',
          { class: 'row' },
          turn('◀ Earlier', offset - PAGE),
          h(
            'span',
            { class: 'note' },
            `${offset + 1}–${last} of ${answer.total.toLocaleString('en')}`,
          ),
          turn('Later ▶', offset + PAGE),
        ),
    ]);
  }

  function row(game) {
    const asked = { view: 'watch', run: name, game: game.number };
    const follow = (event) => {
      if (event.metaKey || event.ctrlKey || event.shiftKey) return;
      event.preventDefault();
      app.go({ ...asked, start: '', moves: [], board: game.board });
    };
    const link = h(
      'a',
      {
        href: `?${new URLSearchParams(asked)}`,
        'aria-label': `Watch game ${game.number}`,
        onclick: follow,
      },
      game.number,
    );
    const result = { 1: 'red', 0: 'draw', '-1': 'yellow' }[game.result] ?? '–';
    return [
      link,
      game.red,
      game.yellow,
      result,
      game.plies,
      [game.cause, game.detail].filter(Boolean).join(': '),
    ];
  }

  return { elements: Object.values(hosts), show };
}

// A number of a row of metrics; "rules.score" is the score in the table rules.
function numberIn(row, name) {
  const value = name.split('.').reduce((part, key) => part?.[key], row);
  return typeof value === 'number' ? value : null;
}
