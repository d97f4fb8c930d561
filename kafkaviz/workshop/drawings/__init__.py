"""The views and drawings that only lessons show; those that pages show too are in figures/."""
