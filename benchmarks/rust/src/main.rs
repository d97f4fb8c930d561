//! read-log FILE RUNS: decodes every record batch of a .log with the crate kafka-protocol, which fails at a bad checksum.
//!
//! Prints batches, records, bytes of values and the processor's seconds of the shortest run; the file is in memory before the first.

use std::{env, fs};

use anyhow::{Context, Result};
use bytes::Bytes;
use cpu_time::ProcessTime;
use kafka_protocol::records::RecordBatchDecoder;

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().collect();
    let [_, file, runs] = arguments.as_slice() else {
        anyhow::bail!("read-log FILE RUNS")
    };
    let log = Bytes::from(fs::read(file).with_context(|| file.clone())?);
    let (mut counted, mut shortest) = ((0, 0, 0), f64::INFINITY);
    for _ in 0..runs.parse()? {
        let start = ProcessTime::now();
        counted = count(log.clone())?; // a clone shares the bytes
        shortest = shortest.min(start.elapsed().as_secs_f64());
    }
    let (batches, records, value_bytes) = counted;
    println!("{batches} {records} {value_bytes} {shortest}");
    Ok(())
}

/// Batches, records and bytes of values; a batch's records are dropped before the next, which is quicker than decode_all.
fn count(mut log: Bytes) -> Result<(usize, usize, usize)> {
    let (mut batches, mut records, mut value_bytes) = (0, 0, 0);
    while !log.is_empty() {
        let decoded = RecordBatchDecoder::decode(&mut log)?.records;
        batches += 1;
        records += decoded.len();
        value_bytes += decoded
            .iter()
            .filter_map(|record| record.value.as_ref())
            .map(Bytes::len)
            .sum::<usize>();
    }
    Ok((batches, records, value_bytes))
}
