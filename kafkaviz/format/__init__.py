"""The file formats. Each layout is declared once, next to the code that parses and builds it."""
