// Answers to exercises in a file that was taken home, judged as the app judges them.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeAnswer, wholeNumbers } from '../../../kafkaviz/app/frontend/src/answers.js';

const words = {
  right: 'Right',
  not_yet: 'Not yet',
  no_number: 'Give a whole number',
  two_numbers: 'Give {count} numbers',
  wrong_numbers: '{typed} is not it',
};

test('digits may be grouped', () => {
  assert.deepEqual(wholeNumbers('10,948 and 4\u202f179'), ['10948', '4179']);
});

test('a list of numbers is no grouping', () => {
  assert.deepEqual(wholeNumbers('1, 2 -3 007'), ['1', '2', '-3', '7']);
});

test('the right numbers in their order are right', () => {
  assert.equal(judgeAnswer('numbers', '10948 4179', ['10948', '4179'], words).ok, true);
  assert.equal(judgeAnswer('numbers', '4179 10948', ['10948', '4179'], words).ok, false);
});

test('too few numbers are asked for', () => {
  const { ok, text } = judgeAnswer('numbers', '10948', ['10948', '4179'], words);
  assert.deepEqual([ok, text], [false, 'Not yet. Give 2 numbers']);
});

test('a wrong number is said again', () => {
  assert.equal(judgeAnswer('numbers', '3', ['2'], words).text, 'Not yet. 3 is not it');
});

test('a choice is right by its word', () => {
  assert.equal(judgeAnswer('choice', 'yes', ['yes'], words).ok, true);
  assert.equal(judgeAnswer('choice', 'no', ['yes'], words).text, 'Not yet');
});
