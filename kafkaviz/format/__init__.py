"""The file formats: the layout of each is declared once, with code to parse and build it."""
