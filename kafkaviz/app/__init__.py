"""The Streamlit web app: the server, the pages, and the parts that pages are made of.

    pages/       one module per page; NAME_*.py draw the parts of a large page
    widgets/     what several pages draw
    state/       the address, the session, and background jobs
    cache/       results that are kept between reruns
    frontend/    the components that need JavaScript, one function each
    art/         the drawings
    registry.py  the list of pages; other packages add theirs, as kafkaviz.workshop does

Streamlit runs the scripts app.py and pages/*.py at the top of the checkout.
"""
