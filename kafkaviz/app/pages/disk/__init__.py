"""The Disk page, with one module per tab."""
