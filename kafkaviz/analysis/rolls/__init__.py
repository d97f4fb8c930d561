"""Why and when segments roll."""
