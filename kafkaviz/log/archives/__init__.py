"""Packed broker directories, unpacked once within a budget."""
