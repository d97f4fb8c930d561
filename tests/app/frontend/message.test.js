// What Python packs for the ruler, read as the browser reads it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseMessage, parseTable } from '../../../kafkaviz/app/frontend/src/ruler/message.js';

test('columns lie one after the other', () => {
  const bytes = new Uint8Array(new BigInt64Array([1n, 2n, -1n, 2n ** 62n]).buffer);
  const [columns, count] = parseTable(bytes, ['offset', 'position']);
  assert.equal(count, 2);
  assert.deepEqual([...columns.offset], [1n, 2n]);
  assert.deepEqual([...columns.position], [-1n, 2n ** 62n]);
});

test('a table without rows has its columns', () => {
  const [columns, count] = parseTable(new Uint8Array(0), ['offset']);
  assert.equal(count, 0);
  assert.equal(columns.offset.length, 0);
});

test('the JSON comes first, behind its length', () => {
  const text = new TextEncoder().encode(
    '{"sections":{"overview":[0,3],"batch":[8,16]}}'.padEnd(48),
  );
  const message = new Uint8Array(8 + text.length + 16);
  new DataView(message.buffer).setBigUint64(0, BigInt(text.length), true);
  message.set(text, 8);
  message.set([5, 6, 7], 8 + text.length);
  message.set([9], 8 + text.length + 8);
  // as it comes from the server: a view into a larger buffer
  const buffer = new Uint8Array(message.length + 8);
  buffer.set(message, 8);
  const data = parseMessage(buffer.subarray(8));
  assert.deepEqual([...data.overview], [5, 6, 7]);
  assert.deepEqual([...new BigInt64Array(data.section('batch').buffer)], [9n]);
});
