"""The Spark data source: its schema, its plan, its rows."""
