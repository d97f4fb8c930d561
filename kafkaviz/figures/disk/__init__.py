"""Views and figures of the Disk page."""
