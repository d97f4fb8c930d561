"""Why a timestamp gave an offset, and what a lookup reads."""
