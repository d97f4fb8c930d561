"""The log cleaner: which log it cleans next, what delays a cleaning, and what a cleaning leaves."""
