"""Files that readers of the Workshop take home; they need neither the app, a network nor Python.

    page_file.py    the parts of figures as one HTML file
    lesson_page.py  a lesson with its figures and questions
    handouts.py     the hand-outs of all lessons, for printing
    notebook.py     three lessons as a Jupyter notebook

`python -m kafkaviz.workshop.takeaway FOLDER` writes all of them.
"""
