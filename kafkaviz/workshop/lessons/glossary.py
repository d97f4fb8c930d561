"""The glossary, and the entries that the Workshop adds to Go to.

A word has a meaning, a page that shows it, and a lesson that teaches it.

The table below holds the parts that are the same in every language. The messages in the file
glossary hold three texts per word: its name, its meaning, and its place in Kafka.
"""

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from kafkaviz.app.registry import GoToEntry
from kafkaviz.app.widgets.go_to import MAX_ENTRIES
from kafkaviz.messages import LANGUAGES, language, say, text_in
from kafkaviz.workshop import WORKSHOP_PAGE, lesson_address
from kafkaviz.workshop import lessons as lesson_files


@dataclass(frozen=True)
class GlossaryTerm:
    """A word of the glossary.

    Attributes:
        key: the key of its messages, and its name in an address.
        page: the page of the app that shows it.
        lesson: the name of the lesson that teaches it.
    """

    key: str
    page: str
    lesson: str

    @property
    def name(self) -> str:
        """The word in the reader's language, followed by the English word if it differs."""
        return say(f"glossary.{self.key}")

    @property
    def short_name(self) -> str:
        """The word in the reader's language, without the English word in brackets after it."""
        return self.name.partition("（")[0]

    @property
    def meaning(self) -> str:
        return say(f"glossary.{self.key}_is")

    @property
    def kafka(self) -> str:
        """The class in Kafka 4.3.1 and the first release with it, in Markdown."""
        return say(f"glossary.{self.key}_kafka")


TERMS = (
    GlossaryTerm("broker_directory", "Broker", "three-files"),
    GlossaryTerm("topic_partition", "Broker", "three-files"),
    GlossaryTerm("segment", "Segment", "three-files"),
    GlossaryTerm("active_segment", "Segment", "rolls"),
    GlossaryTerm("roll", "Rolls", "rolls"),
    GlossaryTerm("batch", "Segment", "batches"),
    GlossaryTerm("record", "Segment", "batches"),
    GlossaryTerm("attributes", "Segment", "batches"),
    GlossaryTerm("codec", "Segment", "batches"),
    GlossaryTerm("checksum", "Segment", "batches"),
    GlossaryTerm("varint", "Segment", "batches"),
    GlossaryTerm("producer_id", "Segment", "batches"),
    GlossaryTerm("offset", "Lookup", "three-files"),
    GlossaryTerm("base_offset", "Segment", "three-files"),
    GlossaryTerm("skip_list", "Lookup", "three-files"),
    GlossaryTerm("relative_offset", "Segment", "three-files"),
    GlossaryTerm("offset_delta", "Segment", "batches"),
    GlossaryTerm("position", "Segment", "three-files"),
    GlossaryTerm("offset_index", "Segment", "three-files"),
    GlossaryTerm("time_index", "Segment", "time"),
    GlossaryTerm("transaction_index", "Segment", "batches"),
    GlossaryTerm("timestamp_type", "Segment", "time"),
    GlossaryTerm("list_offsets", "Lookup", "time"),
    GlossaryTerm("slot", "Segment", "three-files"),
    GlossaryTerm("entry", "Segment", "last-offset"),
    GlossaryTerm("interval", "Tuning", "last-offset"),
    GlossaryTerm("gap", "Broker", "last-offset"),
    GlossaryTerm("unwritten_slot", "Segment", "after-a-crash"),
    GlossaryTerm("floor", "Lookup", "binary-search"),
    GlossaryTerm("ceiling", "Lookup", "binary-search"),
    GlossaryTerm("truncation", "Health", "binary-search"),
    GlossaryTerm("probe", "Lookup", "binary-search"),
    GlossaryTerm("memory_map", "Page cache", "warm-section"),
    GlossaryTerm("page", "Page cache", "warm-section"),
    GlossaryTerm("page_cache", "Page cache", "warm-section"),
    GlossaryTerm("page_fault", "Page cache", "warm-section"),
    GlossaryTerm("hot_cold", "Page cache", "warm-section"),
    GlossaryTerm("warm_section", "Page cache", "warm-section"),
    GlossaryTerm("scan", "Lookup", "last-offset"),
    GlossaryTerm("log_end", "Lookup", "binary-search"),
    GlossaryTerm("log_start", "Lookup", "rolls"),
    GlossaryTerm("high_watermark", "Health", "after-a-crash"),
    GlossaryTerm("last_stable_offset", "Lookup", "batches"),
    GlossaryTerm("control_batch", "Segment", "batches"),
    GlossaryTerm("retention", "Disk", "rolls"),
    GlossaryTerm("clean_stop", "Health", "after-a-crash"),
    GlossaryTerm("recovery_point", "Health", "after-a-crash"),
    GlossaryTerm("recovery", "Health", "after-a-crash"),
    GlossaryTerm("torn_tail", "Health", "after-a-crash"),
    GlossaryTerm("replica", "Compare", "two-replicas"),
    GlossaryTerm("leader_epoch", "Compare", "two-replicas"),
    GlossaryTerm("unclean_election", "Compare", "two-replicas"),
    GlossaryTerm("doomed_tail", "Compare", "two-replicas"),
    GlossaryTerm("compaction", "Disk", "still-there"),
    GlossaryTerm("log_cleaner", "Disk", "still-there"),
    GlossaryTerm("first_dirty_offset", "Disk", "still-there"),
    GlossaryTerm("dirty_ratio", "Disk", "still-there"),
    GlossaryTerm("offset_map", "Disk", "still-there"),
    GlossaryTerm("tombstone", "Disk", "still-there"),
    GlossaryTerm("delete_horizon", "Disk", "still-there"),
)


def find_term(key: str) -> GlossaryTerm | None:
    return next((term for term in TERMS if term.key == key), None)


def matching_terms(text: str) -> list[GlossaryTerm]:
    """Returns the words whose name in any language contains the text, prefix matches first."""
    matches = [term for term in TERMS if any(text in name for name in _names(term))]
    return sorted(matches, key=lambda term: not any(name.startswith(text) for name in _names(term)))


def explained_terms(taught: Collection[str], text: str) -> list[GlossaryTerm]:
    """Returns the words in a text that a reader may see for the first time, in order of appearance.

    Args:
        taught: the names of earlier lessons, whose words are known.
    """
    places = {
        term: match.start()
        for term in TERMS
        if term.lesson not in taught and (match := _pattern(term.name).search(text))
    }
    return sorted(places, key=lambda term: places[term])


@cache
def _pattern(name: str) -> re.Pattern:
    """Returns a pattern for all spellings of a word; Chinese ones need no word boundaries."""
    spellings = [spelling for spelling in re.split("[、（）]|, ", name) if spelling]
    return re.compile("|".join(map(_spelling_pattern, spellings)), re.IGNORECASE)


def _spelling_pattern(spelling: str) -> str:
    escaped = re.escape(spelling)
    return rf"\b{escaped}s?\b" if spelling.isascii() else escaped


def _names(term: GlossaryTerm) -> list[str]:
    return [text_in(code, f"glossary.{term.key}").lower() for code in LANGUAGES]


def find_entries(text: str, address: Mapping[str, str]) -> Iterator[GoToEntry]:
    """Yields lessons and their steps, then words.

    Args:
        address: the address parameters that a link to the Workshop keeps.
    """
    yield from _lesson_entries(text, address)
    yield from _word_entries(text, address)


def _lesson_entries(text: str, address: Mapping[str, str]) -> Iterator[GoToEntry]:
    """Yields the lessons, then the steps whose title contains the text, up to MAX_ENTRIES each."""
    translations = {
        code: {lesson.name: lesson for lesson in lesson_files.lessons(code)[0]}
        for code in LANGUAGES
    }
    titles: dict[bool, list[tuple[str, str, dict[str, str]]]] = {True: [], False: []}
    for name, lesson in translations[language()].items():
        others = [lessons[name] for lessons in translations.values()]
        if any(text in other.title.lower() for other in others):
            titles[True].append((lesson.title, "", {lesson_address.LESSON: name}))
        for part, step in enumerate(lesson.steps, 1):
            names = [other.steps[part - 1].title for other in others if part <= len(other.steps)]
            if any(text in title.lower() for title in names):
                step_address = {lesson_address.LESSON: name, lesson_address.PART: str(part)}
                titles[False].append((step.title, lesson.title, step_address))
    for words, aside, step_address in (*titles[True][:MAX_ENTRIES], *titles[False][:MAX_ENTRIES]):
        yield GoToEntry(
            say("go_to.lessons"), words, aside, WORKSHOP_PAGE, {**address, **step_address}
        )


def _word_entries(text: str, address: Mapping[str, str]) -> Iterator[GoToEntry]:
    for term in matching_terms(text)[:MAX_ENTRIES]:
        word_address = {**address, lesson_address.WORD: term.key}
        yield GoToEntry(say("glossary.words"), term.name, "", WORKSHOP_PAGE, word_address)
