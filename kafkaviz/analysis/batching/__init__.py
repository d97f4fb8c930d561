"""Measures how many bytes larger batches or another codec would save in a topic's log.

    topic = BatchingTopic(name="orders", windows=choose_windows(logs, 128 << 20), log_bytes=...)
    (answer,) = advise([topic], seconds=4)
    rank_changes(answer)                # (("codec", 81_000_000), ("batches", 9_000_000))

1. batch_facts.py reads all batch headers in some windows. A window is a contiguous part of a log.
2. record_sample.py decompresses some records of these windows.
3. packing.py compresses these records with each codec.
4. merging.py writes these records in batches for other values of linger.ms and batch.size.

No result contains a key or a value of a record.
"""
