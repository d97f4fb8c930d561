"""What a lookup costs: probes, pages, headers and device reads, and their costs."""
