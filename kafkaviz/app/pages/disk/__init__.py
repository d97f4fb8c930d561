"""The Disk page, with a module for each of its tabs."""
