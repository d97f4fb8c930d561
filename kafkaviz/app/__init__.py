"""What the pages are made of: a room a page for its sections, and beside the rooms what several
pages share.

    broker/  segment/  lookup/  rolls/  page_cache/  tuning/  health/  explore/    each the sections
    of one page, in files
    lessons/     the Workshop: the lessons, what reads them, and the page
    components/  what needs JavaScript, each a Python door
    art/         the drawings

The modules here are shared: the frame, the pickers, the address, the cached doors, tables and
figures as all pages show them. A page in pages/, or app.py, puts its sections in order.
"""
