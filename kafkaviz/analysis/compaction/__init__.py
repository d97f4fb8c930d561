"""Which compacted log the cleaner cleans next, what holds it back, and what a cleaning leaves."""
