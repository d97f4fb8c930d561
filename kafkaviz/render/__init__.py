"""What several outputs share: the terminal, the pages of the app, the report and JSON."""
