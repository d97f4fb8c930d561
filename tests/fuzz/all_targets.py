"""All targets: those in memory, and those that open files, which are slower and so have a small share."""

from tests.fuzz.directories import ON_DISK
from tests.fuzz.targets import IN_MEMORY

TARGETS = (*IN_MEMORY, *ON_DISK)
