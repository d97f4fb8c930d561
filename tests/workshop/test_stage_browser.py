"""The Workshop's stage in a real browser: what the first screen holds, the projector, and the
teacher's second window.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from kafkaviz.workshop import lessons
from tests.journeys.walk import OVERLAPPING, SETTLED
from tests.support.browser import assert_axe_finds_nothing, heading, rests_on_first_screen, watched

pytestmark = pytest.mark.browser
SIZES = ((1280, 720), (1024, 768))
MIN_PART = 0.8  # of the figure's height
# the projector's styles have arrived
ENLARGED = "document.querySelector('[data-testid=stMainBlockContainer]')?.currentCSSZoom > 1.3"
ROW_PX = 24  # of buttons and links without a frame
MIN_MARKS = 2  # of a box that is not empty
ALL_LESSONS = [
    (language, lesson) for language in ("en", "zh") for lesson in lessons.lessons(language)[0]
]
STEPS = [
    pytest.param(
        language,
        lesson.name,
        part,
        step.title,
        marks=() if (language, lesson.name, part) == ("en", "time", 2) else pytest.mark.nightly,
        id=f"{language}-{lesson.name}-{part}",
    )
    for language, lesson in ALL_LESSONS
    for part, step in enumerate(lesson.steps, 1)
]
LABS = [
    (language, lesson.name)
    for language, lesson in ALL_LESSONS
    if any(step.blocks("break-it") for step in lesson.steps)
]
# how much of the first figure's height is seen, how far the question reaches, what is drawn in
# each figure: shapes, cells of a table, bytes, lines of a printout
FIRST_SCREEN = """() => {
  const { top, bottom } = document.querySelector('.st-key-kv_drawn_0').getBoundingClientRect(),
    question = document.querySelector('[class*=st-key-kv_ask], [class*=st-key-kv_task]'),
    asked = [...(question?.querySelectorAll('p, button, input, .kv-given') ?? [])]
      .filter(part => !part.closest('.st-key-kv_reveal, .st-key-kv_helps'))
      .map(part => part.getBoundingClientRect().bottom);
  const all = root => [...root.querySelectorAll('*')].flatMap(el => [
    el, ...(el.shadowRoot ? all(el.shadowRoot) : [])]);
  const marks = [...document.querySelectorAll('[class*=st-key-kv_drawn]')].map(drawn =>
    all(drawn).filter(el => el.matches('svg :is(path, rect, circle, line), td, .h, .kv-cell, .page, pre *')
      && el.getClientRects().length).length);
  return {
    seen: (Math.min(innerHeight, bottom) - Math.max(0, top)) / (bottom - top),
    figure: bottom - top,
    asked: Math.max(0, ...asked),
    wide: document.documentElement.scrollWidth - innerWidth,
    row: Math.max(0, ...[...document.querySelectorAll('.st-key-kv_progress, .st-key-kv_elsewhere')]
      .map(row => row.getBoundingClientRect().height)),
    marks: Math.min(...marks),
  };
}"""
# how far a lab's figure reaches, and what is asked and answered beside it
LAB_SCREEN = """() => {
  const bottom = selector => Math.max(...[...document.querySelectorAll(selector)]
    .map(part => part.getBoundingClientRect().bottom));
  return {
    figure: bottom('.st-key-kv_figures'),
    asked: bottom('[class*=st-key-kv_ask_] :is(p, button), .st-key-kv_break_go button, .kv-judged'),
    wide: document.documentElement.scrollWidth - innerWidth,
  };
}"""
# once nothing that is being fetched has a place kept, and for a while nothing has moved
DRAWN = """() => {
  const figures = document.querySelector('.st-key-kv_figures'),
    charts = [...figures?.querySelectorAll('.stPlotlyChart') ?? []];
  if (!figures || figures.querySelector('[data-testid=stSkeleton]') || figures.clientHeight < 60) return false;
  if (!charts.every(chart => chart.querySelector('.main-svg'))) return false;
  const size = JSON.stringify(figures.getBoundingClientRect()), now = performance.now();
  if (window.kvSize !== size) [window.kvSize, window.kvSince] = [size, now];
  return now - window.kvSince > 200;
}"""
# charts are as wide as their frames
FITS = """() => [...document.querySelectorAll('.stElementContainer:has(.stPlotlyChart)')].every(frame =>
  Math.abs(frame.querySelector('.main-svg')?.getBoundingClientRect().width
    - frame.getBoundingClientRect().width) < 3)"""
# the words of a figure that are smaller than 16 pixels, as they are drawn
SMALL_WORDS = """() => {
  const small = [];
  const walk = root => {
    for (const el of root.querySelectorAll('*')) {
      if (el.shadowRoot) walk(el.shadowRoot);
      const own = [...el.childNodes].some(node => node.nodeType === 3 && node.data.trim());
      if (!own || !el.getClientRects().length || el.closest('style, script')) continue;
      const style = getComputedStyle(el), svg = el.ownerSVGElement;
      const drawn = svg?.viewBox?.baseVal?.width
        ? svg.getBoundingClientRect().width / svg.viewBox.baseVal.width / el.currentCSSZoom : 1;
      const size = parseFloat(style.fontSize) * el.currentCSSZoom * drawn;
      if (style.visibility !== 'hidden' && size < 15.95)
        small.push(`${el.tagName}.${el.className?.baseVal ?? el.className} ${size} ${el.textContent}`);
    }
  };
  walk(document.querySelector('[data-testid=stMain]'));
  return small;
}"""


@contextmanager
def sized(browser, theme: str = "light", size: tuple[int, int] = SIZES[0]) -> Iterator:
    with watched(browser, theme=theme) as page:
        page.set_viewport_size({"width": size[0], "height": size[1]})
        yield page


def open_step(page, server, language: str, lesson: str, part: int, more: str = "") -> None:
    """Opens a step and waits until its figure is drawn."""
    spoken = "" if language == "en" else "&lang=zh"
    page.goto(f"{server}/workshop?lesson={lesson}&at={part}{spoken}{more}")
    wait_until_drawn(page)


def wait_until_drawn(page) -> None:
    page.locator(".st-key-kv_figures").wait_for()
    page.locator(SETTLED).wait_for()
    page.evaluate("window.kvSize = undefined")  # of the step before
    page.wait_for_function(DRAWN)


@pytest.mark.parametrize(("language", "lesson", "part", "title"), STEPS)
def test_figure_and_question_are_on_the_first_screen(
    server, browser, language, lesson, part, title
):
    """Four fifths of the figure and all that is asked, in both sizes; never an empty box, no word
    over another, and nothing that axe-core finds.
    """
    with sized(browser) as page:
        open_step(page, server, language, lesson, part)
        heading(page, title)
        for width, height in SIZES:
            screen = first_screen(page, width, height)
            assert screen["marks"] >= MIN_MARKS, (width, screen)
            assert page.evaluate(OVERLAPPING) == [], width
        assert_axe_finds_nothing(page)


@pytest.mark.parametrize("language", ["en", pytest.param("zh", marks=pytest.mark.nightly)])
def test_the_answered_short_track_is_on_the_first_screen(server, browser, language):
    """From step to step in a window of 1280 by 720: four fifths of each figure; progress below the
    words and the link to the page below the figure take one line each. The steps before their
    answers are those of the test above.
    """
    steps = [
        (lesson.name, part, step.title)
        for spoken, lesson in ALL_LESSONS
        for part, step in enumerate(lesson.steps, 1)
        if spoken == language and step.is_short
    ]
    answers = "+".join(f"{lesson}.{part}b+{lesson}.{part}x" for lesson, part, _ in steps)
    hidden, tall = {}, {}
    with sized(browser) as page:
        open_step(page, server, language, *steps[0][:2], f"&track=short&answers={answers}")
        for number, (lesson, part, title) in enumerate(steps):
            if number > 0:
                page.locator(".st-key-kv_next button").dispatch_event("click")
            heading(page, title)
            wait_until_drawn(page)
            screen = page.evaluate(FIRST_SCREEN)
            if screen["seen"] < MIN_PART:
                hidden[lesson, part] = screen["seen"]
            if screen["row"] >= 2 * ROW_PX:
                tall[lesson, part] = screen["row"]
    assert (hidden, tall) == ({}, {})


@pytest.mark.nightly  # test_break_it_browser.py has the first fault of one of them
@pytest.mark.parametrize(("language", "lesson"), LABS, ids="-".join)
def test_a_lab_is_on_the_first_screen(server, browser, language, lesson):
    """With each fault, before its start and behind it: all that is asked, all of the result."""
    with sized(browser) as page:
        page.goto(f"{server}/workshop?lesson={lesson}&break=1&lang={language}")
        faults = page.locator(".st-key-kv_figures [role=radio]")
        faults.first.wait_for()
        for number in range(faults.count()):
            faults.nth(number).click()
            page.locator(".st-key-kv_break_go").wait_for()
            assert_lab_fits(page)
            for question in ("start", "read"):
                page.locator(f"[class*=st-key-kv_ask_{question}] button").first.click()
                page.locator(f"[class*=st-key-kv_opt_chosen_{question}_0]").wait_for()
            page.locator(".st-key-kv_break_start button").click()
            page.locator(".st-key-kv_break_result").wait_for()
            assert_lab_fits(page)


def assert_lab_fits(page) -> None:
    """In both sizes, nothing beside the window and no word over another."""
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        page.locator(SETTLED).wait_for()
        page.wait_for_function(DRAWN)
        screen = page.evaluate(LAB_SCREEN)
        assert screen["figure"] <= height, (width, screen)
        assert screen["asked"] <= height, (width, screen)
        assert screen["wide"] <= 0, (width, screen)
        assert page.evaluate(OVERLAPPING) == [], width


def first_screen(page, width: int, height: int) -> dict:
    """What a page of this size shows, once it is drawn: most of the figure, all that is asked."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function(DRAWN)
    screen = page.evaluate(FIRST_SCREEN)
    assert screen["seen"] >= MIN_PART, (width, screen)
    assert screen["asked"] <= height, (width, screen)
    assert screen["wide"] <= 0, (width, screen)
    return screen


@pytest.mark.nightly  # test_a_projector_shows_no_small_word has one step
@pytest.mark.parametrize(("language", "lesson", "part", "title"), STEPS)
def test_a_projector_shows_the_figure(server, browser, language, lesson, part, title):
    with sized(browser) as page:
        open_step(page, server, language, lesson, part, "&projector=1")
        assert_projected_step_fits(page)


def assert_projected_step_fits(page) -> None:
    """Four fifths of the figure and all that is asked, in both sizes; no small word, none over
    another.
    """
    for width, height in SIZES:
        first_screen(page, width, height)
        assert page.evaluate(OVERLAPPING) == [], width
        assert page.evaluate(SMALL_WORDS) == [], width


@pytest.mark.parametrize(
    ("language", "target", "theme"),
    [
        ("en", 5242883, "light"),
        pytest.param("zh", 5242883, "dark", marks=pytest.mark.nightly),
        pytest.param("zh", 100000, "light", marks=pytest.mark.nightly),
    ],
)
def test_a_lookup_on_a_projector(server, browser, language, target, theme):
    """F leads into it: the sentence and the figures of the steps, and nothing that axe-core finds."""
    with sized(browser, theme) as page:
        page.goto(f"{server}/lookup?set=full&target={target}&tab=steps&lang={language}")
        page.locator(".say", has_text=str(target)[-3:]).wait_for()
        page.locator(SETTLED).wait_for()
        page.keyboard.press("f")
        page.wait_for_url("**projector=1**")
        page.wait_for_function(ENLARGED)
        page.locator(SETTLED).wait_for()
        assert not page.locator("[data-testid=stSidebar]").is_visible()
        assert rests_on_first_screen(page, ".kv-hd h1", ".transport", ".say")
        page.keyboard.press("ArrowRight")
        page.locator(".dots .past").first.wait_for()
        figure = page.locator(".fx").bounding_box()
        assert (SIZES[0][1] - figure["y"]) / figure["height"] >= MIN_PART, figure
        assert page.evaluate(SMALL_WORDS) == []
        assert page.evaluate(OVERLAPPING) == []
        assert_axe_finds_nothing(page)
        page.keyboard.press("Escape")
        page.wait_for_url(lambda url: "projector" not in url)
        page.locator(".st-key-kv_ctl").wait_for()


@pytest.mark.parametrize(
    ("address", "figure"),
    [
        ("rolls?of=Simulated", ".st-key-kv_fig_rolls"),
        *(
            pytest.param(*page, marks=pytest.mark.nightly)
            for page in (
                ("segment?tp=orders-0&segment=0", ".st-key-ruler"),
                ("tuning?tune=heartbeat-0", ".st-key-kv_fig_headers"),
            )
        ),
    ],
)
def test_a_page_on_a_projector(server, browser, address, figure):
    """Four fifths of its figure, and no small word."""
    with sized(browser) as page:
        page.goto(f"{server}/{address}&lang=en&projector=1")
        page.locator(figure).first.wait_for()
        page.locator(SETTLED).wait_for()
        page.wait_for_function(ENLARGED)
        box = page.locator(figure).first.bounding_box()
        assert (SIZES[0][1] - box["y"]) / box["height"] >= MIN_PART, box
        assert page.evaluate(SMALL_WORDS) == []


@pytest.mark.parametrize(
    "size", [(1280, 720), pytest.param((1920, 1080), marks=pytest.mark.nightly)]
)
def test_a_projector_shows_no_small_word(server, browser, size):
    """F leads into it and out of it, Escape out; the address has it; arrows and Page keys work."""
    with sized(browser, size=size) as page:
        open_step(page, server, "en", "binary-search", 2)
        page.keyboard.press("f")
        page.wait_for_url("**projector=1**")
        page.wait_for_function(ENLARGED)
        wait_until_drawn(page)
        assert page.evaluate(SMALL_WORDS) == []
        assert not page.locator("[data-testid=stSidebar]").is_visible()
        assert_projected_step_fits(page)
        page.locator(".count", has_text="step 1 of").wait_for(state="attached")
        page.keyboard.press("ArrowRight")
        page.locator(".count", has_text="step 2 of").wait_for(state="attached")
        page.keyboard.press("PageDown")
        heading(page, "Homework: the ceiling")
        page.locator(".st-key-kv_drawn_0 .main-svg").first.wait_for()
        page.wait_for_function(FITS)
        assert page.evaluate(SMALL_WORDS) == []
        page.keyboard.press("Escape")
        page.wait_for_url(lambda url: "projector" not in url)
        page.locator(".st-key-kv_lessons").wait_for()


def test_the_teachers_windows_go_on_together(server, browser):
    """Notes in a second window; either moves the other, and a stranger's window stays."""
    with watched(browser) as page:
        open_step(page, server, "en", "last-offset", 2)
        stranger = page.context.new_page()
        open_step(stranger, server, "en", "last-offset", 2)
        with page.expect_popup() as opened:
            page.get_by_role("button", name="Teacher’s notes").click()
        notes = opened.value
        heading(notes, "What the entry says")
        notes.get_by_text("minute 29.5 to 32 of 118, 2.5 min").wait_for()
        assert notes.locator(".st-key-kv_figures").count() == 0
        notes.get_by_role("button", name="Start the clock").click()
        notes.get_by_text("29 min ahead of the plan").wait_for()
        notes.locator(".st-key-kv_next button").click()
        heading(notes, "Stepping over batches")
        notes.get_by_text("31 min ahead of the plan").wait_for()
        heading(page, "Stepping over batches")
        page.locator(".st-key-kv_back button").click()
        heading(page, "What the entry says")
        heading(notes, "What the entry says")
        assert stranger.locator("h1").first.inner_text() == "What the entry says"
