"""The cost of a lookup: index probes, memory pages, batch headers, device reads, and their time.

An index search lists its own probes and pages (SlotSearch.probes and SlotSearch.pages in
search/binary_search.py). page_replay.py counts the pages that have left the page cache,
cold_reads.py the device reads of the .log, and remote_reads.py the requests to tiered storage.
cost_model.py turns counts into times, and calibration.py measures times on this machine.
"""
