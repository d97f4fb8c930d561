"""The entries of Go to in the Workshop: lessons, their steps, and words of the glossary.

They are found by their name in any language.
"""

from collections.abc import Iterator, Mapping

from kafkaviz.app.registry import GoToEntry
from kafkaviz.app.widgets.go_to import MAX_ENTRIES
from kafkaviz.messages import LANGUAGES, language, say
from kafkaviz.workshop import WORKSHOP_PAGE, lesson_address
from kafkaviz.workshop import lessons as lesson_files
from kafkaviz.workshop.lessons import glossary


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
    for term in glossary.matching_terms(text)[:MAX_ENTRIES]:
        word_address = {**address, lesson_address.WORD: term.key}
        yield GoToEntry(say("glossary.words"), term.name, "", WORKSHOP_PAGE, word_address)
