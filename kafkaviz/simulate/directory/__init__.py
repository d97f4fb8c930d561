"""Simulates whole logs with all their files, and writes them into a folder."""
