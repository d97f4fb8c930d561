"""What the Health page consists of.

Its head and the release it judges by, a checkup under way, what it found, and the indexes anew.
"""
