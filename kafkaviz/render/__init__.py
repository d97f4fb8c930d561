"""The wording that figures, pages, commands and the report share."""
