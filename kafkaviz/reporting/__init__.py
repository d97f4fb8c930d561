"""Parts of the self-contained report: what is gathered for it, a module for each of its sections,
its stylesheet and its script.
"""
