"""The Workshop page: the strip of lessons, one step with figures and questions, the hand-out.

The lesson files, their parser and their figures are in kafkaviz/workshop/lessons/.
"""
