"""An interval: its curve, its verdict, its assumptions and limits."""
