// X-ray: a tree search while it runs: bars, convergence curves, and at the end its tree.

import { bar, lineChart, short, table } from './chart.js';
import { stream } from './stream.js';
import { agentPicker, disc, h } from './ui.js';

const SECONDS = 5; // unless somebody says otherwise
const NO_TREE = 'has no search tree to show';
// +0.25, −0.25 with a real minus sign, and 0.00 without any.
const signed = (value) =>
  value == null
    ? '–'
    : value
        .toFixed(2)
        .replace('-', '−')
        .replace(/^(?=[1-9]|0\.\d*[1-9])/, '+');

export function mount(root, app) {
  let close = null; // ends the stream that is running
  let trace = []; // the root of the search after ever more simulations
  let position = JSON.stringify(app.shown.request());

  const picker = agentPicker({
    label: 'Agent',
    value: app.settings.get('xray', 'mcts'),
    levels: false,
    // Agents of the user's own are listed in any case, so that nobody looks for them.
    filter: (agent) => agent.xray || agent.group === 'own',
    refuse: (agent) => (agent.xray ? '' : NO_TREE),
    change: (agent) => app.settings.set('xray', agent),
  });
  const seconds = h('input', {
    type: 'number',
    min: 0.1,
    max: 30,
    step: 'any',
    value: SECONDS,
    required: true,
  });
  const simulations = h('input', {
    type: 'number',
    min: 1,
    max: 10000000,
    step: 1,
    placeholder: 'no bound',
  });
  const stop = h(
    'button',
    { type: 'button', disabled: true, onclick: () => end('Stopped.') },
    'Stop',
  );
  const state = h('p', { class: 'note' });
  const bars = h('div', { class: 'card', hidden: true });
  const axis = { label: 'simulations', log: true };
  const values = lineChart({
    title: 'Value of each column',
    x: axis,
    y: {
      label: 'value',
      min: -1,
      max: 1,
      ticks: [-1, -0.5, 0, 0.5, 1].map((value) => [value, signed(value)]),
      text: signed,
    },
  });
  const visits = lineChart({
    title: 'Visits to each column',
    x: axis,
    y: { label: 'visits', log: true },
  });
  const curves = h('div', { class: 'card', hidden: true }, values.element, visits.element);
  const grown = h('div', { class: 'card', hidden: true });

  function begin(event) {
    event.preventDefault();
    clear();
    if (app.shown.outcome)
      return end('The game is over here: step back to a position with something to think about.');
    const asked = {
      ...app.shown.request(),
      agent: picker.value,
      seconds: seconds.value,
      simulations: simulations.value,
      tree: true,
    };
    close = stream('analysis/stream', asked, {
      onProgress: show,
      onDone: done,
      onError: (error) => end(error.message),
    });
    state.textContent = 'Thinking …';
    stop.disabled = false;
  }

  function show(opinion) {
    trace.push(...opinion.trace);
    const columns = opinion.columns.filter((column) => column.visits != null);
    const most = Math.max(1, ...columns.map((column) => column.visits));
    const priors = columns.some((column) => column.prior != null);
    // Intermediate results name no best column; the most visited one is what would be played.
    const best = opinion.best ?? columns.find((column) => column.visits === most)?.column;
    const rows = columns.map((column) => [
      column.column === best ? h('strong', {}, `${column.column} ★`) : h('span', {}, column.column),
      bar(column.visits / most, short(column.visits)),
      bar(
        // From -1 … +1 to the share of the bar, 0 … 1.
        ((column.value ?? -1) + 1) / 2,
        column.proven ? column.says : signed(column.value),
        'middle',
      ),
      ...(priors ? [bar(column.prior ?? 0, (column.prior ?? 0).toFixed(2))] : []),
    ]);
    bars.replaceChildren(
      table(
        ['Column', 'Visits', 'Value', ...(priors ? ['Prior'] : [])],
        rows,
        'What the search thinks of each column',
      ),
    );
    for (const part of [bars, curves]) part.hidden = false;
    values.draw({ series: series('values') });
    visits.draw({ series: series('visits') });
    if (opinion.simulations != null)
      state.textContent =
        `${short(opinion.simulations)} simulations in ` + `${opinion.seconds.toFixed(1)} s`;
  }

  const series = (what) =>
    app.shown.legal().map((column) => ({
      name: String(column),
      ink: ((column - 1) % 7) + 1,
      points: trace
        .map((snapshot) => [snapshot.simulations, snapshot[what][column - 1]])
        .filter(([, value]) => value !== null), // not tried yet
    }));

  function done(opinion) {
    if (!opinion.tree) {
      clear(); // the spec of an agent without a tree was typed
      return end(`${opinion.agent} ${NO_TREE}.`);
    }
    show(opinion);
    end(`Done: ${state.textContent}, best column ${opinion.best}.`);
    grown.hidden = false;
    grown.replaceChildren(
      h('h2', {}, 'The tree'),
      h(
        'p',
        { class: 'note' },
        'N visits, Q mean result for the side that plays the column, P prior. ' +
          'The arrow keys move and open; the board shows the line.',
      ),
      tree(opinion.tree, app),
    );
  }

  function end(text) {
    close?.();
    close = null;
    state.textContent = text;
    if (text) app.announce(text);
    stop.disabled = true;
  }

  function clear() {
    end('');
    trace = [];
    for (const part of [bars, curves, grown]) part.hidden = true;
  }

  const unsubscribe = app.subscribe(() => {
    const now = JSON.stringify(app.shown.request());
    if (now === position) return;
    position = now;
    clear();
  });
  root.append(
    h(
      'form',
      { class: 'card', onsubmit: begin },
      h('p', {}, 'Watch a tree search make up its mind about the position on the board.'),
      picker,
      h(
        'div',
        { class: 'fields' },
        h('label', {}, 'Seconds at most', seconds),
        h('label', {}, 'Simulations at most', simulations),
      ),
      h('div', { class: 'row' }, h('button', { class: 'primary' }, 'Start'), stop),
      state,
    ),
    bars,
    curves,
    grown,
  );
  return {
    unmount() {
      unsubscribe();
      close?.();
    },
  };
}

// The tree of a search; a node's children are made when it is opened.
function tree(top, app) {
  // From an item on the page to { node, game after its line, up: the item above }.
  const nodes = new Map();
  const list = h('ul', {
    role: 'tree',
    'aria-label': 'Search tree',
    class: top.children.some((child) => child.prior !== null) && 'priors',
  });

  function item(node, game, up) {
    const mover = up && nodes.get(up).game.toMove;
    const share = up ? node.visits / Math.max(1, nodes.get(up).node.visits) : 1;
    const proven = { 1: 'won', 0: 'drawn', '-1': 'lost' }[node.proven];
    const figures = [
      `N ${short(node.visits)}`,
      `Q ${proven ?? signed(node.value)}`,
      node.prior == null ? '' : `P ${node.prior.toFixed(2)}`,
    ];
    const name = up
      ? `${mover === 'red' ? 'Red' : 'Yellow'}, column ${node.column}`
      : 'This position';
    const label = h(
      'span',
      { class: 'node' },
      up && disc(mover),
      h('b', {}, up ? node.column : 'Here'),
      bar(share),
      figures.map((figure) => h('span', { class: 'says' }, figure)),
    );
    const made = h(
      'li',
      {
        role: 'treeitem',
        tabindex: up ? -1 : 0,
        'aria-label': [name, ...figures].filter(Boolean).join(', '),
      },
      label,
    );
    if (node.children.length) made.setAttribute('aria-expanded', 'false');
    nodes.set(made, { node, game, up });
    return made;
  }

  function open(one) {
    const { node, game } = nodes.get(one);
    one.setAttribute('aria-expanded', 'true');
    one.append(
      h(
        'ul',
        { role: 'group' },
        node.children.map((child) => item(child, game.play(child.column), one)),
      ),
    );
  }

  function shut(one) {
    one.setAttribute('aria-expanded', 'false');
    one.querySelector('ul').remove();
  }

  const toggle = (one) => ({ true: shut, false: open })[one.getAttribute('aria-expanded')]?.(one);

  function focus(one) {
    list.querySelector('[tabindex="0"]')?.setAttribute('tabindex', -1);
    one.setAttribute('tabindex', 0);
    one.focus();
  }

  function keyDown(event) {
    const one = event.target.closest('[role=treeitem]');
    const all = [...list.querySelectorAll('[role=treeitem]')];
    const expanded = one.getAttribute('aria-expanded');
    const steps = {
      ArrowDown: () => all[all.indexOf(one) + 1],
      ArrowUp: () => all[all.indexOf(one) - 1],
      ArrowRight: () =>
        expanded === 'false' ? void open(one) : expanded && one.querySelector('li'),
      ArrowLeft: () => (expanded === 'true' ? void shut(one) : nodes.get(one).up),
      Home: () => all[0],
      End: () => all.at(-1),
      Enter: () => void toggle(one),
      ' ': () => void toggle(one),
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const next = steps[event.key]();
    if (next) focus(next);
  }

  const itemOf = (event) => event.target.closest('[role=treeitem]');
  // The board shows the line of the item under the pointer, else of the focused one. An item that
  // merely scrolls under a resting pointer does not count as pointed at.
  let hovered = null;
  let focused = null;

  function preview() {
    const shown = nodes.get(hovered ?? focused);
    app.board.show(shown ? shown.game : app.shown);
  }

  list.addEventListener('keydown', keyDown);
  list.addEventListener('focusin', (event) => {
    focused = itemOf(event);
    hovered = null;
    preview();
  });
  list.addEventListener('focusout', () => {
    focused = null;
    preview();
  });
  list.addEventListener('mousemove', (event) => {
    const moved = event.movementX !== 0 || event.movementY !== 0;
    if (!moved || itemOf(event) === hovered) return;
    hovered = itemOf(event);
    preview();
  });
  list.addEventListener('mouseleave', () => {
    hovered = null;
    preview();
  });
  list.addEventListener('click', (event) => {
    const one = itemOf(event);
    if (!one) return;
    toggle(one);
    focus(one);
  });
  list.append(item(top, app.shown, null));
  open(list.firstChild);
  return list;
}
