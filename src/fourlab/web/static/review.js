// Review: a game beside the exact values: who was winning when, which moves were mistakes, and a
// second try.

import { address, post } from './api.js';
import { lineChart } from './chart.js';
import { named, SIDES } from './game.js';
import { disc, h } from './ui.js';

const CATEGORIES = {
  best: ['★', 'best'],
  good: ['✓', 'good'],
  slow: ['~', 'slow'],
  mistake: ['?', 'mistake'],
  blunder: ['??', 'blunder'],
  forced: ['→', 'forced'],
  unknown: ['·', 'not proven'],
};
const SIDES_OF_THE_GRAPH = {
  ticks: [
    [1, 'red'],
    [0.5, 'even'],
    [0, 'yellow'],
  ],
  text: (chance) => `${Math.round(100 * chance)} %`,
};

let kept = null; // the last review, so that returning to this view is free: { game, review }

export function mount(root, app) {
  const gameKey = () => JSON.stringify(app.state.game.request());
  let game = null; // the key of the game on the page
  let waiting = null; // ends the question that is being answered
  let shown = null; // what follows the cursor

  function ask() {
    const mine = (waiting = new AbortController());
    const asked = game;
    root.replaceChildren(
      h(
        'div',
        { class: 'card' },
        h('label', {}, 'Solving every position of the game …', h('progress', {})),
        h(
          'div',
          { class: 'row' },
          h('button', { type: 'button', onclick: () => offer('Stopped.') }, 'Stop'),
        ),
      ),
    );
    // `waiting` is another one, or none, if this answer is no longer wanted.
    post('review', JSON.parse(asked), { signal: mine.signal }).then(
      (review) => {
        if (waiting !== mine) return;
        waiting = null;
        kept = { game: asked, review };
        app.announce('The review is ready.');
        present(review);
      },
      (error) => waiting === mine && offer(error.message),
    );
  }

  function forget() {
    waiting?.abort();
    waiting = null;
    shown = null;
  }

  function offer(text) {
    forget();
    const empty = !app.state.game.moves.length;
    root.replaceChildren(
      h(
        'div',
        { class: 'card' },
        h(
          'p',
          { role: 'status' },
          empty
            ? 'There is nothing to review yet: play a game first, or open one from the Lab.'
            : text,
        ),
        !empty &&
          h(
            'div',
            { class: 'row' },
            h('button', { type: 'button', class: 'primary', onclick: ask }, 'Review this game'),
          ),
      ),
    );
  }

  // The game may have become another one, or only the cursor has moved.
  function changed() {
    if (gameKey() === game) return shown?.();
    const first = game === null;
    game = gameKey();
    forget();
    if (kept?.game === game) present(kept.review);
    // Solving takes seconds of a processor: at once on arrival, later only when asked for.
    else if (first && app.state.game.moves.length) ask();
    else offer('The game has changed.');
  }

  function present(review) {
    const parts = [graph(review, app), moveList(review, app)];
    root.replaceChildren(
      parts[0].element,
      accuracy(review),
      parts[1].element,
      saving(app.state.game),
    );
    shown = () => parts.forEach((part) => part.show());
    shown();
  }

  const unsubscribe = app.subscribe(changed);
  changed();
  return {
    unmount() {
      unsubscribe();
      forget();
    },
    refuses: () => 'Press “Retry from here” to play on from a position of this game.',
  };
}

// The chance of red after each move; a click, a drag or the slider below moves the cursor.
function graph(review, app) {
  const last = review.positions.length - 1;
  const go = (ply) =>
    app.go({ ply: Math.min(last, Math.max(0, Math.round(ply))) }, { replace: true });
  const chart = lineChart({
    title: 'Win chance of red',
    x: { label: 'move', min: -0.5, max: last + 0.5, whole: true },
    y: { label: 'chance of red', min: 0, max: 1, ...SIDES_OF_THE_GRAPH },
    pick: go,
  });
  chart.element.classList.add('chances');
  const estimates = review.positions.filter((position) => position.estimate !== null);
  chart.draw({
    series: [
      {
        name: 'proven',
        ink: 4,
        step: true,
        area: true,
        points: review.positions.map((position) => [position.ply, position.chance]),
      },
      ...(estimates.length
        ? [
            {
              name: 'estimated',
              ink: 1,
              thin: true,
              points: estimates.map((position) => [position.ply, position.estimate]),
            },
          ]
        : []),
    ],
    marks: review.moves_made
      .filter((move) => review.mistakes.includes(move.number))
      .map((move) => ({
        x: move.number,
        y: move.side === 'red' ? 0.06 : 0.94,
        text: CATEGORIES[move.category][0],
      })),
  });
  const slider = h('input', {
    type: 'range',
    min: 0,
    max: last,
    'aria-label': 'Move',
    oninput: () => go(slider.valueAsNumber),
  });
  chart.element.querySelector('svg').after(slider);
  const jump = (text, find) =>
    h('button', { type: 'button', onclick: () => find() !== undefined && go(find()) }, text);
  const earlier = () =>
    review.mistakes.filter((number) => number < app.state.ply).sort((a, b) => b - a)[0];
  const later = () =>
    review.mistakes.filter((number) => number > app.state.ply).sort((a, b) => a - b)[0];
  const previous = jump('‹ Mistake', earlier);
  const next = jump('Mistake ›', later);
  const retry = h(
    'button',
    { type: 'button', class: 'primary', onclick: () => retryFrom(review, app) },
    'Retry from here',
  );
  const about = h('div', { class: 'about-move' });
  previous.setAttribute('aria-label', 'Previous mistake');
  next.setAttribute('aria-label', 'Next mistake');

  function show() {
    const { ply } = app.state;
    const { says } = review.positions[ply];
    const move = review.moves_made[ply - 1];
    slider.value = ply;
    slider.setAttribute(
      'aria-valuetext',
      `${ply} of ${last}: ${says}${move ? `, ${CATEGORIES[move.category][1]}` : ''}`,
    );
    chart.draw({ cursor: ply });
    previous.setAttribute('aria-disabled', String(earlier() === undefined));
    next.setAttribute('aria-disabled', String(later() === undefined));
    retry.disabled = !move;
    about.replaceChildren(
      ...(move
        ? [
            h(
              'p',
              {},
              disc(move.side),
              h('b', {}, ` Move ${ply}, column ${move.column} `),
              badge(move.category),
            ),
            h('p', {}, move.says),
          ]
        : [h('p', {}, h('b', {}, 'The start'))]),
      h('p', { class: 'note' }, `Now: ${says}.`),
    );
  }
  const count = review.mistakes.length;
  return {
    show,
    element: h(
      'div',
      { class: 'card' },
      chart.element,
      about,
      h('div', { class: 'row' }, previous, next, retry),
      h(
        'p',
        { class: 'note' },
        `${count || 'No'} move${count === 1 ? '' : 's'} gave something away.`,
        !review.complete && ' Not every position could be proven in the time given.',
      ),
    ),
  };
}

// Back to the position before the move at the cursor, and a person is to find a better one.
function retryFrom(review, app) {
  const { number, side } = review.moves_made[app.state.ply - 1];
  app.go({ view: 'play', ply: number - 1, [side]: 'human' });
}

const badge = (category) =>
  h(
    'span',
    { class: `badge ${category}` },
    h('span', { 'aria-hidden': 'true' }, CATEGORIES[category][0]),
    ` ${CATEGORIES[category][1]}`,
  );

function accuracy(review) {
  const card = (side) => {
    const { moves, kept: held, best, accuracy: share } = review.accuracy[side];
    const percent = (part) => (part === null ? '–' : `${Math.round(100 * part)} %`);
    return h(
      'div',
      { class: 'card score' },
      h('h2', {}, disc(side), ` ${named(side)}`),
      h('p', { class: 'large' }, percent(share)),
      h(
        'p',
        { class: 'note' },
        `Of ${moves} moves ${percent(held)} kept the result and ${percent(best)} were best.`,
      ),
    );
  };
  return h('div', { class: 'sides' }, SIDES.map(card));
}

function moveList(review, app) {
  const items = review.moves_made.map((move) => {
    const go = () => app.go({ ply: move.number }, { replace: true });
    const says = move.category === 'best' || move.category === 'forced' ? '' : move.says;
    return h(
      'li',
      {},
      h(
        'button',
        { type: 'button', onclick: go },
        h('span', { class: 'count' }, move.number),
        disc(move.side),
        h('b', {}, h('span', { class: 'hidden' }, `${named(move.side)}, column `), move.column),
        badge(move.category),
        says && h('span', { class: 'note' }, says),
      ),
    );
  });
  const list = h('ol', { class: 'judged' });
  const order = h(
    'select',
    { 'aria-label': 'Order of the moves', onchange: sort },
    h('option', { value: 'played' }, 'as played'),
    h('option', { value: 'size' }, 'worst first'),
  );

  function sort() {
    const by = {
      played: (a, b) => a - b,
      size: (a, b) => review.moves_made[b].size - review.moves_made[a].size || a - b,
    }[order.value];
    list.replaceChildren(...[...items.keys()].sort(by).map((place) => items[place]));
  }
  function show() {
    list.querySelector('[aria-current]')?.removeAttribute('aria-current');
    const item = items[app.state.ply - 1];
    item?.firstChild.setAttribute('aria-current', 'step');
    list.scrollTop = item ? item.offsetTop - list.clientHeight / 2 : 0;
  }

  sort();
  return {
    show,
    element: h(
      'div',
      { class: 'card' },
      h('div', { class: 'row apart' }, h('h2', {}, 'Moves'), order),
      list,
    ),
  };
}

function saving(game) {
  const page = address('review/page', game.request());
  return h(
    'div',
    { class: 'row' },
    h('a', { class: 'button', href: page, download: 'review.html' }, 'Save as a page'),
  );
}
