"""The Tuning page: what is tuned, the answer under its budgets, and what follows from it."""
