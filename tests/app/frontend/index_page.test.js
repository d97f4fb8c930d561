import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chosenMode } from '../../../kafkaviz/app/frontend/src/index_page.js';

test('the mode of a theme is that of its name, as a word or in an object', () => {
  assert.equal(chosenMode('"Dark"'), 'dark');
  assert.equal(chosenMode('{"name":"Light theme"}'), 'light');
  for (const none of [null, undefined, '', '"System"', '"Darkness"', 'null'])
    assert.equal(chosenMode(none), '');
});
