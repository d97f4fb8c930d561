"""The Explore page: ready-made questions, the query editor, its answer, and the tables."""
