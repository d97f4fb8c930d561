"""The documents of kafkaviz, and the scripts that make them. reference.py writes commands.md and
the tables of data-source.md; screenshots.py takes the pictures of tour.md.
"""
