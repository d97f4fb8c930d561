"""The text that commands print: checks, comparisons, lookups, simulations and tunings."""
