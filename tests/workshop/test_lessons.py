"""The lessons: their grammar, with the line of each fault; that every one can be taught, in both
languages; their answers.
"""

import re
from pathlib import Path

import pytest

from kafkaviz.workshop import lessons
from kafkaviz.workshop.figures import LIVE
from kafkaviz.workshop.lessons import __main__ as check
from kafkaviz.workshop.lessons import grammar, parse, tasks
from kafkaviz.workshop.lessons.grammar import HEAD, KINDS, TASK_KEYS, NoValue
from tests.workshop.lesson_text import GOOD, RIGHT, block

SECOND = "```kafkaviz predict\nask: a\nright: b\nreveal: c\n```"
NOTES = "```kafkaviz notes\nminutes: 2\nsay: one\nsay: two\n```\n"
BIDS = {"data": "kafka-4.4.0-replica-1", "with": "kafka-4.4.0-replica-2", "tp": "bids-0"}
PLACE = {"data": "kafka-4.3.1-clean", "tp": "orders-0", "segment": 19113}
SLOT = PLACE | {"file": ".index", "slot": 0}


def faults(text: str, file: str = "tenth.en.md") -> list[str]:
    """All that is wrong with a text, as line: what."""
    return [f"{fault.line}: {fault.what}" for fault in parse(text, file)[1]]


def with_block(text: str) -> str:
    """Returns a lesson with this block in its third step."""
    return GOOD.replace("## Third\n", f"## Third\n\n```kafkaviz {text}\n```\n")


# ---- grammar


def test_a_lesson_is_steps_of_text_and_blocks():
    lesson, wrong = parse(GOOD, "tenth.en.md")
    assert wrong == [] and lesson is not None
    head = (lesson.name, lesson.language, lesson.short, lesson.order)
    assert head == ("tenth", "en", "A tenth lesson", 1000)
    first, second, third = lesson.steps
    assert first.title == "First" and first.parts[0] == "Some text with `code`."
    stepper = first.blocks()[0]
    assert (stepper.kind, stepper["target"], stepper.line) == ("stepper", 21, 11)
    assert second.blocks("predict")[0]["ask"] == "Which one of these?"
    assert third.parts[0].startswith("```python") and "## no heading" in third.parts[0]
    assert third.blocks("notes")[0]["say"] == ("one", "two") and third.minutes == 2


@pytest.mark.parametrize(
    ("before", "after", "fault"),
    [
        ("---\ntitle", "title", "1: a lesson begins with a line ---"),
        ("minutes: 2\n---", "minutes: 2", "1: the head of the lesson is not closed"),
        ("title: A tenth lesson\n", "", "1: the head of a lesson needs the key title"),
        ("minutes: 2\n---", "minutes: soon\n---", "4: minutes must be minutes, such as 6 or 1.5"),
        ("target: 21", "targt: 21", "13: a block stepper has no key targt; it takes set, data, tp"),
        ("target: 21", "target: twenty", "13: target must be a whole number, not twenty"),
        ("set: five", "set: six", "12: set must be five or twenty or full, not six"),
        ("target: 21", "target: 21\ntarget: 22", "14: target is given twice"),
        ("target: 21", "target:", "13: target has no value"),
        ("target: 21\n", "", "11: a block stepper needs the key target"),
        ("target: 21", "and then 21", "13: a line here has the form key: value"),
        ("kafkaviz stepper", "kafkaviz steper", "11: unknown block steper; the blocks are attrib"),
        ("target: 21\n```", "target: 21", "11: this block does not end"),
        ("## First\n\n", "", "7: text must be inside a step, after a heading ##"),
        ("## Second\n", "", "1: a lesson has 3 to 10 steps"),
        ("## Second\n", "## Empty\n\n## Second\n", "16: this step is empty"),
        (
            "minutes: 2\nsay",
            "minutes: 3\nsay",
            "1: the notes of its steps add up to 3 minutes, but",
        ),
        ("That.**\n```", f"That.**\n```\n\n{SECOND}", "26: a step has at most one block predict"),
    ],
)
def test_a_broken_lesson_is_refused_with_its_line(before, after, fault):
    assert before in GOOD
    text = GOOD.replace(before, after, 1)
    assert parse(text, "tenth.en.md")[0] is None
    assert any(text.startswith(fault) for text in faults(text)), faults(text)


@pytest.mark.parametrize("inside", ["\f", "\x1c", "\u2028", "\x85"])
def test_lines_are_those_of_an_editor(inside):
    """What Python splits lines at besides begins no line for whoever mends the fault."""
    wrong = GOOD.replace("target: 21\n```", "target: 21").replace("title: A", f"title: {inside}A")
    assert any(fault.startswith("11: this block does not end") for fault in faults(wrong))


def test_a_file_has_the_name_of_a_lesson():
    assert faults(GOOD, "Ninth lesson.md")[0].startswith("1: a lesson's file is called name.en.md")
    (fault,) = parse(GOOD.replace("five", "six"), "x/tenth.en.md")[1]
    assert str(fault).startswith("x/tenth.en.md:12: set must be five or twenty")


README = (lessons.LESSONS_FOLDER / "README.md").read_text(encoding="utf-8")


def test_the_example_of_the_readme_is_a_lesson(tmp_path):
    example = re.search(r"````markdown\n(.*?)````", README, re.DOTALL)[1]
    (tmp_path / "restart.en.md").write_text(example, encoding="utf-8")
    assert check.faults([tmp_path]) == (1, [])


def test_the_readme_tells_of_every_block_and_key():
    markers = set(re.findall(r"`([A-Za-z0-9-]+)(?:: [^`]*)?`", README))
    keys = {key for kind in KINDS.values() for key in kind.keys} | set(HEAD)
    assert (set(KINDS) | set(tasks.TASKS) | keys) - markers == set()


# ---- found, and dropped in


def test_a_lesson_in_a_folder_is_found(tmp_path: Path, monkeypatch):
    """KAFKAVIZ_LESSONS names a folder; another language stands in; a lesson of the same name takes
    the place of ours.
    """
    before, _ = lessons.lessons("en")
    (tmp_path / "tenth.zh.md").write_text(GOOD, encoding="utf-8")
    own = GOOD.replace("A tenth lesson", "My own lesson on time")
    (tmp_path / "time.en.md").write_text(own, encoding="utf-8")
    (tmp_path / "README.md").write_text("no lesson")
    monkeypatch.setenv(lessons.LESSONS, str(tmp_path))
    known, wrong = lessons.lessons("en")
    assert wrong == [] and len(known) == len(before) + 1
    assert [lesson.language for lesson in known if lesson.name == "tenth"] == ["zh"]
    assert "My own lesson on time" in [lesson.title for lesson in known]
    (tmp_path / "tenth.zh.md").write_text(GOOD.replace("five", "six"), encoding="utf-8")
    known, wrong = lessons.lessons("en")
    assert len(known) == len(before)
    assert [str(fault)[:30] for fault in wrong] == ["tenth.zh.md:12: set must be fi"]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("bytes\ndata: no-such-sample\ntp: orders-0", "unknown sample no-such-sample; the samples"),
        ("ruler\ndata: kafka-4.3.1-clean\ntp: nowhere-0", "nowhere-0"),
        ("bytes\ndata: kafka-4.3.1-clean\ntp: orders-0\nfile: .txnindex", "has no .txnindex"),
        (
            "table\ndata: kafka-4.3.1-clean\ntp: orders-0\nsegment: 0\nof: index\noffset: 99999999",
            "This segment holds",
        ),
        ("limit-race\nworkload: nothing\nsegment: 0", "unknown workload nothing"),
        (
            "exercise\nof: probe\nask: a\nsolution: b",
            "an exercise of probe needs set, target, after-probes",
        ),
        (
            "exercise\nof: probe\nset: five\ntarget: 21\nafter-probes: 40\nask: a\nsolution: b",
            "this search has",
        ),
        (
            "exercise\nof: ceiling\nkeys: 6 14\nrule: slot + 1\nask: a\nsolution: b",
            "wrong for some target",
        ),
        ("predict\nask: a\nright: b\nreveal: c", "needs the key `choice`"),
        ("stepper\ndata: kafka-4.3.1-clean\ntarget: 3", "the key tp is missing"),
    ],
)
def test_what_a_block_asks_for_must_be_there(tmp_path, text, fault):
    """The check makes each figure and works out each answer, and names the line of the block."""
    (tmp_path / "tenth.en.md").write_text(with_block(text), encoding="utf-8")
    count, (wrong,) = check.faults([tmp_path])
    assert (count, wrong.line) == (1, 28)
    assert fault in str(wrong.what)


# ---- those that come along


@pytest.mark.slow
def test_every_lesson_can_be_taught():
    """Ten lessons in two languages: each figure is made, each answer worked out, the blocks are
    the same.
    """
    count, wrong = check.faults([lessons.LESSONS_FOLDER])
    assert wrong == [] and count == 20


def test_how_long_a_session_takes():
    """Ten lessons of three to ten steps; every step has notes, every lesson a task and what
    misleads.
    """
    known, _ = lessons.lessons("en")
    assert len(known) == 10
    assert sum(lesson.minutes for lesson in known) == 118
    for lesson in known:
        assert all(step.minutes > 0 for step in lesson.steps), lesson.name
        kinds = [{block.kind for block in step.blocks()} for step in lesson.steps]
        assert all(each & LIVE.keys() for each in kinds), lesson.name
        assert {"exercise", "misleads", "notes"} <= set().union(*kinds), lesson.name


def test_the_short_track_takes_45_minutes():
    """Eighteen steps about the indexes; crashes, replicas and the cleaner are in the long track."""
    known, _ = lessons.lessons("en")
    steps = {lesson.name: [step.is_short for step in lesson.steps] for lesson in known}
    assert sum(map(sum, steps.values())) == 18
    long_track = [name for name, marks in steps.items() if not any(marks)]
    assert long_track == ["two-replicas", "still-there"]
    short_steps = {(name, n) for name, marks in steps.items() for n, m in enumerate(marks, 1) if m}
    assert {("warm-section", 2), ("warm-section", 6), ("rolls", 3)} <= short_steps
    assert [n for name, n in short_steps if name == "after-a-crash"] == [5]
    assert sum(step.minutes for lesson in known for step in lesson.steps if step.is_short) == 45


def test_chinese_lessons_are_chinese():
    for lesson in lessons.lessons("zh")[0]:
        prose = [part for step in lesson.steps for part in step.parts if isinstance(part, str)]
        texts = [lesson.title, *(step.title for step in lesson.steps), *prose]
        assert all(re.search("[\u4e00-\u9fff]", text) for text in texts), lesson.name


ANSWERS = {  # as a person works them out
    ("three-files", 3): (10948, 4179), ("three-files", 4): (64,), ("batches", 3): (123,),
    ("last-offset", 3): (838,), ("last-offset", 4): (199,), ("binary-search", 1): (1,),
    ("binary-search", 2): (0,), ("binary-search", 3): (6, 14, 22, 26, 31), ("warm-section", 4):
    (1309695,), ("warm-section", 5): (0,), ("time", 2): ("no",), ("time", 3): (23,), ("rolls", 1):
    ("time-index-full",), ("rolls", 3): (999996,), ("after-a-crash", 5): (980,),
    ("two-replicas", 4): (40,), ("still-there", 4): (45,), ("still-there", 5): (13, 15),
}  # fmt: skip


def test_the_answers_that_are_worked_out_are_those_of_the_solutions():
    for language in ("en", "zh"):
        exercises = {}
        for lesson in lessons.lessons(language)[0]:
            for part, step in enumerate(lesson.steps, 1):
                for exercise in step.blocks("exercise"):
                    task = tasks.task(exercise)
                    exercises[lesson.name, part] = task.answer
                    if task.kind == tasks.NUMBERS:
                        assert set(task.answer) <= set(tasks.numbers(exercise["solution"]))
        assert exercises == ANSWERS


# ---- tasks


def test_every_sort_of_task_is_worked_out():
    answers = {
        "probe": ({"set": "twenty", "target": 66, "warm": 4, "after_probes": 0}, "slot 15", "14"),
        "floor": ({"set": "five", "target": 23}, "2", "3"),
        "start": ({"set": "five", "target": 21}, "459", "656"),
        "decode": (SLOT, "19,324 and 7850", "211 7850"),
        "file-size": ({"limit": 67, "file": ".timeindex"}, "60", "64"),
        "varint": ({"bytes": bytes.fromhex("d804")}, "300", "600"),
        "time": ({"set": "five", "target": 1700000003000}, "23", "22"),
        "entry": ({"story": "first", "step": 7}, "yes", "no"),
        "time-entry": ({"story": "first", "step": 17}, "no", "yes"),
        "cause": ({"workload": "day", "segment": 0}, "size", "time"),
        "entries": ({"batch_bytes": 1000, "interval": 4096, "batches": 20}, "3", "4"),
        "ceiling": ({"keys": (6, 14, 22, 26, 31)}, RIGHT, "slot + 1"),
        "drops": (BIDS | {"leader": "b"}, "70", "40"),
        "dirty-ratio": ({"log": "profiles", "day": 28}, "62 %", "45"),
        "stays": ({"log": "profiles", "day": 28, "segment": 12}, "13 and 15", "13"),
    }
    assert set(answers) == set(TASK_KEYS) == set(tasks.TASKS)
    for kind, (keys, right, wrong) in answers.items():
        task = tasks.task(block("exercise", of=kind, ask="?", solution="!", **keys))
        assert tasks.is_right(task, right) and not tasks.is_right(task, wrong), kind


def test_numbers_are_read_as_people_write_them():
    assert tasks.numbers("10,485,756") == tasks.numbers("10\u202f485\u202f756 bytes") == (10485756,)
    assert tasks.numbers("offset 19324, byte 7850") == (19324, 7850)
    assert (tasks.numbers("-1"), tasks.numbers("none")) == ((-1,), ())


@pytest.mark.parametrize(
    ("kind", "keys", "key"),
    [
        ("start", {"set": "five", "target": 40}, "lesson.reads_no_batch"),
        ("time", {"set": "five", "target": 1_800_000_000_000}, "lesson.no_record_that_late"),
        ("decode", SLOT | {"file": ".index", "slot": 1 << 20}, "lesson.no_slot"),
        ("varint", {"bytes": b"\x80"}, "lesson.bytes"),
        ("varint", {"bytes": b"\x02\x02"}, "lesson.more_than_one_number"),
        ("entry", {"story": "first", "step": 99}, "lesson.steps_of_story"),
        ("cause", {"workload": "day", "segment": 9999}, "lesson.rolled_segment"),
        ("entries", {"batch_bytes": 9, "interval": 1, "batches": 0}, "lesson.batch_count"),
        ("stays", {"log": "profiles", "day": 21, "segment": 12}, "lesson.not_cleaned"),
    ],
)
def test_an_exercise_without_an_answer_says_why(kind, keys, key):
    with pytest.raises(NoValue) as refusal:
        tasks.task(block("exercise", of=kind, ask="?", solution="!", **keys))
    assert refusal.value.message.key == key


@pytest.mark.parametrize(
    ("parse_value", "text", "key"),
    [
        (grammar.parse_release, "newest", "lesson.a_release"),
        (grammar.parse_hex, "0x", "lesson.hexadecimal"),
        (grammar.parse_rule, "slot +", "lesson.a_rule"),
        (grammar.parse_natural, "-1", "lesson.a_natural_number"),
        (grammar.parse_name, "../other", "lesson.a_name"),
    ],
)
def test_a_value_that_is_none_is_refused(parse_value, text, key):
    with pytest.raises(NoValue) as refusal:
        parse_value(text)
    assert refusal.value.message.key == key


def test_a_file_that_cannot_be_read_as_text_is_told(tmp_path, monkeypatch):
    """With the line where it stops being text; one that is too large or gone is not read."""
    path = tmp_path / "tenth.en.md"
    path.write_bytes(GOOD.encode() + b"caf\xe9\n")
    _, (fault,) = lessons.read(path)
    assert (fault.what.key, fault.line) == ("lesson_file.no_utf8", GOOD.count("\n") + 1)
    monkeypatch.setattr(lessons, "FILE_BYTES", 1024)
    path.write_text(GOOD + "x" * 1024, encoding="utf-8")
    _, (fault,) = lessons.read(path)
    assert (fault.what.key, dict(fault.what.values)) == ("lesson_file.too_large", {"kib": 1})
    path.unlink()
    _, (fault,) = lessons.read(path)
    assert fault.what.key == "lesson_file.cannot_be_read"


@pytest.mark.parametrize(
    ("before", "after", "key", "line"),
    [
        ("about:", "order: 7\nabout:", "lesson_file.other_head", 1),
        (NOTES, "", "lesson_file.other_block_count", 26),
        ("target: 21", "target: 22", "lesson_file.other_block", 11),
    ],
)
def test_two_languages_of_a_lesson_have_the_same_shape(tmp_path, before, after, key, line):
    """The same head, as many blocks in each step, and the same blocks."""
    (tmp_path / "tenth.en.md").write_text(GOOD, encoding="utf-8")
    other = GOOD.replace("this", "这个").replace(before, after)
    (tmp_path / "tenth.zh.md").write_text(other, encoding="utf-8")
    _, (fault,) = check.faults([tmp_path])
    assert (fault.file, fault.line, fault.what.key) == ("tenth.zh.md", line, key)


def test_an_exercise_on_a_rule_has_one(tmp_path):
    lesson = with_block("exercise\nof: ceiling\nkeys: 6 14\nask: a\nsolution: b")
    (tmp_path / "tenth.en.md").write_text(lesson, encoding="utf-8")
    _, (fault,) = check.faults([tmp_path])
    assert fault.what.key == "lesson_file.ceiling_needs_rule"


def test_the_command_that_checks_lessons_says_each_fault(tmp_path, capsys):
    """A line each, and how many; status 1 where there is one, or no lesson at all."""
    statuses = []

    def check_folder(folder: Path) -> list[str]:
        statuses.append(check.main([folder]))
        return capsys.readouterr().out.splitlines()

    path = tmp_path / "tenth.en.md"
    path.write_text(GOOD, encoding="utf-8")
    assert check_folder(tmp_path) == ["1 files, 0 faults"]
    path.write_text(GOOD.replace("five", "six"), encoding="utf-8")
    fault, count = check_folder(tmp_path)
    assert fault.startswith("tenth.en.md:12: set must be five") and count == "1 files, 1 faults"
    (line,) = check_folder(tmp_path / "nothing")
    assert line.startswith("no lesson found")
    assert statuses == [0, 1, 1]


@pytest.mark.parametrize(
    ("kind", "keys", "key"),
    [
        ("attributes", "", "lesson.key_missing"),
        ("bytes", "\ntp: orders-0\nfile: nothing", "lesson.partition_has_no_file"),
        (
            "zigzag",
            "\ntp: orders-0\nsegment: 0\nby: offset\ntarget: 9",
            "lesson.zigzag_needs_timestamp",
        ),
        (
            "zigzag",
            "\ntp: orders-0\nsegment: 0\nby: timestamp\ntarget: 1900000000000",
            "zigzag.not_here",
        ),
        ("tuning", "\ntp: nulls-0\nconsidered: 7", "lesson.not_swept"),
    ],
)
def test_a_figure_says_what_it_lacks(kind, keys, key):
    lesson, wrong = parse(with_block(f"{kind}\ndata: kafka-4.3.1-clean{keys}"), "tenth.en.md")
    assert wrong == []
    (made,) = lesson.steps[2].blocks(kind)
    with pytest.raises(NoValue) as refusal:
        LIVE[kind].make(made)
    assert refusal.value.message.key == key
