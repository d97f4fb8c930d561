"""Files that readers of the Workshop take home. All but the notebook need only a browser.

    page_file.py    an HTML file made of the parts of figures
    lesson_page.py  a lesson with its figures and questions
    handouts.py     the hand-outs of all lessons, for printing
    notebook.py     three lessons as a Jupyter notebook

`python -m kafkaviz.workshop.takeaway FOLDER` writes all of them.
"""
