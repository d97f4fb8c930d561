"""What to read about kafkaviz; two modules here keep pages as the code has them.

reference.py writes commands.md and the tables of data-source.md; screenshots.py takes the pictures
of tour.md.
"""
