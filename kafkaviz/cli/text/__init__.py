"""The printed text of commands: checks, comparisons, lookups, simulations and tunings."""
