"""Recommends an index.interval.bytes for a log: keep it or change it.

The largest interval within the user's limits is recommended, because it gives the smallest index.
The gain is estimated as a range. A change is proposed only if even the low end of the range is
worth it. Most logs keep their interval. For example, at interval 4096:

- Batches of 16 KB: every batch is indexed already, and no smaller interval changes the index.
- Batches of 97 B: the p99 lookup reads 44 headers. Interval 2048 would save less than 50 µs.
"""
