"""The Streamlit web app: its server, the frame around every page, and the parts pages are made of.

    pages/       one folder per page: page.py orders its sections, the other files draw them
    widgets/  state/  cache/    what several pages draw, remember and keep between reruns
    frontend/    the components that need JavaScript, one function each
    art/         the drawings
    registry.py  the pages; other packages add theirs, as kafkaviz.workshop does

Streamlit runs app.py and pages/ at the top of the checkout. Each of them adds the Workshop and
calls its page.py.
"""
