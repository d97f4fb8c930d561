"""The Spark data source: its schema, its plan and its rows."""
