"""Packed broker directories (.tar, .tar.gz, .zip), unpacked once."""
