"""Recommends an index.interval.bytes for a log: keep it or change it.

The largest interval that meets every budget for lookups is recommended, because it gives the
smallest index. Every number has an error range. A change is proposed only if even the low end of
the gain makes it worthwhile. Most logs should keep their interval. For example, at interval 4096:

- Batches of 16 KB: every batch is indexed already. Keep the interval, because no smaller one would
  change the index.
- Batches of 97 B: the p99 lookup reads 44 headers, which may exceed 50 µs. Keep the interval,
  because 2048 would halve the headers but save less than 50 µs.
"""
