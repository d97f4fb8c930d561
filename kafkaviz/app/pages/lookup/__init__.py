"""What the Lookup page is made of: what is looked up in, as which release, for which target; the
lookup, and what is drawn around it.
"""
