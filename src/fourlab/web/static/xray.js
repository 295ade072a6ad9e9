// X-ray: what a tree search sees while it thinks: bars, convergence curves, and at the end its tree, node by node.

import {get, stream} from './api.js';
import {bar, lineChart, short, table} from './chart.js';
import {agentPicker, h} from './ui.js';

const DEFAULT_SECONDS = 5;

export function mount(root, app) {
  let close = null; // ends the stream that is running
  let trace = []; // the root of the search after some simulations, oldest first
  let position = key();

  const picker = agentPicker({label: 'Agent', value: app.settings.get('xray', 'mcts'), only: agent => agent.xray, onChange: agent => app.settings.set('xray', agent)});
  const seconds = h('input', {id: 'xray-seconds', type: 'number', min: 0.1, max: 30, step: 'any', value: DEFAULT_SECONDS});
  const simulations = h('input', {id: 'xray-simulations', type: 'number', min: 1, step: 1, placeholder: 'no bound'});
  const start = h('button', {class: 'primary', type: 'submit'}, 'Start');
  const stop = h('button', {type: 'button', disabled: true, onclick: () => finish('Stopped.')}, 'Stop');
  const status = h('p', {role: 'status'});
  const bars = h('div', {class: 'bars'});
  const values = lineChart({title: 'Value of each column', x: {label: 'simulations', log: true}, y: {label: 'value', min: -1, max: 1, text: signed}});
  const visits = lineChart({title: 'Visits to each column', x: {label: 'simulations', log: true}, y: {label: 'visits', log: true}});
  const curves = h('div', {class: 'curves', hidden: true}, values.element, visits.element);
  const grown = h('div', {class: 'grown'});

  root.append(
    h('h2', {}, 'Search X-ray'),
    h('p', {class: 'soft'}, 'Watch a tree search make up its mind about the position on the board.'),
    h('form', {class: 'controls', onsubmit: begin},
      picker.element,
      h('div', {class: 'field'}, h('label', {for: 'xray-seconds'}, 'Seconds at most'), seconds),
      h('div', {class: 'field'}, h('label', {for: 'xray-simulations'}, 'Simulations at most'), simulations),
      h('div', {class: 'buttons'}, start, stop)),
    status, bars, curves, grown);
}
