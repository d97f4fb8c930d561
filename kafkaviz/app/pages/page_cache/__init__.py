"""The Page cache page: page.py has its parts in order.

Each of the others is one of them, or its controls.
"""
