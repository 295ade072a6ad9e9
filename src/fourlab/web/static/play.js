// Play: who sits where, the agents' replies, and what can be done with the game.

import { ADAPTIVE, adapt, playing } from './adaptive.js';
import { pause, post } from './api.js';
import { named, SIDES } from './game.js';
import { nameOf, prefer, secondsUntil, subscribe, waitFor } from './ready.js';
import { agentName, agentPicker, disc, h, load, reduced, toggle } from './ui.js';

const AT_ONCE = 0.05; // seconds that an agent gets after "Move now"
const LANDING = 450; // milliseconds: a reply waits until the disc before it has landed

let counted = false; // whether the adaptive level has followed this game, which it does once

export function mount(root, app) {
  let asked = null; // the question an agent is thinking about: {text, stop}
  let problem = null; // why the last question was not answered
  let hinting = null; // closes the hints

  // --- the agents -------------------------------------------------------------------------------

  const atEnd = () => app.state.ply === app.state.game.moves.length;
  const sitting = (side) => playing(app.state[side], app.settings);
  const seat = (game) => sitting(game.toMove);
  const agentsTurn = () => !app.shown.outcome && seat(app.shown) !== 'human';

  // Ask the agent whose turn it is, unless it has been asked already; abort an outdated request.
  function think() {
    const wanted =
      agentsTurn() && atEnd()
        ? JSON.stringify({ ...app.shown.request(), agent: seat(app.shown) })
        : null;
    if (wanted === asked?.text) return;
    forget();
    problem = null;
    if (wanted) ask(wanted);
  }

  function forget() {
    asked?.stop.abort();
    asked = null;
  }

  async function ask(text, limit = {}) {
    const mine = (asked = { text, stop: new AbortController() });
    const { signal } = mine.stop;
    try {
      const question = { ...JSON.parse(text), ...limit };
      const [answer] = await Promise.all([
        post('move', question, { signal }),
        pause(reduced() || limit.seconds ? 0 : LANDING),
      ]);
      if (asked !== mine) return; // the game went on without it
      asked = null;
      app.go({ moves: [...app.shown.moves, answer.column] }, { replace: atEnd() });
    } catch (error) {
      if (asked !== mine) return;
      asked = { text, stop: mine.stop }; // not again by itself
      problem = error.message;
      show();
      app.announce(problem);
    }
  }

  function moveNow() {
    forget();
    problem = null;
    ask(JSON.stringify({ ...app.shown.request(), agent: seat(app.shown) }), { seconds: AT_ONCE });
    show();
  }

  function tryAgain() {
    forget();
    think();
    show();
  }

  // While the server compiles, the agents that sit here come first.
  // That is said once, and again when one is ready.
  const awaited = new Set();

  function prepare() {
    for (const agent of new Set(SIDES.map(sitting))) {
      if (!secondsUntil(agent)) {
        if (awaited.delete(agent)) app.announce(`${nameOf(agent)} is ready.`);
      } else if (!awaited.has(agent)) {
        awaited.add(agent);
        prefer(agent);
        app.announce(`${waitFor(agent)}.`);
      }
    }
    app.refresh();
  }

  // What a person can do who wants to play when it is an agent's turn.
  function advice() {
    if (problem) return 'Press “Try again”, or give its seat to another.';
    const agent = seat(app.shown);
    if (asked && secondsUntil(agent))
      return `${nameOf(agent)} is not ready yet, and will move by itself.`;
    return asked
      ? 'Wait, or press “Move now”.'
      : 'Go to the last position, or press “Move now” to let it choose anew.';
  }

  // --- optional hints: the exact value of every column while it is a person's turn --------------

  async function showHints() {
    hinting?.();
    hinting = null;
    const wanted = app.settings.get('play-hints', false);
    app.board.hints(wanted ? [] : null);
    if (!wanted || app.shown.outcome || agentsTurn()) return;
    const position = app.shown;
    let closed = false;
    hinting = () => (closed = true);
    const failed = (error) => app.complain(`No hints: ${error.message}`);
    try {
      const { follow, hintsOf } = await load('analyse', 'more');
      if (!closed)
        hinting = follow(position, 'perfect', 1, {
          onOpinion: (opinion) => app.board.hints(hintsOf(opinion)),
          failed,
        });
    } catch (error) {
      if (!closed) failed(error);
    }
  }

  // --- the panel --------------------------------------------------------------------------------

  // The ply to take back to: the latest earlier one where a person was to move.
  function earlier() {
    for (let ply = app.state.ply - 1; ply >= 0; ply--)
      if (seat(app.state.game.at(ply)) === 'human') return ply;
    return null;
  }

  const newGame = () => app.go({ moves: [], start: '', board: app.shown.board });
  const action = (text, click, attributes = {}) =>
    h('button', { type: 'button', onclick: click, ...attributes }, text);
  const buttons = {
    fresh: action('New game', newGame),
    back: action('Take back', () => app.go({ moves: app.shown.moves.slice(0, earlier()) })),
    now: action('Move now', moveNow),
    setup: action('Set up…', () => app.setUp()),
    swap: action('Swap seats', () =>
      app.go({ red: app.state.yellow, yellow: app.state.red }, { replace: true }),
    ),
    link: action('Copy link', copyLink),
  };
  const result = h('div', { class: 'card result', hidden: true });
  const trouble = h('div', { class: 'card', hidden: true });
  const pickers = Object.fromEntries(
    SIDES.map((side) => [
      side,
      agentPicker({
        label: [disc(side), named(side)],
        value: app.state[side],
        human: true,
        adaptive: aboutAdaptive,
        change: (chosen) => app.go({ [side]: chosen }, { replace: true }),
      }),
    ]),
  );
  const moves = h('ol', { class: 'moves' });
  const movesCard = h('div', { class: 'card' }, h('h2', {}, 'Moves'), moves);
  const hints = toggle('Hints while playing', app.settings.get('play-hints', false), (on) => {
    app.settings.set('play-hints', on);
    showHints();
  });

  const flip = toggle('Flip board', app.settings.get('flip', false), (on) => {
    app.settings.set('flip', on);
    app.board.flip(on);
  });

  // --- the adaptive opponent: after a game that was played here, its level changes ---------------

  let last = app.state.game;

  function aboutAdaptive() {
    const level = agentName(playing(ADAPTIVE, app.settings));
    return `One level up after each game you win, one down after each you lose; now ${level}.`;
  }

  async function count() {
    const { game } = app.state;
    const isNext = game !== last && game.moves.length === last.moves.length + 1 && atEnd();
    last = game;
    if (!game.moves.length) counted = false;
    if (!isNext || !app.shown.outcome || counted) return;
    const person = SIDES.find((side) => app.state[side] === 'human');
    if (!person || !SIDES.some((side) => app.state[side] === ADAPTIVE)) return;
    counted = true;
    const { outcome } = app.shown;
    const won = outcome.startsWith(person);
    try {
      const level = await adapt(outcome === 'draw' ? 'draw' : won ? 'win' : 'loss', app.settings);
      app.announce(`The next game is against level ${level.level}, ${level.name}.`);
      show();
    } catch {} // the server does not answer: the level stays
  }

  let listed = null; // the game whose moves are listed

  function moveButton(side, column, ply) {
    const label = `Move ${ply}, ${named(side)}: column ${column}`;
    return action([disc(side), column], () => app.go({ ply }, { replace: true }), {
      'aria-label': label,
    });
  }

  async function copyLink() {
    try {
      await navigator.clipboard.writeText(location.href);
      app.announce('Link copied.');
      buttons.link.textContent = 'Copied';
      setTimeout(() => (buttons.link.textContent = 'Copy link'), 1500);
    } catch {
      app.complain('The link could not be copied; it is the address of this page.');
    }
  }

  function show() {
    const { game, ply, red, yellow } = app.state;
    const { shown } = app;
    pickers.red.value = red;
    pickers.yellow.value = yellow;
    buttons.back.disabled = earlier() === null;
    buttons.now.disabled = !agentsTurn();
    result.hidden = !shown.outcome;
    if (shown.outcome) {
      result.replaceChildren(
        h(
          'h2',
          {},
          shown.outcome === 'draw' ? 'A draw' : `${named(shown.outcome.split(' ')[0])} wins`,
        ),
        h('p', { class: 'note' }, `${ply} moves, ${agentName(red)} against ${agentName(yellow)}`),
        h(
          'div',
          { class: 'row' },
          game.at(0).outcome
            ? action('New game', newGame, { class: 'primary' })
            : action('Play again', () => app.go({ moves: [] }), { class: 'primary' }),
          shown.moves.length > 0 && action('Review this game', () => app.go({ view: 'review' })),
        ),
      );
    }
    trouble.hidden = !problem;
    trouble.replaceChildren(
      h('p', { class: 'problem' }, problem ?? ''),
      h('div', { class: 'row' }, action('Try again', tryAgain)),
    );
    movesCard.hidden = !game.moves.length;
    if (listed !== game) {
      listed = game; // only then, so that a move that was chosen keeps the focus
      moves.replaceChildren(
        ...game.moves.map((column, i) => h('li', {}, moveButton(game.at(i).toMove, column, i + 1))),
      );
    }
    [...moves.children].forEach((item, i) =>
      item.firstChild.setAttribute('aria-current', i + 1 === ply ? 'step' : 'false'),
    );
    app.refresh();
  }

  root.append(
    result,
    trouble,
    h('div', { class: 'card actions' }, buttons.fresh, buttons.back, buttons.now, buttons.setup),
    h(
      'div',
      { class: 'card' },
      pickers.red,
      pickers.yellow,
      h('div', { class: 'actions' }, buttons.swap, buttons.link),
      hints,
      flip,
    ),
    movesCard,
  );

  // What the line above the board says: who is to move, and who is not ready yet.
  function turn() {
    const agent = seat(app.shown);
    const side = named(app.shown.toMove);
    if (!agentsTurn()) {
      const wait = waitFor(sitting('red')) || waitFor(sitting('yellow'));
      return wait && `${side} to move · ${wait}`;
    }
    if (asked && !problem && waitFor(agent)) return `${side}: ${waitFor(agent)}`;
    return `${side} (${agentName(agent)}) ${asked && !problem ? 'is thinking…' : 'to move'}`;
  }

  const changed = () => {
    count();
    think();
    prepare();
    show();
    showHints();
  };
  const unsubscribe = [app.subscribe(changed), subscribe(prepare)];
  changed();
  return {
    unmount() {
      for (const end of unsubscribe) end();
      forget();
      hinting?.();
    },
    refuses: () =>
      agentsTurn() &&
      `It is ${named(app.shown.toMove)}'s turn (${agentName(seat(app.shown))}). ${advice()}`,
    status: turn,
  };
}
