"""Figures for index.interval.bytes: cost curves, verdict, assumptions and limits."""
