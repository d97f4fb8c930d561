"""How many bytes larger batches or another codec would have saved, measured on a topic's records.

`advise` in advice.py is the entry point:

    topic = BatchingTopic(name="orders", windows=choose_windows(logs, 128 << 20), log_bytes=...)
    (answer,) = advise([topic], seconds=4)
    order(answer)                       # (("codec", 81_000_000), ("batches", 9_000_000))

Batch headers are read in whole windows of the log (batch_facts.py). Some of the records are
decompressed (record_sample.py). They are compressed again with each codec (packing.py). They are
also written as the batches that other values of linger.ms and batch.size would have given
(merging.py). No result contains a key or a value of a record.
"""
