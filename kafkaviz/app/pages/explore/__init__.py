"""What the Explore page consists of.

The questions, the query and its field, the queries of this server, an answer, the catalog's tables.
"""
