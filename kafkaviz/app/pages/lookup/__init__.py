"""The Lookup page: the controls, the steps of one lookup, and the figures around them."""
