"""The glossary of the Workshop, and the Workshop's entries in the app's search ("Go to").

Each word has a meaning, a page of the app that shows an example, and a lesson that teaches the
word. TERMS holds pages and lessons. The message file `glossary` holds the texts: name,
meaning, and class in Kafka.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from kafkaviz import config_def, workshop
from kafkaviz.app.registry import Target
from kafkaviz.app.widgets.go_to_targets import is_named, plain_text, setting_target
from kafkaviz.messages import LANGUAGES, language, say, text_in
from kafkaviz.workshop import WORKSHOP_PAGE
from kafkaviz.workshop import lessons as lesson_files
from kafkaviz.workshop.lessons.grammar import Lesson, LessonStep

ISSUE = re.compile(r"\b(?:KAFKA|KIP)-\d+")
SPELLINGS = re.compile("[、（）]|, ")  # separators between the spellings of a word


@dataclass(frozen=True)
class GlossaryTerm:
    """A word of the glossary."""

    key: str  # the prefix of the word's message keys; also the word's name in addresses
    page: str  # the page of the app that shows an example
    lesson: str  # the name of the lesson that teaches the word

    @property
    def name(self) -> str:
        """The word in the reader's language, followed by the English word if different."""
        return say(f"glossary.{self.key}")

    @property
    def short_name(self) -> str:
        """The word in the reader's language only."""
        return self.name.partition("（")[0]

    @property
    def meaning(self) -> str:
        return say(f"glossary.{self.key}_is")

    @property
    def kafka(self) -> str:
        """Markdown: the class, method, field or setting of Kafka 4.3.1, and often since when."""
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
    GlossaryTerm("hot_page", "Page cache", "warm-section"),
    GlossaryTerm("cold_page", "Page cache", "warm-section"),
    GlossaryTerm("warm_section", "Page cache", "warm-section"),
    GlossaryTerm("plain_binary_search", "Page cache", "warm-section"),
    GlossaryTerm("warm_section_first_search", "Page cache", "warm-section"),
    GlossaryTerm("reader_at_the_tail", "Page cache", "warm-section"),
    GlossaryTerm("lagging_reader", "Page cache", "warm-section"),
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


def explained_terms(taught: Collection[str], text: str) -> list[GlossaryTerm]:
    """Returns the glossary words of a text in order, except those that `taught` lessons explain."""
    places = {
        term: match.start()
        for term in TERMS
        if term.lesson not in taught and (match := _pattern(term.name).search(text))
    }
    return sorted(places, key=lambda term: places[term])


@cache
def _pattern(name: str) -> re.Pattern:
    spellings = [spelling for spelling in SPELLINGS.split(name) if spelling]
    return re.compile("|".join(map(_spelling_pattern, spellings)), re.IGNORECASE)


def _spelling_pattern(spelling: str) -> str:
    escaped = re.escape(spelling)
    return rf"\b{escaped}s?\b" if spelling.isascii() else escaped


# the keys of words that explain settings that no page explains; a name may end in *, as in
# SETTING_PLACES
SETTING_TERMS = {
    "preallocate": "unwritten_slot",
    "max.message.bytes": "batch",
    "max.decompressed.message.bytes": "codec",
    "message.timestamp.*": "timestamp_type",
    "message.format.version": "attributes",
    "flush.*": "recovery_point",
    "log.flush.*": "recovery_point",
    "num.recovery.threads.per.data.dir": "recovery",
    "min.insync.replicas": "high_watermark",
    "unclean.leader.election.enable": "unclean_election",
    "replica.fetch.max.bytes": "replica",
    "producer.id.expiration.ms": "producer_id",
    "transactional.id.expiration.ms": "producer_id",
}


def list_targets() -> tuple[Target, ...]:
    """Returns what "Go to" finds in the Workshop: lessons, steps, words and settings.

    The list is rebuilt after a lesson file has changed.
    """
    translations = {code: tuple(lesson_files.lessons(code)[0]) for code in LANGUAGES}
    return _targets(language(), tuple(translations.items()))


@lru_cache(maxsize=len(LANGUAGES))
def _targets(
    reader_language: str, translations: tuple[tuple[str, tuple[Lesson, ...]], ...]
) -> tuple[Target, ...]:
    # the reader's language first
    by_language = sorted(translations, key=lambda pair: pair[0] != reader_language)
    lessons = [{lesson.name: lesson for lesson in each} for _, each in by_language]
    by_name = [[each[name] for each in lessons] for name in lessons[0]]
    return (
        *map(_lesson_target, by_name),
        *(target for same_lesson in by_name for target in _step_targets(same_lesson)),
        *map(_word_target, TERMS),
        *_setting_targets(),
    )


def _lesson_target(translations: Sequence[Lesson]) -> Target:
    lesson = translations[0]
    names = tuple(each.title.lower() for each in translations)
    texts = tuple(plain_text(each.about) for each in translations)
    address = {workshop.LESSON: lesson.name}
    return Target("go_to.lessons", lesson.title, "", WORKSHOP_PAGE, address, names, texts)


def _step_targets(translations: Sequence[Lesson]) -> Iterator[Target]:
    lesson = translations[0]
    for part, step in enumerate(lesson.steps, 1):
        steps = [each.steps[part - 1] for each in translations if part <= len(each.steps)]
        yield Target(
            "go_to.lessons",
            step.title,
            lesson.title,
            WORKSHOP_PAGE,
            {workshop.LESSON: lesson.name, workshop.PART: str(part)},
            tuple(each.title.lower() for each in steps),
            tuple(plain_text(_step_text(each)) for each in steps),
        )


def _step_text(step: LessonStep) -> str:
    """Returns the text of a lesson step that "Go to" searches: prose and questions, no answers.

    The text ends with all numbers of issues and proposals (KAFKA-1234, KIP-12) in the step.
    """
    texts = [part for part in step.parts if isinstance(part, str)]
    texts += [block["ask"] for block in step.blocks("predict", "exercise")]
    texts += [f"{block['said']} {block['so']}" for block in step.blocks("misleads")]
    lines = [line for block in step.blocks() for _, line in block.lines]
    issues = dict.fromkeys(ISSUE.findall(" ".join(lines)))
    return " ".join((*texts, ", ".join(issues)))


def _word_target(term: GlossaryTerm) -> Target:
    languages = sorted(LANGUAGES, key=lambda code: code != language())
    key = f"glossary.{term.key}"
    names = [text_in(code, key).lower() for code in languages]
    spellings = [spelling for name in names for spelling in SPELLINGS.split(name) if spelling]
    texts = (
        plain_text(f"{text_in(code, f'{key}_is')} {text_in(code, f'{key}_kafka')}")
        for code in languages
    )
    address = {workshop.WORD: term.key}
    return Target(
        "glossary.words", term.name, "", WORKSHOP_PAGE, address, (*spellings, *names), tuple(texts)
    )


def _setting_targets() -> Iterator[Target]:
    for name in (*config_def.TOPIC_SETTINGS, *config_def.BROKER_SETTINGS):
        key = next((key for each, key in SETTING_TERMS.items() if is_named(name, each)), "")
        if term := find_term(key):
            yield setting_target(name, term.name, WORKSHOP_PAGE, {workshop.WORD: key})
