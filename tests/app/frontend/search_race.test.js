// The race: which pages a search waits for, its times in µs, and when each moment is shown.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coldReads, formatTime } from '../../../kafkaviz/app/frontend/src/page_strip.js';
import { momentsOf, probeTimes, stateAt } from '../../../kafkaviz/app/frontend/src/search_race.js';

const plain = [
    [0.1, 0.1, 0.114],
    [0.114, 100.114, 100.128],
  ],
  warm = [
    [0.1, 0.1, 0.114],
    [0.114, 0.114, 0.128],
  ],
  near = (times, expected) =>
    assert.deepEqual(
      times.map(t => t.map(us => Number(us.toFixed(3)))),
      expected,
    );

test('the first probe of a cold page waits for it', () => {
  const steps = [{ cells: [0] }, { cells: [1] }, { cells: [1, 2] }];
  assert.deepEqual(coldReads(steps, [true, false, false]), [[], [1], [2]]);
  assert.deepEqual(coldReads(steps, [true, true, true]), [[], [], []]);
});

test('each wait takes one read of the disk', () => {
  const model = { search_us: 0.1, probe_us: 0.014 };
  near(probeTimes([[], [7]], model, 100), plain);
  near(probeTimes([[], []], model, 100), warm);
});

test('each moment of either search is one of the clock', () => {
  assert.deepEqual(momentsOf([plain, warm], 100).moments, [0, 0.1, 0.114, 0.128, 100.114, 100.128]);
});

test('a read takes longer on the screen than a probe, and probes alike', () => {
  const { moments, screenMs } = momentsOf([plain, warm], 100),
    took = moments.map((_, i) => screenMs[i] - screenMs[i - 1]).slice(1);
  assert.equal(took[0], took[1]);
  assert.ok(took[3] > 5 * took[1]);
});

test('one search waits while the other is done', () => {
  assert.deepEqual(stateAt(warm, 50), { done: 2, waits: false, loaded: 0 });
  const { done, waits, loaded } = stateAt(plain, 50.114);
  assert.deepEqual([done, waits, loaded.toFixed(3)], [1, true, '0.500']);
});

test('a page is there once it is read', () => {
  assert.deepEqual(stateAt(plain, 100.114), { done: 1, waits: false, loaded: 0 });
  assert.equal(stateAt(plain, 100.128).done, 2);
});

test('times have three digits', () => {
  const texts = [0.268, 99.96, 999.4, 999.6, 24_000.2, 1_200_000].map(formatTime);
  assert.deepEqual(texts, ['0.27 µs', '100 µs', '999 µs', '1.00 ms', '24.0 ms', '1.20 s']);
});
