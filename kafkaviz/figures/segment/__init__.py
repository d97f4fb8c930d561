"""Figures of one segment: its ruler, its bytes, its tables, its transactions, a fetch."""
