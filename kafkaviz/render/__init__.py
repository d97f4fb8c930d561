"""The rules that several outputs share: the terminal, the pages of the app, and the report."""
