"""What the Segment page consists of.

Its head and the pin, the tabs that follow it, the bytes of any file; `page` puts them together, and
says what is missing where there is no log.
"""
