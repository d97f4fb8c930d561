"""The health of a directory: all its checks together, and the objects of --json."""
