"""Floor 6: what a log costs, what its settings were, what is wrong.

On values, never on files by itself.
"""
