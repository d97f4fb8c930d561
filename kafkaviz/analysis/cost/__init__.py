"""The cost of a lookup: index probes, memory pages, batch headers, device reads, and their time."""
