"""The web app on Streamlit: the frame around every page, its server, and what pages consist of.

    pages/       a folder a page: page.py puts its sections in order, the files beside it draw them
    lessons/     the lessons of the Workshop, and what reads them
    widgets/  state/  cache/    what several pages draw, know and keep
    frontend/    what needs JavaScript, each by a function
    art/         the drawings

app.py and pages/ at the top of the checkout are what Streamlit runs; each calls its page.py here.
"""
