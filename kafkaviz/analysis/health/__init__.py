"""The health of a directory: all checks together, and the object of `--json`."""
