"""Views of results, and the Plotly figures that draw them.

A view chooses the values to show, and tests compare them. A figure only draws the view. Most
modules have some of these functions:

    view()             returns the view of a result
    figure()           draws the view in a mode, "light" or "dark"
    question_figure()  draws the view without the answer
    rows()             returns the same data as a table
    describe()         returns the same data in words, for screen readers
    browser_payload()  returns the view as plain values, for a component that the browser draws
"""
