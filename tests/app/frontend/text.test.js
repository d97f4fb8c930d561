// Numbers and sentences. The same numbers in Python: see tests/app/test_scripts.py.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countText,
  fillTemplate,
  groupDigits,
  pluralText,
  scale,
  textWidth,
} from '../../../kafkaviz/app/frontend/src/text.js';

test('digits stand in threes, of a BigInt too', () => {
  assert.equal(groupDigits(0), '0');
  assert.equal(groupDigits(999), '999');
  assert.equal(groupDigits(1000), '1\u202f000');
  assert.equal(
    groupDigits(9223372036854775807n),
    '9\u202f223\u202f372\u202f036\u202f854\u202f775\u202f807',
  );
  assert.equal(groupDigits(-1234), '-1\u202f234');
});

test('a value that is missing leaves nothing behind', () => {
  assert.equal(fillTemplate('slot {slot} of {n}', { slot: 3 }), 'slot 3 of ');
  assert.equal(fillTemplate('{n}{n}', { n: 0 }), '00');
  assert.equal(fillTemplate('no braces'), 'no braces');
});

test('one thing has a text of its own where the language has one', () => {
  const words = { pages: '{n} pages', pages_1: '{n} page', probes: '{n} 次' };
  assert.equal(countText(words, 'pages', 1), '1 page');
  assert.equal(countText(words, 'pages', 2000), '2\u202f000 pages');
  assert.equal(countText(words, 'probes', 1), '1 次');
  assert.equal(pluralText(words, 'pages', 1), '{n} page');
  assert.equal(pluralText(words, 'pages', 0), '{n} pages');
});

test('a scale maps both ends, and what is beyond them', () => {
  const x = scale(10, 20, 0, 500);
  assert.deepEqual([10, 15, 20, 30].map(x), [0, 250, 500, 1000]);
});

test('a Chinese character is twice as wide as a letter', () => {
  assert.equal(textWidth(''), 0);
  assert.equal(textWidth('查找'), 24);
  assert.ok(textWidth('ab') < textWidth('查'));
});
