// Small helpers for elements, and the picker of an agent.

import { get } from './api.js';
import { about as inAbout, boardOf, secondsUntil, subscribe } from './ready.js';

// h('button', {class: 'primary', onclick: f, disabled: true}, 'Text') makes an element; false and
// null leave an attribute or child out.
export const h = (tag, attributes = {}, ...children) =>
  filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes = {}, ...children) =>
  filled(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value != null && value !== false)
      element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat().filter((child) => child != null && child !== false));
  return element;
}

// A disc as a small picture beside its name; the pattern tells the sides apart without colour.
export const disc = (side) => h('span', { class: `disc ${side}`, 'aria-hidden': 'true' });

export function toggle(label, on, change) {
  const button = h(
    'button',
    { type: 'button', role: 'switch', class: 'switch', 'aria-checked': String(on) },
    h('span', {}),
    label,
  );
  button.addEventListener('click', () => {
    const now = button.getAttribute('aria-checked') !== 'true';
    button.setAttribute('aria-checked', String(now));
    change(now);
  });
  return button;
}

const styles = {};

// A style sheet that is not needed at first, fetched once.
function style(name) {
  styles[name] ??= new Promise((done, failed) => {
    const forget = () => {
      delete styles[name];
      link.remove();
      failed();
    };
    const link = h('link', {
      rel: 'stylesheet',
      href: `static/${name}.css`,
      onload: done,
      onerror: forget,
    });
    document.head.append(link);
  });
  return styles[name];
}

// A module that is not needed at first, with its style sheets.
export async function load(name, ...sheets) {
  try {
    const [module] = await Promise.all([import(`./${name}.js`), ...sheets.map(style)]);
    return module;
  } catch {
    throw new Error('The server does not answer. Is it still running?');
  }
}

// A value from -1 to +1 as an expected score.
export const percent = (value) => `${Math.round(50 * (value + 1))} %`;

export const reduced = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

const listed = {};

// The answer of GET /agents for the board on the page, requested once. The options of all agents
// are long, so they are requested only when they are needed.
export function agents(options = false) {
  const board = options ? null : boardOf();
  const key = `${options} ${board}`;
  listed[key] ??= get('agents', { options, board }).catch((error) => {
    delete listed[key];
    throw error;
  });
  return listed[key];
}

// An agent's name for people: "level 3" or the spec itself.
export const agentName = (agent) =>
  agent === 'human' ? 'human' : agent.replace(/^level:/, 'level ');

let pickers = 0;

// A labelled choice of an agent: human (if allowed), the levels, every agent; a spec can be typed
// below the list. Options: label, value, human (offer a person), adaptive() -> a description (offer
// the level that follows a person's results), levels (offer the levels), filter(agent) -> whether
// to list it, refuse(agent) -> why it cannot be chosen, change(value).
// The element has a property `value` that can be read and set.
export function agentPicker({
  label,
  value,
  human = false,
  adaptive = null,
  levels = true,
  filter = () => true,
  refuse = () => '',
  change,
}) {
  const id = `agent-${++pickers}`;
  const select = h('select', { id });
  const about = h('p', { class: 'note', id: `${id}-about` });
  const spec = h('input', {
    maxlength: 300,
    spellcheck: 'false',
    autocomplete: 'off',
    'aria-label': 'Agent with its options',
    'aria-describedby': about.id,
  });
  const picker = h('div', { class: 'picker' }, h('label', { for: id }, label), select, spec, about);
  let form = null; // of the agent's options, once these are known
  let formSpec = ''; // what the form shows
  let isOpen = false;
  let offered = { levels: [], agents: [] };
  let board = null; // for which the levels are described

  const option = (agent, text, reason = '') =>
    h('option', { value: agent, disabled: !!reason }, reason ? `${text} (${reason})` : text);
  const group = (text, options) => options.length > 0 && h('optgroup', { label: text }, options);

  function show() {
    const name = value.split(':')[0];
    const isPlain = name === 'level' || value === 'human' || value === 'adaptive';
    const choice = isPlain ? value : name;
    const shown = offered.agents.filter(filter);
    const of = (kind) =>
      shown
        .filter((agent) => agent.group === kind)
        .map((agent) => option(agent.name, agent.name, refuse(agent)));
    select.replaceChildren(
      ...[
        human && option('human', 'You (a person)'),
        adaptive && option('adaptive', 'Adaptive'),
        levels &&
          group(
            'Levels',
            offered.levels.map((level) => option(level.agent, `${level.level} · ${level.name}`)),
          ),
        group('Agents', of('agents')),
        group('Of the reports', of('documents')),
        group('Your own', of('own')),
      ].filter(Boolean),
    );
    if (![...select.options].some((item) => item.value === choice))
      select.append(option(choice, agentName(choice)));
    select.value = choice;
    spec.hidden = isPlain;
    spec.value = value;
    showReady();
    if (formSpec !== value) {
      form?.remove();
      form = null;
    }
    const level = offered.levels.find(({ agent }) => agent === value);
    if (adaptive && value === 'adaptive') describe(adaptive());
    else describe(level ? [level.about, level.strength].filter(Boolean).join('; ') : '');
    if (offered.agents.some((agent) => agent.name === name)) describeAgent(name).catch(() => {});
  }

  // Show behind an agent that is not ready when it will be.
  function showReady() {
    for (const item of select.options) {
      const seconds = secondsUntil(item.value);
      item.dataset.text ??= item.text;
      const text = `${item.dataset.text}${seconds ? ` (in ${inAbout(seconds)})` : ''}`;
      if (item.text !== text) item.text = text;
    }
  }

  function describe(text) {
    about.textContent = text;
    about.hidden = !text;
  }

  async function describeAgent(name) {
    const { agents: all } = await agents(true);
    const agent = all.find((candidate) => candidate.name === name);
    const { optionsForm } = await load('options');
    if (value.split(':')[0] !== name) return; // another was chosen meanwhile
    describe(agent.about);
    if (form || agent.options.length === 0) return;
    formSpec = value;
    form = optionsForm(agent, value, (changed) => choose((formSpec = changed)));
    form.open = isOpen;
    form.addEventListener('toggle', (event) => (isOpen = event.target.open));
    picker.append(form);
  }

  function choose(chosen) {
    if (!chosen || chosen === value) return show();
    value = chosen;
    show();
    change?.(value);
  }

  select.addEventListener('change', () => choose(select.value));
  spec.addEventListener('change', () => choose(spec.value.trim()));
  Object.defineProperty(picker, 'value', {
    get: () => value,
    set(chosen) {
      if (board !== boardOf()) request();
      if (chosen !== value) {
        value = chosen;
        show();
      } else if (adaptive && value === 'adaptive') describe(adaptive());
    },
  });
  show();
  const unsubscribe = subscribe(() => (picker.isConnected ? showReady() : unsubscribe()));
  function request() {
    const asked = (board = boardOf());
    agents().then(
      (answer) => {
        if (asked !== board) return; // another board was set up meanwhile
        offered = answer;
        show();
      },
      () => {},
    );
  }
  request();
  return picker;
}
