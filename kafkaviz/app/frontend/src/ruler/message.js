// Parses the message of figures/segment/segment_ruler.py: eight bytes with the length of the JSON,
// the JSON with the sentences, then tables as columns of int64 for the requested slice.
export function parseMessage(sent) {
  const length = toNumber(new DataView(sent.buffer, sent.byteOffset, 8).getBigUint64(0, true)),
    body = sent.subarray(8 + length);
  const data = JSON.parse(new TextDecoder().decode(sent.subarray(8, 8 + length)));
  data.section = name => body.slice(...data.sections[name]);
  data.overview = data.section('overview');
  return data;
}

export function readTables(state) {
  const { slice: s, columns } = state.data,
    readTable = name => parseTable(state.data.section(name), columns[name]);
  const [rows, batchCount] = readTable('batch'),
    [slots, entryCount] = readTable('entry'),
    [times, timeCount] = readTable('time');
  // offsets stay BigInt, because a double is exact only up to 2^53
  const at = rel => BigInt.asIntN(64, state.base + rel);
  state.batches = list(batchCount, i => ({
    i: s.from_row + i,
    pos: toNumber(rows.position[i]),
    size: toNumber(rows.size_bytes[i]),
    first: at(rows.base_offset[i]),
    last: at(rows.last_offset[i]),
    ts: rows.max_timestamp_ms[i],
    n: toNumber(rows.record_count[i]),
    slot: toNumber(rows.slot[i]),
    via: toNumber(rows.via[i]),
    field: name => rows[name][i],
  }));
  state.entries = list(entryCount, i => ({
    slot: s.from_slot + i,
    key: at(slots.key[i]),
    pos: toNumber(slots.position[i]),
    batch: toNumber(slots.batch[i]),
    home: toNumber(slots.home[i]),
    homePos: toNumber(slots.home_position[i]),
    time: toNumber(slots.time[i]),
    aim: toNumber(slots.aim[i]),
  }));
  state.times = list(timeCount, i => ({
    slot: s.from_time + i,
    ts: times.timestamp[i],
    offset: at(times.offset[i]),
    entry: toNumber(times.slot[i]),
    batch: toNumber(times.batch[i]),
    pos: toNumber(times.batch_position[i]),
    true: toNumber(times.true[i]) === 1,
  }));
  state.batch = row => state.batches[row - s.from_row] ?? null;
  state.entry = slot => state.entries[slot - s.from_slot] ?? null;
  state.time = slot => (slot < 0 ? null : (state.times[slot - s.from_time] ?? null));
  state.alone = new Map(
    state.times.filter(t => t.entry < 0 && t.batch >= 0).map(t => [t.batch, t]),
  );
  Object.assign(state, {
    from: s.from_row,
    rows: s.rows,
    isComplete: s.to_row - s.from_row === s.rows,
    last: s.to_row === s.rows,
    end: state.data.end,
  });
  state.bytesFrom = state.from ? state.batches[0].pos : 0;
  state.bytesTo = state.last ? Infinity : state.batches.at(-1).pos + state.batches.at(-1).size;
}

/**
 * Columns of int64 that lie one after the other, by name, and how many rows they have.
 * @param {Uint8Array} bytes
 * @param {string[]} names
 * @returns {[Record<string, BigInt64Array>, number]}
 */
export function parseTable(bytes, names) {
  const all = new BigInt64Array(bytes.buffer),
    count = all.length / names.length;
  return [
    Object.fromEntries(names.map((name, i) => [name, all.subarray(i * count, (i + 1) * count)])),
    count,
  ];
}

const list = (count, make) => Array.from({ length: count }, (_, i) => make(i));

export const toNumber = Number;
