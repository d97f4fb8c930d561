// The browser's history: a change of page is one step, and choices that come together are one.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import oneStep from '../../../kafkaviz/app/frontend/src/one_step.js';

const ORIGIN = 'http://127.0.0.1:8501';
let entries, clock;

// A history of addresses, as a browser keeps them.
beforeEach(() => {
  entries = [`${ORIGIN}/lookup?dir=a`];
  clock = 0;
  const history = {
    state: null,
    pushState: (_state, _title, to) => entries.push(new URL(to, entries.at(-1)).href),
    replaceState: (_state, _title, to) => entries.splice(-1, 1, new URL(to, entries.at(-1)).href),
  };
  Object.defineProperty(globalThis, 'location', {
    configurable: true,
    get: () => new URL(entries.at(-1)),
  });
  Object.assign(globalThis, { window: {}, history });
  performance.now = () => clock;
  oneStep({ data: { query: 'dir=a' } });
});

const push = to => history.pushState(null, '', to);

test('a change of page in two steps is one', () => {
  push('/lookup?dir=a&tp=orders-0'); // first the page that is left gets the parameters of the other
  push('/segment?dir=a&tp=orders-0');
  assert.deepEqual(entries, [`${ORIGIN}/lookup?dir=a`, `${ORIGIN}/segment?dir=a&tp=orders-0`]);
});

test('a page that was drawn at the address between stays a step of its own', () => {
  push('/lookup?dir=a&tp=orders-0');
  oneStep({ data: { query: 'dir=a&tp=orders-0' } });
  push('/segment?dir=a&tp=orders-0');
  assert.equal(entries.length, 3);
});

test('parameters that change together are one step, later ones another', () => {
  push('/lookup?dir=b');
  clock = 100;
  push('/lookup?dir=b&offset=7');
  assert.deepEqual(entries, [`${ORIGIN}/lookup?dir=a`, `${ORIGIN}/lookup?dir=b&offset=7`]);
  clock = 1000;
  push('/lookup?dir=b&offset=8');
  assert.equal(entries.length, 3);
});

test('another language is no step, and keeps what the browser wrote itself', () => {
  history.replaceState(null, '', '/lookup?dir=a&step=4');
  push('/lookup?dir=a&lang=zh');
  assert.deepEqual(entries, [`${ORIGIN}/lookup?dir=a&step=4&lang=zh`]);
});
