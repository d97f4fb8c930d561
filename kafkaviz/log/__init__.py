"""Reads files on disk. They are opened read-only, and only while they are read."""
