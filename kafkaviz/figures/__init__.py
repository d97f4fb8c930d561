"""Floor 8: a view of a result, and the Plotly figure of that view.

Views choose and are tested value by value; figures only draw.
"""
