"""All targets. Those that open files are slower and have a small share."""

from tests.fuzz.commanded import COMMANDED
from tests.fuzz.directories import ON_DISK
from tests.fuzz.documents import WRITTEN_BY_PEOPLE
from tests.fuzz.targets import IN_MEMORY

TARGETS = (*IN_MEMORY, *WRITTEN_BY_PEOPLE, *ON_DISK, *COMMANDED)
