"""What the Page cache page is made of: its settings, the replays of a growing index, and a file for
each of its other sections.
"""
