"""A class: its rooms, seats and answers, its feed, and what teacher and learners see of it."""
