"""Each file format, declared once: its layout, and how to parse and build it."""
