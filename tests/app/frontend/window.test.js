// The ruler's window: it stays on the axis, is never narrower than 240 bytes, and has the pin where it can.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MIN_WINDOW } from '../../../kafkaviz/app/frontend/src/ruler/constants.js';
import {
  centredWindow,
  clampedWindow,
  hasRoom,
  isLoaded,
  keepInView,
  slideWindow,
} from '../../../kafkaviz/app/frontend/src/ruler/window.js';

const ROUNDS = 2000;

// A generator of its own, so that a failure comes again: numbers from 0 to below 1.
function random(seed) {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

// A segment of batches that lie one after the other, sent as a whole.
function segment(next) {
  let position = 0;
  const batches = Array.from({ length: 1 + Math.floor(next() * 60) }, (_, i) => {
    const batch = { i, pos: position, size: 61 + Math.floor(next() ** 4 * 40_000) };
    position += batch.size;
    return batch;
  });
  const tail = next() < 0.3 ? Math.floor(next() * 5000) : 0;
  return {
    batches,
    isComplete: true,
    end: position,
    bytesFrom: 0,
    bytesTo: Infinity,
    window: null,
    pin: null,
    data: {
      size: position + tail,
      span: 4096,
      tail: tail > 0,
      lanes: { index: { slots: 8, written: next() < 0.5 ? 8 : 3, cut_bytes: 0 } },
    },
  };
}

test('a window around any batch shows it and stays on the axis', () => {
  const next = random(7);
  for (let round = 0; round < ROUNDS; round++) {
    const state = segment(next),
      batch = state.batches[Math.floor(next() * state.batches.length)],
      [from, to] = centredWindow(state, { batch });
    assert.ok(from >= 0 && to > from && from <= batch.pos, `${from}-${to} of ${batch.pos}`);
    assert.ok(to >= batch.pos + Math.min(batch.size, (to - from) / 2), `${to} of ${batch.size}`);
    assert.ok(isLoaded(state, [from, to]));
  }
});

test('a window that is asked for is at least as wide as can be read', () => {
  const next = random(11);
  for (let round = 0; round < ROUNDS; round++) {
    const state = segment(next),
      start = next() * state.end,
      [from, to] = clampedWindow(state, [start, start + next() * 100]);
    assert.ok(from >= 0);
    assert.ok(to - from >= Math.min(MIN_WINDOW, state.data.size) - 1e-6, `${to - from}`);
  }
});

test('a slid window keeps its width and stays at the edges', () => {
  const state = segment(random(13));
  state.window = [0, 100];
  assert.deepEqual(slideWindow(state, -50), [0, 100]);
  const [from, to] = slideWindow(state, Infinity);
  assert.equal(to - from, 100);
  assert.ok(to >= state.data.size);
});

test('a pin inside the window leaves it where it is; one outside moves it', () => {
  const state = segment(random(17));
  const first = state.batches[0];
  state.pin = { batch: first };
  state.window = [0, first.size + 10];
  keepInView(state);
  assert.deepEqual(state.window, [0, first.size + 10]);
  const last = state.batches.at(-1);
  state.pin = { batch: last };
  keepInView(state);
  assert.ok(
    state.window[0] <= last.pos && state.window[1] >= Math.min(last.pos + last.size, last.pos),
  );
});

test('an index with room for more entries, or a torn one, is open', () => {
  assert.equal(hasRoom({ slots: 8, written: 8, cut_bytes: 0 }), false);
  assert.equal(hasRoom({ slots: 9, written: 8, cut_bytes: 0 }), true);
  assert.equal(hasRoom({ slots: 8, written: 8, cut_bytes: 5 }), true);
});
