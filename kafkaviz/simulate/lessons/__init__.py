"""Logs made to be looked at: small ones that grow step by step, and indexes of any size for the
searches.
"""
