"""Captures the output of a function that draws with Streamlit, as parts for a file.

Figures of lessons are drawn by the app's own functions. To show the same in a file, such a function
is run like a page, in a separate run without a browser, and its messages are kept:

    parts = capture(lambda: LIVE["entries"].draw(view, block, "key"))

A component is kept with its script, style and data, and a chart in both colour modes. Buttons and
fields cannot work in a file. They are left out, and `Group.has_widgets` reports it.
"""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.ClientState_pb2 import ContextInfo
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.RootContainer_pb2 import RootContainer
from streamlit.runtime.fragment import MemoryFragmentStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import ScriptRunContext, add_script_run_ctx
from streamlit.runtime.state import SafeSessionState, SessionState

from kafkaviz import messages
from kafkaviz.app import frontend, page_state
from kafkaviz.app.frontend import DrawnComponent

MODES = ("light", "dark")
GAPS_PX = (
    16,
    16,
    32,
    64,
    0,
    4,
    8,
    48,
    96,
)  # pixels for Streamlit's GapSize values, in the order of the enum
PART_KINDS = ("html", "markdown", "plotly_chart", "code", "space")  # elements that become parts


@dataclass(frozen=True)
class HtmlPart:
    """HTML that the app has already escaped."""

    html: str


@dataclass(frozen=True)
class MarkdownPart:
    text: str


@dataclass(frozen=True)
class CodePart:
    text: str


@dataclass(frozen=True)
class ChartPart:
    """A Plotly figure as JSON by colour mode, and its alternative text."""

    figures: dict[str, str]
    alt: str


@dataclass(frozen=True, kw_only=True)
class Group:
    """Parts one below the other, or next to each other.

    Attributes:
        key: the key of the container, or "".
        weight: the relative width of a column.
        has_widgets: whether a button or field inside was left out.
    """

    parts: tuple["Part", ...]
    key: str = ""
    is_row: bool = False
    gap_px: int = 16
    weight: float = 0
    has_widgets: bool = False


Part = HtmlPart | MarkdownPart | CodePart | ChartPart | DrawnComponent | Group


def capture(draw: Callable[[], None], *, is_paper: bool = False) -> Group:
    """Returns the output of a drawing function, in the reader's language.

    Args:
        is_paper: whether the output is printed, in which case charts have only the light mode.

    Raises:
        Exception: any exception of the function.
    """
    parameters = {page_state.LANGUAGE: messages.language()} | (
        {page_state.PAPER: "1"} if is_paper else {}
    )
    group = _run(draw, MODES[0], parameters)
    if is_paper or not any(isinstance(part, ChartPart) for part in walk(group)):
        return group
    dark = _run(draw, MODES[1], parameters)
    charts = (part for part in walk(dark) if isinstance(part, ChartPart))
    return _with_dark(group, charts)


def walk(group: Group) -> Iterator[Part]:
    """Yields the parts of a group and of nested groups, in the order they are shown."""
    for part in group.parts:
        if isinstance(part, Group):
            yield from walk(part)
        else:
            yield part


def _with_dark(group: Group, dark_charts: Iterator[ChartPart]) -> Group:
    return replace(
        group,
        parts=tuple(
            _with_dark(part, dark_charts)
            if isinstance(part, Group)
            else replace(part, figures=part.figures | next(dark_charts).figures)
            if isinstance(part, ChartPart)
            else part
            for part in group.parts
        ),
    )


# ---- the run


def _run(draw: Callable[[], None], mode: str, parameters: dict[str, str]) -> Group:
    """Runs the function in a new thread, because Streamlit ties a run to a thread."""
    query = urlencode(parameters)
    sent: list[ForwardMsg] = []
    components: list[DrawnComponent] = []
    faults: list[BaseException] = []

    def run() -> None:
        context = _context(sent.append, query)
        add_script_run_ctx(ctx=context)
        context.reset(query, context_info=ContextInfo(color_scheme=mode))
        frontend.keep_components(components)
        try:
            draw()
        except BaseException as fault:
            faults.append(fault)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if faults:
        raise faults[0]
    return _tree(sent, components, mode)


def _context(enqueue: Callable[[ForwardMsg], None], query: str) -> ScriptRunContext:
    return ScriptRunContext(
        session_id="takeaway",
        _enqueue=enqueue,
        query_string=query,
        session_state=SafeSessionState(SessionState(), lambda: None),
        uploaded_file_mgr=MemoryUploadedFileManager("/none"),
        main_script_path="",
        user_info={},
        fragment_storage=MemoryFragmentStorage(),
        pages_manager=PagesManager(""),
    )


# ---- the messages


class _Node:
    def __init__(self) -> None:
        self.element: Any = None
        self.block: Any = None
        self.children: dict[int, _Node] = {}


def _tree(sent: list[ForwardMsg], components: list[DrawnComponent], mode: str) -> Group:
    root = _Node()
    for message in sent:
        if message.WhichOneof("type") != "delta":
            continue
        node = root
        for number in message.metadata.delta_path:
            node = node.children.setdefault(number, _Node())
        kind = message.delta.WhichOneof("type")
        if kind == "new_element":
            node.element = message.delta.new_element
        elif kind == "add_block":
            node.block = message.delta.add_block
    return _group(root.children.get(RootContainer.MAIN, _Node()), components, mode)


def _group(node: _Node, components: list[DrawnComponent], mode: str) -> Group:
    parts: list[Part] = []
    has_widgets = False
    for number in sorted(node.children):
        child = node.children[number]
        if child.element is not None:
            part = _part(child.element, components, mode)
            has_widgets |= part is None and child.element.WhichOneof("type") not in PART_KINDS
            parts += [part] if part is not None else []
        else:
            group = _group(child, components, mode)
            has_widgets |= group.has_widgets
            parts += [group] if group.parts else []
    return Group(parts=tuple(parts), has_widgets=has_widgets, **_layout(node.block))


def _layout(block: Any) -> dict[str, Any]:
    """Returns the key and layout of a block as fields of a Group."""
    if block is None:
        return {}
    layout: dict[str, Any] = {"key": block.id.split("-", 2)[2] if block.id else ""}
    kind = block.WhichOneof("type")
    if kind == "column":
        layout["weight"] = block.column.weight
    if kind == "flex_container":
        container = block.flex_container
        layout["is_row"] = container.direction == container.Direction.HORIZONTAL
        layout["gap_px"] = _gap_px(container.gap_config)
    return layout


def _gap_px(gap: Any) -> int:
    return gap.pixel_gap if gap.WhichOneof("gap_spec") == "pixel_gap" else GAPS_PX[gap.gap_size]


def _part(element: Any, components: list[DrawnComponent], mode: str) -> Part | None:
    """Returns an element as a part, or None for kinds that a file does not show."""
    kind = element.WhichOneof("type")
    if kind == "html":
        number = frontend.kept_number(element.html.body)
        return HtmlPart(element.html.body) if number is None else components[number]
    if kind == "markdown":
        return MarkdownPart(element.markdown.body)
    if kind == "code":
        return CodePart(element.code.code_text)
    if kind == "plotly_chart":
        figure = json.loads(element.plotly_chart.spec)
        figure_parts = {name: figure[name] for name in ("data", "layout")}
        text = json.dumps(figure_parts, separators=(",", ":"), ensure_ascii=False)
        return ChartPart({mode: text}, element.plotly_chart.alt)
    return None
