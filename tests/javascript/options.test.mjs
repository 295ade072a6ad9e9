// Specs as texts, and options under the names of earlier versions.

import assert from 'node:assert/strict';
import test from 'node:test';

import { parseSpec, withCurrentNames, writeSpec } from '../../src/fourlab/web/static/options.js';

test('a spec is read and written', () => {
  const { name, given } = parseSpec('engine:cmd="a b, c",seconds=2');
  assert.equal(name, 'engine');
  assert.deepEqual(Object.fromEntries(given), { cmd: 'a b, c', seconds: '2' });
  assert.equal(writeSpec(name, given), 'engine:cmd="a b, c",seconds=2');
});

test('old names become current ones, in their places', () => {
  const options = [
    { name: 'proofs', aliases: ['solver'] },
    { name: 'ties', aliases: ['tie', 'choice'] },
    { name: 'c', aliases: [] },
  ];
  const { name, given } = parseSpec('mcts:solver=0,c=2,choice=last,unknown=1');
  const current = withCurrentNames(given, options);
  assert.equal(writeSpec(name, current), 'mcts:proofs=0,c=2,ties=last,unknown=1');
});
