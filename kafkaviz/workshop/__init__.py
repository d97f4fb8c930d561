"""The Workshop: lessons about what the app shows, for one reader or for a class.

    lessons/     the lessons, their grammar, exercises and glossary
    figures/     the figures of lessons, one per kind of block
    drawings/    the views that only lessons draw
    lab/         the lab at the end of a lesson, where a copy of a log is damaged
    classroom/   a class: its rooms, seats and answers
    takeaway/    the same as files that need no app
    page/        the page that shows all this

The app does not import the Workshop.
"""
