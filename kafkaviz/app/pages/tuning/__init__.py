"""What the Tuning page is made of: what is tuned and how it is measured, the answer by budgets, and
a file for each of its sections.
"""
