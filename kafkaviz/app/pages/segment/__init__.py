"""What the Segment page is made of: its head, the pin, the tabs that follow it, the bytes of any
file, what stands there without a log.
"""
