"""What of one segment a recovery keeps, and the indexes, transactions and producers it builds of
that.
"""
