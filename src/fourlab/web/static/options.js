// The options of an agent as a form, made from what GET /agents says of them, and specs as texts.

import { h } from './ui.js';

// Sticky (y): every match begins where the last one ended, so nothing between options is skipped.
const OPTION = /\s*(\w+)\s*=\s*(?:"([^"]*)"|([^,"]*))\s*(?:,|$)/y;

// 'mcts:c=2,scale=wins' as {name, given}; what cannot be read is left out, the server says why.
export function parseSpec(spec) {
  const [name, ...rest] = spec.split(':');
  const given = new Map();
  OPTION.lastIndex = 0;
  for (let match; (match = OPTION.exec(rest.join(':'))) && match[0];)
    given.set(match[1], match[2] ?? match[3].trim());
  return { name: name.trim(), given };
}

export function writeSpec(name, given) {
  const quoted = (text) => (/[",\s]/.test(text) ? `"${text}"` : text);
  const options = [...given].map(([option, text]) => `${option}=${quoted(text)}`);
  return options.length > 0 ? `${name}:${options.join(',')}` : name;
}

// The given options under their current names: saved addresses may have older ones.
export function withCurrentNames(given, options) {
  const pairs = options.flatMap(({ name, aliases }) => aliases.map((old) => [old, name]));
  const current = new Map(pairs);
  return new Map([...given].map(([name, text]) => [current.get(name) ?? name, text]));
}

// A form of the agent's options, filled in from the spec; change(spec) is called for every valid
// change.
export function optionsForm(agent, spec, change) {
  const { name, given: written } = parseSpec(spec);
  const given = withCurrentNames(written, agent.options);
  const rows = agent.options.map((option) => {
    const control = controlOf(option, given.get(option.name));
    control.id = `option-${++made}`;
    const help = h('small', { id: `${control.id}-help` }, option.about);
    control.setAttribute('aria-describedby', help.id);
    control.addEventListener('change', () => {
      if (!control.reportValidity()) return;
      const text = textOf(control);
      if (text === '' || text === asText(option.default)) given.delete(option.name);
      else given.set(option.name, text);
      change(writeSpec(name, given));
    });
    const unit = option.unit && option.unit !== option.name ? ` (${option.unit})` : '';
    return h(
      'div',
      { class: 'option' },
      h('label', { for: control.id }, `${option.name}${unit}`),
      control,
      help,
    );
  });
  return h('details', { class: 'options' }, h('summary', {}, 'Options'), rows);
}

let made = 0;

// A value as it is written in a spec.
const asText = (value) => (value === null ? 'none' : String(value));

const textOf = (control) =>
  control.type === 'checkbox' ? String(control.checked) : control.value.trim();

function controlOf({ name, default: usual, json_schema: schema }, text) {
  const types = [schema.type].flat();
  if (schema.enum) {
    const choices = schema.enum.map((value) =>
      h('option', { value: asText(value) }, asText(value)),
    );
    const select = h('select', { name }, choices);
    select.value = text ?? asText(usual);
    return select;
  }
  if (types.includes('boolean')) {
    const on = text === undefined ? usual : ['1', 'true', 'yes'].includes(text.toLowerCase());
    return h('input', { name, type: 'checkbox', checked: on });
  }
  const value = text ?? (usual === null ? '' : asText(usual));
  if (!types.includes('integer') && !types.includes('number')) return h('input', { name, value });
  return h('input', {
    name,
    type: 'number',
    value: value === 'none' ? '' : value,
    min: schema.minimum ?? schema.exclusiveMinimum,
    max: schema.maximum,
    step: types.includes('integer') ? 1 : 'any',
    placeholder: usual === null ? 'none' : asText(usual),
  });
}
