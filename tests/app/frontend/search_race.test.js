// The clock of the race: moments in µs, and when each is shown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatTime, schedule, standing } from '../../../kafkaviz/app/frontend/src/search_race.js';

const plain = [
    [0.1, 0.1, 0.114],
    [0.114, 100.114, 100.128],
  ],
  warm = [
    [0.1, 0.1, 0.114],
    [0.114, 0.114, 0.128],
  ];

test('each moment of either search is one of the clock', () => {
  assert.deepEqual(schedule([plain, warm], 100).moments, [0, 0.1, 0.114, 0.128, 100.114, 100.128]);
});

test('a read takes longer on the screen than a probe, and probes alike', () => {
  const { moments, screenMs } = schedule([plain, warm], 100),
    took = moments.map((_, i) => screenMs[i] - screenMs[i - 1]).slice(1);
  assert.equal(took[0], took[1]);
  assert.ok(took[3] > 5 * took[1]);
});

test('one search waits while the other is done', () => {
  assert.deepEqual(standing(warm, 50), { done: 2, waits: false, loaded: 0 });
  const { done, waits, loaded } = standing(plain, 50.114);
  assert.deepEqual([done, waits, loaded.toFixed(3)], [1, true, '0.500']);
});

test('a page is there once it is read', () => {
  assert.deepEqual(standing(plain, 100.114), { done: 1, waits: false, loaded: 0 });
  assert.equal(standing(plain, 100.128).done, 2);
});

test('times are written as Python writes them', () => {
  const texts = [0.268, 99.96, 999.4, 999.6, 24_000.2, 1_200_000].map(formatTime);
  assert.deepEqual(texts, ['0.27 µs', '100 µs', '999 µs', '1.00 ms', '24.0 ms', '1.20 s']);
});
