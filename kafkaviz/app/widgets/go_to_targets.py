"""Search results that do not depend on the directory: pages, tabs, settings, findings and lessons.

    find_targets("log.roll.ms", pages)      the setting segment.ms, which opens Rolls
    find_targets("热区", pages)              the lesson on the warm section, in any language

A search compares first the names of the targets, then the words of their texts, in all languages.
The targets are built once per language.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import NamedTuple

from kafkaviz import config_def
from kafkaviz.app import page_state
from kafkaviz.app.registry import PAGES, GoToEntry, Target
from kafkaviz.app.widgets import elements
from kafkaviz.messages import LANGUAGES, language, render, say, text_in

MAX_ENTRIES = 6  # per kind
# ranks: how well the typed text fits a target; 0 is best
EXACT, PREFIX, PART, PHRASE, WORDS = range(5)
# fewest characters of a typed text that is searched for in the texts of targets; a Chinese word
# often has only two
MIN_CHARACTERS = 3
MIN_CHINESE = 2
SNIPPET = 58  # characters; a third of them are before the words that were found
SNIPPET_CHINESE = 27
CHINESE = re.compile("[\u4e00-\u9fff]")
PAGE_KIND = "frame.pages"
SETTING_KIND = "go_to.settings"
# the page and tab that explain or change a setting
SETTING_PLACES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Rolls", "", ("segment.*", "internal.segment.bytes")),
    ("Tuning", "Index", ("index.interval.bytes",)),
    ("Tuning", "Codec", ("compression.*",)),
    (
        "Disk",
        "Retention",
        ("retention.*", "local.retention.*", "remote.*", "file.*", "log.retention.*", "metadata.*"),
    ),
    (
        "Disk",
        "Compaction",
        ("cleanup.policy", config_def.DIRTY_RATIO, "delete.retention.ms", "min.compaction.*",
         "max.compaction.*", "log.cleaner.*"),
    ),
)  # fmt: skip

# the message keys of texts whose words find a tab
TAB_TEXTS = {("Segment", "Transactions"): "segment.about_transactions"}


class Match(NamedTuple):
    rank: int
    entry: GoToEntry


def find_targets(text: str, pages: Mapping[str, Mapping[str, str]]) -> dict[str, list[Match]]:
    """Returns the best matches of each kind, best first. "" finds all pages.

    Args:
        text: the typed text in lower case.
        pages: the address parameters to keep, by the name of each page that a result may open.
    """
    by_kind: dict[str, list[Match]] = {}
    for target in _targets() if text else map(_page_target, pages):
        if target.page in pages and (match := _match(target, text, pages[target.page])):
            by_kind.setdefault(target.kind, []).append(match)
    return {
        kind: sorted(matches, key=lambda match: match.rank)[: MAX_ENTRIES if text else None]
        for kind, matches in by_kind.items()
    }


def _targets() -> Iterator[Target]:
    yield from _app_targets(language(), tuple(PAGES))
    for page in PAGES.values():
        if page.list_targets:
            yield from page.list_targets()


def _match(target: Target, text: str, address: Mapping[str, str]) -> Match | None:
    for name in _page_names(target.page):  # `disk retention`
        text = text.removeprefix(f"{name} ")
    rank = rank_name(target.names, text)
    aside = target.aside
    if rank is None:
        searched = find_words(target.texts, text)
        if searched is None:
            return None
        rank, aside = searched
    entry = GoToEntry(
        say(target.kind), target.words, aside, target.page, {**address, **target.address}
    )
    return Match(rank, entry)


def rank_name(names: Iterable[str], text: str) -> int | None:
    """Returns EXACT, PREFIX or PART, the best match of `text` in a name. None without a match."""
    names = tuple(names)
    if text in names:
        return EXACT
    if any(name.startswith(text) for name in names):
        return PREFIX
    return PART if any(text in name for name in names) else None


def find_words(texts: Sequence[str], text: str) -> tuple[int, str] | None:
    """Finds the first of `texts` with the phrase `text`, else the first with all words of `text`.

    Returns (PHRASE or WORDS, snippet of the found text), or None. Each match is at the beginning of
    a word: "seg" matches in "segment", and "ment" does not.
    """
    if len(text) < (MIN_CHARACTERS if text.isascii() else MIN_CHINESE):
        return None
    for rank, parts in ((PHRASE, [text]), (WORDS, text.split())):
        for searched in texts:
            if not all(part in searched.lower() for part in parts):  # much faster than the patterns
                continue
            places = [word_pattern(part).search(searched) for part in parts]
            if places[0] and all(places):
                return rank, _snippet(searched, *places[0].span())
    return None


def word_pattern(*words: str) -> re.Pattern:
    """Returns a pattern that finds any of the `words` at the beginning of a word."""
    starts = (r"(?<![A-Za-z0-9])" if word[:1].isascii() else "" for word in words)
    patterns = (start + re.escape(word) for start, word in zip(starts, words, strict=True))
    return re.compile(f"({'|'.join(patterns)})", re.IGNORECASE)


def _snippet(text: str, place: int, words_end: int) -> str:
    width = SNIPPET_CHINESE if CHINESE.search(text) else SNIPPET
    start = max(0, place - width // 3)
    if start and (gap := text.find(" ", start, place)) >= 0:
        start = gap + 1
    end = max(start + width, words_end)
    if end < len(text) and (gap := text.rfind(" ", words_end, end)) >= 0:
        end = gap
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def plain_text(markdown: str) -> str:
    return " ".join(re.sub(r"[*`#>|]|\]\([^)]*\)|\[(?=[^\]]+\]\()", "", markdown).split())


# ---- what the app itself has


@cache
def _app_targets(_language: str, page_names: tuple[str, ...]) -> tuple[Target, ...]:
    pages = [_page_target(name) for name in page_names]
    tabs = [tab for name in page_names for tab in _tab_targets(name)]
    return (*pages, *tabs, *_setting_targets(), *_finding_targets())


def _page_target(page: str) -> Target:
    return Target(PAGE_KIND, elements.page_name(page), "", page, {}, _page_names(page))


@cache
def _page_names(page: str) -> tuple[str, ...]:
    key = f"common.page_{page.lower().replace(' ', '_')}"
    return (page.lower(), *(text_in(code, key).lower() for code in LANGUAGES))


def _tab_targets(page: str) -> Iterator[Target]:
    for word, label in PAGES[page].tab_labels.items():
        names = tuple(text_in(code, PAGES[page].tabs[word]).lower() for code in LANGUAGES)
        words = f"{elements.page_name(page)} › {label}"
        key = TAB_TEXTS.get((page, word))
        texts = (say(key), *(text_in(code, key) for code in LANGUAGES)) if key else ()
        yield Target(PAGE_KIND, words, "", page, {page_state.TAB: word}, names, texts)


def _setting_targets() -> Iterator[Target]:
    for name in (*config_def.TOPIC_SETTINGS, *config_def.BROKER_SETTINGS):
        if place := setting_place(name):
            page, tab = place
            aside = elements.page_name(page)
            if tab:
                aside += f" › {PAGES[page].tab_labels[tab]}"
            yield setting_target(name, aside, page, {page_state.TAB: tab} if tab else {})


def setting_place(name: str) -> tuple[str, str] | None:
    """Returns the page and tab for a setting. None if only the glossary explains it."""
    for page, tab, names in SETTING_PLACES:
        if any(is_named(name, each) for each in names):
            return page, tab
    return None


def is_named(setting: str, name: str) -> bool:
    """Returns whether `name` is the setting or a pattern for it: log.* for log.dirs."""
    return setting == name or (name.endswith("*") and setting.startswith(name[:-1]))


def setting_target(name: str, aside: str, page: str, address: Mapping[str, str]) -> Target:
    names = (name, *(broker_name for broker_name, _ in config_def.setting(name).broker_names))
    return Target(SETTING_KIND, config_def.label(name), aside, page, address, names)


def _finding_targets() -> Iterator[Target]:
    from kafkaviz.analysis.findings import CODES

    for code in CODES.values():
        names = (code.name, *(code.title.render(each).lower() for each in LANGUAGES))
        cause = render(code.cause) if code.cause else ""
        texts = (" ".join(filter(None, (render(code.consequence), code.reference, cause))),)
        yield Target(
            "finding_list.findings", render(code.title), code.name, "Health", {}, names, texts
        )
