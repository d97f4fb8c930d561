"""The Workshop's files to take away: a lesson, the hand-outs, the notebook."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kafkaviz.app.frontend import kept_component
from kafkaviz.app.state import session_language
from kafkaviz.html import tag
from kafkaviz.messages import LANGUAGES, speaking, text_in
from kafkaviz.workshop import lessons
from kafkaviz.workshop.figures import LIVE
from kafkaviz.workshop.figures.figure import CodeText, Group, Markdown
from kafkaviz.workshop.takeaway import handouts, notebook
from kafkaviz.workshop.takeaway.__main__ import files
from kafkaviz.workshop.takeaway.handouts import HandoutEdition
from kafkaviz.workshop.takeaway.lesson_page import lesson_page
from kafkaviz.workshop.takeaway.page_file import PageFile, to_html
from tests.workshop.lesson_text import figure, lesson

ROOT = Path(__file__).parents[2]
MAX_LESSON_BYTES = 3_040_870  # 2.9 MiB, as the list of downloads says


@pytest.fixture(scope="module")
def page() -> str:
    """The file of a lesson with steppers and exercises."""
    return lesson_page(lesson("binary-search"), 4, 8)


def island(page: str) -> dict:
    """Returns the data that is embedded in a file."""
    return json.loads(re.search(r'id="takeaway" type="application/json">([^<]+)<', page)[1])


# ---- the parts of figures


def test_parts_keep_their_order_and_the_keys_of_their_containers():
    """Stylesheets know a container by its key."""
    html = PageFile().html(Group([Markdown("a"), tag("b", "c")], "kv_a-b", gap_px=20))
    assert 'class="kv-parts st-key-kv_a-b" style="gap:20px"' in html
    assert html.index("<p>a</p>") < html.index("<b>c</b>")


def test_a_chart_is_written_in_both_modes():
    file = PageFile()
    block = figure("warm-section", 1, "middles")
    kind = LIVE["middles"]
    html = file.html(Group(kind.draw(kind.make(block), block, "key")))
    (figures,) = file._figures.values()
    assert set(figures) == {"light", "dark"}
    assert figures["light"] != figures["dark"]
    assert 'role="img" aria-label="' in html


def test_a_component_is_written_with_what_it_needs():
    block = next(block for step in lesson("time").steps for block in step.blocks("stepper"))
    kind = LIVE["stepper"]
    (part,) = kind.draw(kind.make(block), block, "key")
    stepper = kept_component(part.draw)
    assert stepper.name == "stepper"
    assert "as default" in stepper.script
    assert len(stepper.data["steps"]) > 5


def test_a_text_of_several_lines_keeps_them():
    html = PageFile().html(CodeText("offset: 1\n<b>"))
    assert html.endswith("<code>offset: 1\n&lt;b&gt;</code></pre>")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a **b** *c* `d`", "<p>a <strong>b</strong> <em>c</em> <code>d</code></p>"),
        ("a\n\nb", "<p>a</p><p>b</p>"),
        ("- a\n- b\n  more", "<ul><li>a</li><li>b more</li></ul>"),
        ("1. a\n2. b", "<ol><li>a</li><li>b</li></ol>"),
        ("<script>", "<p>&lt;script&gt;</p>"),
        (r"\*a\*", "<p>*a*</p>"),
        ("snake_case_name", "<p>snake_case_name</p>"),
        ("[a](javascript:b)", "<p>[a](javascript:b)</p>"),
        ("[a](https://b.c)", '<p><a href="https://b.c">a</a></p>'),
        ("```\n<b>\n```", '<pre tabindex="0"><code>&lt;b&gt;</code></pre>'),
        ("### a", "<h3>a</h3>"),
    ],
)
def test_markdown(text, html):
    assert to_html(text) == html


# ---- a lesson


def test_the_file_of_a_lesson_fetches_nothing(page):
    """Its policy allows its own scripts by their checksums, and no address at all."""
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)[1]
    assert policy.startswith("default-src &#x27;none&#x27;; script-src &#x27;sha256-")
    assert "http" not in policy
    assert not re.search(r'(?:src|href)="(?!#)', page)


def test_the_file_of_a_lesson_has_its_steppers_and_each_component_once(page):
    """Three lookups and a log that grows; two lookups and the log also as they are before the answer."""
    data = island(page)
    assert [drawn["name"] for drawn in data["drawn"]] == 5 * ["stepper"] + 2 * ["growth"]
    assert set(data["components"]) == {"stepper", "growth"}
    assert all(drawn["data"]["shares_page"] for drawn in data["drawn"])


def test_the_file_of_a_lesson_is_small_without_charts():
    """Plotly is in those alone that draw with it."""
    page = lesson_page(lesson("last-offset"), 3, 8)
    assert len(page) < 700_000
    assert "packed-plotly" not in page


def test_the_file_of_a_lesson_has_no_notes_for_the_teacher(page):
    notes = [block for step in lesson("binary-search").steps for block in step.blocks("notes")]
    said = [text for block in notes for text in block["say"]]
    assert said and not [text for text in said if text in page]


def test_a_figure_that_gives_the_answer_away_waits(page):
    step = page.split('id="step-1"')[1].split('id="step-2"')[0]
    assert re.search(r'<div data-after="answer" hidden>', step)


def test_numbers_are_judged_by_what_the_program_worked_out(page):
    answers = re.findall(r'data-kind="numbers" data-answer="([^"]+)"', page)
    assert answers == ["[&quot;1&quot;]", "[&quot;0&quot;]"]


def test_the_file_of_a_lesson_speaks_its_language():
    with speaking("zh"):
        page = lesson_page(lesson("binary-search", "zh"), 4, 8)
    assert '<html lang="zh">' in page
    assert f">{text_in('zh', 'takeaway.check')}</button>" in page
    assert island(page)["words"]["right"] == text_in("zh", "workshop.right")


@pytest.mark.nightly
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_lesson_becomes_a_file(language):
    """As small as is said; only the task on the ceiling has notes, no figure that cannot be drawn."""
    known = lessons.lessons(language)[0]
    with speaking(language):
        pages = [lesson_page(lesson, number, len(known)) for number, lesson in enumerate(known, 1)]
    assert [size for page in pages if (size := len(page.encode())) > MAX_LESSON_BYTES] == []
    notes = [page.count('<p class="note">') for page in pages]
    assert notes == [2 if lesson.name == "binary-search" else 0 for lesson in known]


# ---- hand-outs


def test_the_hand_outs_are_all_lessons_with_their_contents():
    """A sheet a lesson, in order, then the answers to each; no button of the page."""
    all_lessons = lessons.lessons("en")[0]
    page = handouts.handouts_page(all_lessons[2:4], HandoutEdition.ANSWERS)
    sections = re.findall(r'<section id="(\w+-\d)" class="sheet', page)
    assert sections == ["lesson-1", "lesson-2", "answers-1", "answers-2"]
    assert re.findall(r'<a href="#(lesson-\d)"', page) == ["lesson-1", "lesson-2"]
    assert 'class="kv-parts row st-key-kv_paper_head"' not in page


def test_a_sheet_has_the_figures_of_its_questions():
    """In their base state: the race before its start, the growth up to the question."""
    page = handouts.handouts_page([lesson("warm-section")], HandoutEdition.QUESTIONS)
    races = [one["data"] for one in island(page)["drawn"] if one["name"] == "search_race"]
    assert [race["is_question"] for race in races] == [True]
    assert "The index grows to 40 pages" in page
    assert "56 faults while" not in page


@pytest.mark.parametrize(
    ("edition", "has_answers", "has_notes"),
    [
        (HandoutEdition.ANSWERS, True, False),
        (HandoutEdition.QUESTIONS, False, False),
        (HandoutEdition.NOTES, True, True),
    ],
)
def test_an_edition_of_the_hand_outs_has_what_it_says(edition, has_answers, has_notes):
    page = handouts.handouts_page([lesson("binary-search")], edition)
    assert ('<section id="answers-1"' in page) == ('href="#answers-1"' in page) == has_answers
    assert ("Rounded down, lo = mid would loop forever" in page) == has_notes


# ---- the notebook, and all of it


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_notebook_is_one(language):
    """In nbformat 4.5: cells of Markdown and code, each with an id of its own."""
    with speaking(language):
        parsed = json.loads(notebook.notebook())
    cells = parsed["cells"]
    assert (parsed["nbformat"], parsed["nbformat_minor"]) == (4, 5)
    assert {cell["cell_type"] for cell in cells} == {"markdown", "code"}
    assert len({cell["id"] for cell in cells}) == len(cells)
    assert not [cell for cell in cells if not "".join(cell["source"]).strip()]
    assert not [cell for cell in cells if cell.get("outputs")]


def test_the_code_of_the_notebook_runs_and_agrees_with_kafkaviz(capsys):
    """From top to bottom; it asserts that both ways give the same."""
    variables: dict[str, object] = {}
    for cell in json.loads(notebook.notebook())["cells"]:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), variables)
    printed = capsys.readouterr().out
    assert "offset 10948 position 4179" in printed
    assert "plain, newest entry: 22 probes on 13 pages" in printed
    assert "warm section first, newest entry: 12 probes on 3 pages" in printed
    assert "{'TIME_INDEX_FULL': 14}" in printed
    assert str(ROOT) not in printed


def test_every_file_has_a_name():
    names = list(files(lessons.lessons("en")[0][:1]))
    assert names == [
        "kafkaviz-three-files.en.html",
        "kafkaviz-handouts.en.html",
        "kafkaviz-handouts-questions.en.html",
        "kafkaviz-handouts-notes.en.html",
        "kafkaviz-three-lessons.ipynb",
    ]


def test_a_download_is_made_in_the_language_it_was_offered_in(monkeypatch):
    """It is made on click, when no page is being drawn."""
    monkeypatch.setattr(session_language, "language", lambda: "zh")
    make = session_language.keep_language(lambda: session_language._later_language.get())
    assert make() == "zh"
    assert session_language._later_language.get() == "en"


def run_command(*arguments: str) -> subprocess.CompletedProcess:
    """Runs the command of `make take-away`."""
    command = [sys.executable, "-m", "kafkaviz.workshop.takeaway", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.nightly
def test_the_command_writes_every_file(tmp_path):
    ran = run_command(str(tmp_path / "zh"), "--language", "zh")
    written = {path.name for path in (tmp_path / "zh").iterdir()}
    with speaking("zh"):
        assert written == set(files(lessons.lessons("zh")[0]))
    assert (ran.returncode, ran.stderr, ran.stdout.count("\n")) == (0, "", len(written))


def test_the_command_says_where_it_cannot_write(tmp_path):
    (tmp_path / "taken").write_text("")
    ran = run_command(str(tmp_path / "taken"))
    assert (ran.returncode, ran.stderr) == (1, f"{tmp_path / 'taken'}: File exists\n")
