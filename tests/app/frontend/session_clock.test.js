// The clock of a session: minutes and seconds, and how far they are from the plan.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockText, planText } from '../../../kafkaviz/app/frontend/src/session_clock.js';

const WORDS = { on_time: 'on time', behind: '{minutes} behind', ahead: '{minutes} ahead' };

test('minutes and seconds', () => {
  assert.equal(clockText(0), '0:00');
  assert.equal(clockText(9.5), '9:30');
  assert.equal(clockText(75.1), '75:06');
});

test('within a minute of its step it is on time', () => {
  assert.equal(planText(WORDS, 13, 13.5, 15), 'on time');
  assert.equal(planText(WORDS, 15.9, 13.5, 15), 'on time');
});

test('a minute before its step it is ahead, a minute behind it late', () => {
  assert.equal(planText(WORDS, 10, 13.5, 15), '3 ahead');
  assert.equal(planText(WORDS, 18.2, 13.5, 15), '3 behind');
});
