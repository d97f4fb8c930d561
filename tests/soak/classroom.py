"""python -m tests.soak.classroom: a teacher and SEATS=20 learners in one class, over the browser's
websocket, through the short track; the duration of each step, and the server's memory.
"""

import json
import os
import random
import re
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.exceptions import ConnectionClosed

from docs import browsing
from kafkaviz.workshop.class_seat import PATH
from tests.soak.visitor import Visitor, open_socket

PATIENCE_S, CATALOG_S = 60.0, 300.0
THINKING_S = 3.0  # at most, before a learner answers
LIMIT_S = 1.0  # of 95 in 100 steps
MIB = 1 << 20


class Tab:
    """A tab of the Workshop, with its fragments, and a learner's wait as in class_link.js."""

    def __init__(self, address: str, **query: str) -> None:
        self._connection = ExitStack()
        self._socket = self._connection.enter_context(open_socket(address))
        self._address, self.query, self._page_hash = address, urlencode(query), ""
        self._link: dict[str, Any] = {}
        self.html, self.exceptions = "", []
        self.buttons: dict[str, tuple[str, str]] = {}  # the id, and the part that it runs
        self._run_html, self._run_buttons, self._is_whole = [], {}, True
        self._timers: dict[str, tuple[float, float]] = {}
        self._changed, self._is_open = threading.Condition(), True
        self._sending = threading.Lock()
        self._send()
        threading.Thread(target=self._listen, daemon=True).start()
        threading.Thread(target=self._hear_class, daemon=True).start()

    def close(self) -> None:
        """Closes it as a browser closes a tab."""
        self._is_open = False
        self._connection.close()

    def press(self, key: str) -> None:
        """Presses the button of this key."""
        button, part = self.buttons[key]
        self._send(button=button, part=part)

    def wait(self, is_met: Callable[["Tab"], bool]) -> float:
        """Waits until the page is as it should be, and returns the moment."""
        with self._changed:
            if not self._changed.wait_for(lambda: is_met(self), PATIENCE_S):
                raise TimeoutError(f"{self.query}: {self.html[-300:]} {self.exceptions}")
        return time.monotonic()

    @property
    def code(self) -> str:
        """Returns the class's code in the address."""
        return parse_qs(self.query).get("class", [""])[0]

    @property
    def heading(self) -> str:
        match = re.search('<div class="kv-lesson".*?<h1>(.*?)</h1>', self.html)
        return match[1] if match else ""

    def _send(
        self, button: str = "", part: str = "", trigger: dict | None = None, *, is_timer=False
    ) -> None:
        message = BackMsg()
        rerun = message.rerun_script
        rerun.query_string, rerun.page_script_hash = self.query, self._page_hash
        rerun.page_name = "" if self._page_hash else "workshop"
        rerun.fragment_id, rerun.is_auto_rerun = part, is_timer
        if button:
            state = rerun.widget_states.widgets.add()
            state.id, state.trigger_value = button, True
        if trigger:
            state = rerun.widget_states.widgets.add()
            state.id = f"$$STREAMLIT_INTERNAL_KEY_{self._link['id']}__events"
            state.json_trigger_value = json.dumps([trigger])
        with self._sending:
            self._socket.send(message.SerializeToString())

    def _hear_class(self) -> None:
        """Waits for the class's feed, and tells the page of its next step."""
        connection = HTTPConnection(self._address.removeprefix("http://"), timeout=PATIENCE_S)
        while self._is_open:
            link = self._link
            if not link.get("listens"):
                time.sleep(0.05)
                continue
            query = urlencode({"code": link["code"], "revision": link["revision"]})
            headers = {"X-Class-Token": link["token"]}
            try:
                connection.request("GET", f"{PATH}?{query}", headers=headers)
                revision = json.loads(connection.getresponse().read())["revision"]
            except OSError:
                return
            if revision != link["revision"]:
                link["revision"] = revision
                self._send(trigger={"event": "revision", "value": revision})

    def _listen(self) -> None:
        while self._is_open:
            now = time.monotonic()
            for fragment, (due, interval) in list(self._timers.items()):
                if due <= now:
                    self._timers[fragment] = now + interval, interval
                    self._send(part=fragment, is_timer=True)
            next_due = min((due for due, _ in self._timers.values()), default=now + 0.2)
            try:
                data = self._socket.recv(max(0.0, next_due - time.monotonic()))
            except TimeoutError:
                continue
            except ConnectionClosed:
                return
            self._take(ForwardMsg.FromString(data))

    def _take(self, message: ForwardMsg) -> None:
        kind = message.WhichOneof("type")
        if kind == "new_session":
            self._is_whole = not message.metadata.run.fragment_ids
            self._run_html, self._run_buttons = [], {}
            if self._is_whole:
                self._timers.clear()
        elif kind == "navigation":
            self._page_hash = message.navigation.page_script_hash
        elif kind == "auto_rerun":
            interval = message.auto_rerun.interval
            due = time.monotonic() + interval
            self._timers.setdefault(message.auto_rerun.fragment_id, (due, interval))
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.HasField("new_element"):
            element = message.delta.new_element
            if element.HasField("html"):
                self._run_html.append(element.html.body)
            elif element.HasField("button"):
                key = element.button.id.rpartition("-")[2]
                self._run_buttons[key] = element.button.id, message.delta.fragment_id
            elif element.HasField("bidi_component"):
                component = element.bidi_component
                if component.id.endswith("kv_class_link"):
                    self._link = json.loads(component.json) | {"id": component.id}
            elif element.HasField("exception"):
                self.exceptions.append(element.exception.message)
        elif kind == "script_finished":
            with self._changed:
                text = "".join(self._run_html)
                if self._is_whole and message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                    self.html, self.buttons = text, self._run_buttons
                elif not self._is_whole and 'class="kv-lesson"' in text:
                    self.html, self.buttons = text, self.buttons | self._run_buttons
                self._changed.notify_all()


@dataclass
class Latencies:
    """Seconds from a press to the page that shows its result."""

    follow: list[float] = field(default_factory=list)  # the teacher's next step, at each learner
    answer: list[float] = field(default_factory=list)  # a learner's own answer
    reveal: list[float] = field(default_factory=list)  # the teacher's reveal, at each learner
    # what the server works at a step or a reveal until the last learner has it: its processor time
    # on a machine that has more to do
    work: list[float] = field(default_factory=list)

    def lines(self) -> list[str]:
        return [f"{name:8} {len(values):5} {row(values)}" for name, values in vars(self).items()]

    def slow(self) -> list[str]:
        """Returns the actions that took longer than LIMIT_S in more than 5 of 100 cases."""
        steps = {name: values for name, values in vars(self).items() if name != "work"}
        return [name for name, values in steps.items() if share_below(values, 0.95) > LIMIT_S]


HEAD = f"{'step':8} {'count':>5} {'median':>8} {'p95':>8} {'longest':>8}   seconds"


def row(seconds: Sequence[float]) -> str:
    """Returns the median, the 95th percentile and the maximum as columns of a table."""
    columns = (share_below(seconds, 0.5), share_below(seconds, 0.95), max(seconds))
    return " ".join(f"{value:8.2f}" for value in columns)


def share_below(values: Sequence[float], share: float) -> float:
    """Returns the value that this share of the values does not exceed."""
    return sorted(values)[min(int(share * len(values)), len(values) - 1)]


@dataclass(frozen=True)
class Course:
    """The results of a class."""

    latencies: Latencies
    steps: int
    empty_bytes: int  # of the server before anybody came
    full_bytes: int  # at the end of the class
    processor_share: float  # of one core, during the class
    idle_share: float  # of one core, while all were there and did nothing
    learners_share: float  # of one core, of this process, which plays the learners' browsers


def teach(address: str, process: int, seats: int, steps: int) -> Course:
    """Runs a class through this many steps of the short track.

    Args: process: the number of the server's process.
    """
    latencies, empty_bytes = Latencies(), resident_bytes(process)
    teacher = Tab(address, track="short")
    teacher.wait(lambda tab: "kv_class_teach" in tab.buttons and tab.heading != "")
    teacher.press("kv_class_teach")
    teacher.wait(lambda tab: "kv_class_reveal" in tab.buttons and tab.code != "")
    learners = [Tab(address, **{"class": teacher.code}) for _ in range(seats)]
    for learner in learners:
        learner.wait(lambda tab: "kv_class_seat" in tab.buttons)
        learner.press("kv_class_seat")
        learner.wait(lambda tab: "kv_class_stuck" in tab.buttons)
    idle_share = _processor_share(process, lambda: time.sleep(5))
    lead = partial(_lead, process, teacher, learners, latencies.work)
    taught = lambda: [_step(teacher, learners, lead, latencies) for _ in range(steps)]  # noqa: E731
    learners_before, start = time.process_time(), time.monotonic()
    processor_share = _processor_share(process, taught)
    learners_share = (time.process_time() - learners_before) / (time.monotonic() - start)
    full_bytes = resident_bytes(process)
    assert not any(tab.exceptions for tab in (teacher, *learners))
    for tab in (teacher, *learners):
        tab.close()
    return Course(
        latencies, steps, empty_bytes, full_bytes, processor_share, idle_share, learners_share
    )


def _step(
    teacher: Tab, learners: list[Tab], lead: Callable[..., None], latencies: Latencies
) -> None:
    """Everyone answers in their own time; the teacher reveals, and continues."""
    if "kv_choice_0" in teacher.buttons:
        _for_all(learners, partial(_answer, seconds=latencies.answer))
        lead("kv_class_reveal", _is_revealed, latencies.reveal)
    before = teacher.heading
    lead("kv_next", lambda tab: tab.heading != before, latencies.follow)


def _answer(learner: Tab, seconds: list[float]) -> None:
    time.sleep(random.uniform(0, THINKING_S))
    start = time.monotonic()
    letter = random.choice("01")
    learner.press(f"kv_choice_{letter}")
    name = learner.query
    seconds.append(learner.wait(lambda tab: tab.query != name) - start)


def _is_revealed(tab: Tab) -> bool:
    return '<div class="kv-class-counts"' in tab.html and "kv_class_reveal" not in tab.buttons


def _lead(
    process: int,
    teacher: Tab,
    learners: list[Tab],
    work: list[float],
    key: str,
    is_met: Callable[[Tab], bool],
    seconds: list[float],
) -> None:
    start, work_before = time.monotonic(), processor_s(process)
    teacher.press(key)
    _for_all(learners, lambda tab: seconds.append(tab.wait(is_met) - start))
    work.append(processor_s(process) - work_before)
    teacher.wait(is_met)


def _for_all(tabs: list[Tab], work: Callable[[Tab], object]) -> None:
    with ThreadPoolExecutor(len(tabs)) as pool:
        list(pool.map(work, tabs))


def _processor_share(process: int, work: Callable[[], object]) -> float:
    """Yields the share of one core that a process used meanwhile."""
    start, before = time.monotonic(), processor_s(process)
    work()
    return (processor_s(process) - before) / (time.monotonic() - start)


def processor_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_bytes(process: int) -> int:
    status = Path(f"/proc/{process}/status").read_text()
    return int(status.partition("VmRSS:")[2].split(maxsplit=1)[0]) << 10


def warm(address: str, folder: Path) -> None:
    """Waits until the server has read its sample, as one started before the class."""
    with Visitor(address) as visitor:
        visitor.see("")
    deadline = time.monotonic() + CATALOG_S
    while not any(folder.glob("catalogs/*/_catalog.json")):
        if time.monotonic() > deadline:
            raise TimeoutError("the ingest of the sample has no end")
        time.sleep(0.5)


def main() -> int:
    """Returns 0 if each step reached 95 of 100 learners within LIMIT_S."""
    seats, steps = int(os.environ.get("SEATS") or 20), int(os.environ.get("STEPS") or 15)
    with (
        tempfile.TemporaryDirectory(prefix="kafkaviz-class-") as folder,
        browsing.started(Path(folder)) as (address, process),
    ):
        warm(address, Path(folder))
        course = teach(address, process.pid, seats, steps)
    print(HEAD)
    print("\n".join(course.latencies.lines()))
    print(
        f"{seats} learners, {steps} steps: server {course.empty_bytes / MIB:.0f} MiB before, "
        f"{course.full_bytes / MIB:.0f} MiB at the end; {course.idle_share:.0%} of a core while "
        f"nobody moves, {course.processor_share:.0%} while the class goes on, and "
        f"{course.learners_share:.0%} for the learners' own side"
    )
    return 1 if course.latencies.slow() else 0


if __name__ == "__main__":
    sys.exit(main())
