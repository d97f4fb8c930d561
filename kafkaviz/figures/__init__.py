"""Floor 8: a view of a result, and the Plotly figure of that view.

A view chooses the values to show, and tests compare them. A figure only draws the view.
"""
