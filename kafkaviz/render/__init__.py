"""The wording and the grouping that figures, pages, commands and the report share."""
