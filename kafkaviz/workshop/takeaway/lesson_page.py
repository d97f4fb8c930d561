"""A lesson as one HTML file with text, working figures and questions.

A figure that reveals the answer is hidden until the reader has answered. The file contains no
teacher's notes and stores no answers. The exercise on the ceiling (the smallest key that is not
below a target) asks for a rule. The file does not test the reader's rule, but shows the solution.
"""

import json

from kafkaviz import __version__
from kafkaviz.errors import KafkavizError
from kafkaviz.html import Html, join, tag
from kafkaviz.messages import say
from kafkaviz.render.sentences import describe_error_sentence
from kafkaviz.report.html import brand, note
from kafkaviz.workshop.figures import LIVE
from kafkaviz.workshop.figures.figure import Group
from kafkaviz.workshop.lessons import exercise, tasks
from kafkaviz.workshop.lessons.grammar import KINDS, LETTERS, Lesson, LessonBlock, LessonStep
from kafkaviz.workshop.takeaway.page_file import PageFile, inline_html, prose

ANSWER = "answer"


def file_name(lesson: Lesson) -> str:
    """Returns a name such as kafkaviz-binary-search.en.html."""
    return f"kafkaviz-{lesson.name}.{lesson.language}.html"


def lesson_page(lesson: Lesson, number: int, count: int) -> str:
    """Returns the HTML file of lesson `number` (from 1) of `count`, in the reader's language."""
    file = PageFile()
    steps = [_step(lesson, place, file) for place in range(1, len(lesson.steps) + 1)]
    footer = tag("footer", tag("p", say("takeaway.complete", version=__version__)))
    body = join((_header(lesson, number, count), tag("main", *steps), footer))
    return file.text(f"{lesson.title} · kafkaviz", body, _words())


def _words() -> dict[str, str]:
    return {
        "right": say("workshop.right"),
        "wrong": say("workshop.wrong_choice"),
        "not_yet": say("workshop.not_yet"),
        "no_number": say("workshop.no_number"),
        "two_numbers": say("takeaway.numbers_in_order"),
        "wrong_numbers": say("takeaway.wrong_numbers"),
    }


def _header(lesson: Lesson, number: int, count: int) -> Html:
    position_text = say(
        "workshop.lesson_of_session", number=number, count=count, minutes=f"{lesson.minutes:g}"
    )
    links = (
        tag("li", tag("a", f"{place} · {step.title}", href=f"#step-{place}"))
        for place, step in enumerate(lesson.steps, 1)
    )
    return tag(
        "header",
        brand(),
        tag("div", position_text, class_="kv-lab"),
        tag("h1", lesson.title),
        tag("p", inline_html(lesson.about), class_="lead"),
        tag("nav", tag("ul", *links), aria_label=say("takeaway.steps")),
        lang=lesson.language,
    )


def _step(lesson: Lesson, place: int, file: PageFile) -> Html:
    step = lesson.steps[place - 1]
    words = [prose(part) for part in step.parts if isinstance(part, str)]
    questions = [
        {"predict": _question, "exercise": _exercise, "misleads": _misconception}[block.kind](
            block, step
        )
        for block in step.blocks("predict", "exercise", "misleads")
    ]
    blocks = [block for block in step.blocks() if block.kind in LIVE]
    figures = [
        _figure(block, step, f"{lesson.name}_{place}_{number}", file)
        for number, block in enumerate(blocks)
    ]
    is_wide = any(KINDS[block.kind].is_wide for block in blocks)
    heading = tag("h2", f"{place} · {step.title}", id=f"step-{place}-heading")
    texts = (tag("div", *words, class_="words"), tag("div", *questions, class_="asked"))
    figure_column = tag("div", *figures, class_="figures")
    if is_wide or not figures:
        content = join((tag("div", *texts, class_="beside"), figure_column))
    else:
        content = tag("div", tag("div", *texts), figure_column, class_="beside")
    return tag(
        "section",
        heading,
        content,
        id=f"step-{place}",
        class_="step",
        lang=lesson.language,
        aria_labelledby=f"step-{place}-heading",
    )


def _figure(block: LessonBlock, step: LessonStep, key: str, file: PageFile) -> Html:
    """Returns a figure. A figure that reveals the answer is hidden, with a placeholder."""
    kind = LIVE[block.kind]
    waits_for = block["after"] or (ANSWER if kind.question and step.blocks("predict") else "")
    try:
        view = kind.make(block)
        before = kind.question(view, block, f"{key}_before") if waits_for and kind.question else ()
        parts = kind.draw(view, block, key)
    except KafkavizError as fault:
        return tag("p", describe_error_sentence(fault), class_="note")
    drawn = file.html(Group(parts))
    if not waits_for:
        return drawn
    base = tag("p", say(f"takeaway.hidden_until_{waits_for}"), class_="kv-wait")
    if before:
        base = file.html(Group(before))
    after = tag("div", drawn, data_after=waits_for, hidden=True)
    return join((tag("div", base, data_base=waits_for), after))


def _question(block: LessonBlock, _step: LessonStep) -> Html:
    buttons = (
        tag(
            "button",
            tag("span", LETTERS[index].upper(), class_="letter"),
            tag("span", inline_html(text)),
            type="button",
            aria_pressed="false",
            data_right="yes" if is_right else "no",
        )
        for index, (text, is_right) in enumerate(block.choices)
    )
    verdict = tag("p", say("workshop.choose_first"), class_="verdict-line", role="status")
    return tag(
        "div",
        tag("p", tag("strong", inline_html(block["ask"]))),
        *buttons,
        verdict,
        tag("div", prose(block["reveal"]), class_="reveal", hidden=True),
        class_="ask",
        role="group",
        aria_label=say("takeaway.question"),
    )


def _exercise(block: LessonBlock, step: LessonStep) -> Html:
    parts = [tag("div", say("workshop.exercise"), class_="kv-lab"), prose(block["ask"])]
    try:
        task = tasks.task(block)
    except KafkavizError as fault:
        return tag("div", *parts, note(describe_error_sentence(fault)), class_="task")
    if task.bytes_text:
        parts.append(tag("div", task.bytes_text, class_="kv-given"))
    parts += _answer_field(task)
    hint = [("hint", prose(block["hint"]))] if block["hint"] else []
    rule = tag("pre", tag("code", str(block["rule"])), class_="command") if block["rule"] else ""
    solution = ("solution", join((prose(block["solution"]), rule)))
    parts += [
        tag("details", tag("summary", say(f"workshop.{name}")), content, class_="help")
        for name, content in (*hint, solution)
    ]
    is_judged = task.kind != tasks.RULE
    return tag(
        "form" if is_judged else "div",
        *parts,
        class_="task",
        data_kind=task.kind if is_judged else None,
        data_answer=json.dumps([str(value) for value in task.answer]) if is_judged else None,
        aria_label=f"{say('workshop.exercise')}, {step.title}" if is_judged else None,
    )


def _answer_field(task: tasks.LessonTask) -> list[Html]:
    verdict = tag("p", class_="verdict-line", role="status")
    if task.kind == tasks.RULE:
        return [note(exercise.describe_pieces()), note(say("takeaway.rule"))]
    if task.kind == tasks.CHOICE:
        words = (
            tag(
                "button",
                tasks.choice_label(word),
                type="button",
                data_word=word,
                aria_pressed="false",
            )
            for word in task.choices
        )
        return [tag("div", *words, class_="choices"), verdict]
    field = tag("input", inputmode="text", autocomplete="off", spellcheck="false")
    label = tag("label", tag("span", say("workshop.your_answer"), class_="kv-lab"), field)
    return [tag("div", label, tag("button", say("takeaway.check")), class_="choices"), verdict]


def _misconception(block: LessonBlock, step: LessonStep) -> Html:
    waits = bool(step.blocks("predict"))
    return tag(
        "div",
        tag("div", say("workshop.often_said"), class_="kv-lab"),
        prose(say("workshop.quoted", text=block["said"])),
        tag("div", f"{say('workshop.what_is_so')} · {block['versions']}", class_="kv-lab"),
        prose(block["so"]),
        class_="misleads",
        data_after=ANSWER if waits else None,
        hidden=waits,
    )
