"""The transactions around one segment, on an offset axis with a lane per producer.

An aborted transaction is hatched, and an open one has no right end. A strip below the lanes shows
what a read_committed consumer gets: offsets that are delivered, skipped or withheld.

At most `MAX_TRANSACTIONS` in `MAX_LANES` are drawn: open transactions first, then the newest ones.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from html import escape
from operator import attrgetter

from kafkaviz import units
from kafkaviz.analysis.transactions.listing import (
    Outcome,
    PartitionTransactions,
    Transaction,
    name_producer,
)
from kafkaviz.analysis.transactions.read_committed import (
    OffsetFate,
    OffsetRun,
    ReadRuns,
    count_offsets,
)
from kafkaviz.figures import theme
from kafkaviz.figures.theme import PlainFigure
from kafkaviz.messages import Message, message, render, say, say_count
from kafkaviz.render.log_text import describe_verdict, start_cell
from kafkaviz.render.sentences import capitalize, count_range, join_sentences, to_sentence
from kafkaviz.units import format_count

MAX_TRANSACTIONS = 40
MAX_LANES = 12
ID_CHARACTERS = 18
ROW_PX = 38
BAR_PX = 18
GAP_PX = 2  # between transactions of a producer without an offset in between
TOP_PX = 24
BOTTOM_PX = 28
LEFT_PX = 196
RIGHT_PX = 16
HEADS = (
    "common.offsets", "transaction_lanes.head_producer", "segment.head_epoch",
    "transaction_lanes.head_outcome", "transaction_lanes.head_began", "transaction_lanes.head_took",
    "transaction_lanes.head_marker",
)  # fmt: skip
COLUMNS = tuple(each.name for each in fields(Transaction))


@dataclass(frozen=True, kw_only=True)
class TransactionBar:
    """A drawn transaction. It ends at its marker; an open one ends at the log end offset."""

    first_offset: int
    end_offset: int
    outcome: Outcome
    hover_lines: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Lane:
    name: str
    epochs: str
    bars: tuple[TransactionBar, ...]


@dataclass(frozen=True, kw_only=True)
class TransactionLanesView:
    """The drawn transactions of a range of offsets."""

    title: str
    question: str
    caption: str
    held_by: str  # a sentence on the open transaction that stops the last stable offset, or ""
    lanes: tuple[Lane, ...]
    # the offsets that read_committed gets, skips or waits for; empty if unknown
    runs: tuple[OffsetRun, ...]
    segment_offset: int
    first_offset: int  # the start of the range; old transactions before it may be left out
    end_offset: int  # the end of the range, exclusive
    stable_offset: int | None  # the last stable offset; None if it is after the range, or unknown
    # the base offset of the segment with the last stable offset; None if that is the drawn segment,
    # if the last stable offset is the log end offset, or if it is unknown
    stop_segment: int | None
    transactions: tuple[Transaction, ...]  # the drawn ones, the newest first

    @property
    def legend(self) -> list[str]:
        """The names of the legend's entries: one for each kind of bar or line that is drawn."""
        drawn = {transaction.outcome for transaction in self.transactions}
        names = [str(outcome) for outcome in Outcome if outcome in drawn]
        if drawn - {Outcome.OPEN}:
            names.append("marker")
        if self.stable_offset is not None:
            names.append("stable_key")
        return names

    @property
    def counts(self) -> dict[OffsetFate, str]:
        """For each fate, such as "withheld", the number of offsets in words."""
        return {
            fate: say_count(f"transaction_lanes.n_{fate}", count)
            for fate, count in count_offsets(self.runs).items()
        }

    @property
    def counted(self) -> str:
        return say_count("transaction_lanes.gets", self.end_offset - self.first_offset)


def view(
    transactions: PartitionTransactions,
    segment_offset: int,
    base_offsets: Iterable[int],
    *,
    read_runs: ReadRuns = lambda _first, _end: (),
    newest_ms: int | None = None,
) -> TransactionLanesView:
    """Returns the lanes of the transactions that overlap the segment at `segment_offset`.

    Args:
        base_offsets: the base offsets of all segments of the log.
        read_runs: called with (first offset, end offset); returns what a read_committed consumer
            gets from this range.
        newest_ms: the newest timestamp of the log directory; None if unknown.
    """
    base_offsets = tuple(base_offsets)
    log_end = _end_of_log(transactions)
    end_offset = min((base for base in base_offsets if base > segment_offset), default=log_end)
    first_offset = segment_offset
    inside = [
        transaction
        for transaction in transactions.transactions
        if transaction.first_offset < end_offset and _end(transaction, log_end) >= first_offset
    ]
    inside.sort(key=lambda each: (_end(each, log_end), each.first_offset), reverse=True)
    newest = inside[:MAX_TRANSACTIONS]
    if len(inside) > len(newest):  # from this offset on, no transaction is left out
        first_offset = max(first_offset, _end(inside[len(newest)], log_end) + 1)
    by_producer: dict[int, list[Transaction]] = {}
    for transaction in newest:
        by_producer.setdefault(transaction.producer_id, []).append(transaction)
    drawn = list(by_producer)[:MAX_LANES]
    stable_offset = transactions.last_stable_offset
    stop_segment = None
    if stable_offset not in (None, log_end) and not (segment_offset <= stable_offset < end_offset):
        stop_segment = max((base for base in base_offsets if base <= stable_offset), default=None)
    if stable_offset is not None and stable_offset >= end_offset:
        stable_offset = None
    return TransactionLanesView(
        title=_title(transactions, end_offset, stop_segment),
        question=say("transaction_lanes.question"),
        caption=join_sentences(
            [
                say("transaction_lanes.below", first=first_offset, last=end_offset - 1),
                _count("older", len(inside) - len(newest)),
                _count("producers", len(by_producer) - len(drawn)),
            ]
        ),
        held_by=_held_by(transactions, newest_ms),
        runs=read_runs(first_offset, end_offset),
        lanes=tuple(_lane(by_producer[producer_id], log_end) for producer_id in sorted(drawn)),
        segment_offset=segment_offset,
        first_offset=first_offset,
        end_offset=end_offset,
        stable_offset=stable_offset,
        stop_segment=stop_segment,
        transactions=tuple(each for each in newest if each.producer_id in drawn),
    )


def _end_of_log(transactions: PartitionTransactions) -> int:
    """Returns the log end offset. If this is unknown, returns the offset after all transactions."""
    if transactions.log_end is not None:
        return transactions.log_end
    last_offsets = (
        each.last_offset if each.marker_offset is None else each.marker_offset
        for each in transactions.transactions
    )
    return max((offset + 1 for offset in last_offsets if offset is not None), default=0)


def _end(transaction: Transaction, log_end: int) -> int:
    return log_end if transaction.marker_offset is None else transaction.marker_offset


def _count(key: str, count: int) -> str:
    return say_count(f"transaction_lanes.{key}", count) if count else ""


def _title(transactions: PartitionTransactions, end_offset: int, stop_segment: int | None) -> str:
    stable_offset = transactions.last_stable_offset
    if stable_offset is None:
        return say("transaction_lanes.title_unknown")
    if stop_segment is not None:
        key = "title_past" if stable_offset >= end_offset else "title_before"
        return say(f"transaction_lanes.{key}", offset=stable_offset, segment=stop_segment)
    if stable_offset > end_offset:
        return say("transaction_lanes.title_past_end")
    if transactions.held_by is not None:
        who = transactions.held_by.producer_name
        return say("transaction_lanes.title", offset=stable_offset, producer=who)
    is_end = stable_offset == transactions.log_end
    return say(f"transaction_lanes.title_{'end' if is_end else 'stops'}", offset=stable_offset)


def _held_by(transactions: PartitionTransactions, newest_ms: int | None) -> str:
    held_by = transactions.held_by
    if held_by is None or transactions.last_stable_offset is None:
        return ""
    sentence = say_count(
        "transaction_lanes.held",
        _end_of_log(transactions) - transactions.last_stable_offset,
        offset=transactions.last_stable_offset,
        producer=held_by.producer_name,
        epoch=held_by.producer_epoch,
        since=_began(held_by),
    )
    age = ""
    is_start_known = held_by.begins_before_log is False and held_by.start_ms is not None
    if is_start_known and newest_ms is not None and newest_ms >= held_by.start_ms:
        age = say("transaction_lanes.age", age=newest_ms - held_by.start_ms, moment=newest_ms)
    verdict = to_sentence(describe_verdict(transactions.hold)) if transactions.hold else ""
    return join_sentences([sentence, age, verdict])


def _began(transaction: Transaction) -> Message:
    if transaction.begins_before_log is not False:
        known = "before" if transaction.begins_before_log else "maybe_before"
        return message(f"transaction_lanes.began_{known}")
    return message("transaction_lanes.began", moment=transaction.start_ms)


def _lane(transactions: Sequence[Transaction], log_end: int) -> Lane:
    """Returns the lane of one producer. The newest transaction must be first."""
    newest = transactions[0]
    name = render(name_producer(newest.producer_id, _cut(newest.transactional_id)))
    epochs = [transaction.producer_epoch for transaction in transactions]
    first = min(epochs)
    last = max(epochs)
    epoch_text = say("compare.epoch", epoch=last)
    if first < last:
        epoch_text = say("transaction_lanes.epochs", first=first, last=last)
    bars = (
        TransactionBar(
            first_offset=transaction.first_offset,
            end_offset=_end(transaction, log_end),
            outcome=transaction.outcome,
            hover_lines=_hover_lines(transaction),
        )
        for transaction in transactions
    )
    return Lane(name=name, epochs=epoch_text, bars=tuple(bars))


def _cut(transactional_id: str | None) -> str | None:
    if transactional_id is None:
        return None
    line = units.escape_line(transactional_id)
    return line if len(line) <= ID_CHARACTERS else f"{line[: ID_CHARACTERS - 1]}…"


def _hover_lines(transaction: Transaction) -> tuple[str, ...]:
    return (
        say(
            "transaction_lanes.hover_producer",
            producer=transaction.producer_name,
            epoch=transaction.producer_epoch,
        ),
        say(
            f"transaction_lanes.hover_{transaction.outcome}",
            offsets=_offsets(transaction),
            marker=transaction.marker_offset or 0,
        ),
        capitalize(render(_began(transaction))),
    )


def _offsets(transaction: Transaction) -> str:
    if transaction.last_offset is None:
        return units.MISSING
    return count_range(transaction.first_offset, transaction.last_offset)


def _took(transaction: Transaction) -> str:
    is_start_known = transaction.begins_before_log is False
    if not is_start_known or transaction.end_ms is None or transaction.start_ms is None:
        return units.MISSING
    return units.duration(transaction.end_ms - transaction.start_ms)


def rows(lanes_view: TransactionLanesView) -> list[tuple[str, ...]]:
    """Returns the drawn transactions as rows of `HEADS`, the highest first offset first."""
    newest_first = sorted(lanes_view.transactions, key=lambda each: each.first_offset, reverse=True)
    return [
        (
            _offsets(transaction),
            render(transaction.producer_name),
            str(transaction.producer_epoch),
            say(f"transaction_lanes.{transaction.outcome}"),
            start_cell(transaction),
            _took(transaction),
            format_count(transaction.marker_offset),
        )
        for transaction in newest_first
    ]


def values(transactions: PartitionTransactions) -> list[tuple]:
    """Returns all transactions as CSV rows of `COLUMNS`."""
    return list(map(attrgetter(*COLUMNS), transactions.transactions))


def question_figure(lanes_view: TransactionLanesView, mode: str) -> PlainFigure:
    """Draws the lanes without the last stable offset, which the question asks for."""
    return figure(lanes_view, mode, is_answered=False)


def figure(lanes_view: TransactionLanesView, mode: str, *, is_answered: bool = True) -> PlainFigure:
    colours = theme.colours(mode)
    names = [f"{escape(lane.name, quote=False)}<br>{lane.epochs}" for lane in lanes_view.lanes]
    traces = [_bar_trace(lanes_view, outcome, colours) for outcome in Outcome]
    traces += [_gap_trace(lanes_view, colours), _marker_trace(lanes_view, colours)]
    shapes = []
    annotations = []
    if is_answered and lanes_view.runs:
        traces += _strip_traces(lanes_view.runs, len(names), colours)
        names.append(say("transaction_lanes.strip"))
    if is_answered and lanes_view.stable_offset is not None:
        start = max(lanes_view.stable_offset, lanes_view.first_offset)
        place = {"x0": start, "x1": lanes_view.end_offset, "yref": "paper", "y0": 0, "y1": 1}
        line = {"color": colours["probe"], "width": 2}
        shapes = [theme.area(colours["press"]) | place, theme.vertical_line(start, line)]
        annotations = [_stable_note(lanes_view, lanes_view.stable_offset, colours)]
    height_px = TOP_PX + ROW_PX * max(1, len(names)) + BOTTOM_PX
    layout = theme.plain_layout(mode, height_px, (LEFT_PX, RIGHT_PX, TOP_PX, BOTTOM_PX)) | {
        "barmode": "overlay",
        "hovermode": "closest",
        "xaxis": {
            "range": [lanes_view.first_offset, lanes_view.end_offset],
            "tickformat": ",d",
            "nticks": 9,
            **theme.PLAIN_AXIS,
            **theme.outside_ticks(colours),
        },
        "yaxis": theme.row_axis(names, 10),
        "shapes": [*_lines(lanes_view, colours), *shapes, *_open_ends(lanes_view, colours)],
        "annotations": annotations,
    }
    return PlainFigure({"data": traces, "layout": layout})


def _placed_bars(
    lanes_view: TransactionLanesView, outcome: Outcome | None = None
) -> list[tuple[int, TransactionBar]]:
    return [
        (row, bar)
        for row, lane in enumerate(lanes_view.lanes)
        for bar in lane.bars
        if outcome in (None, bar.outcome)
    ]


def _bar_trace(lanes_view: TransactionLanesView, outcome: Outcome, colours: dict[str, str]) -> dict:
    placed = _placed_bars(lanes_view, outcome)
    marker = {"color": colours["log"], "line": {"color": colours["log"], "width": 1}}
    if outcome == Outcome.ABORTED:
        marker["pattern"] = _hatch(colours)
    elif outcome == Outcome.OPEN:
        marker = {"color": colours["warning_soft"], "line": {"width": 0}}
    spans = [
        (row, bar.first_offset, max(1, bar.end_offset - bar.first_offset)) for row, bar in placed
    ]
    hover_texts = [
        "<br>".join(escape(line, quote=False) for line in bar.hover_lines) for _, bar in placed
    ]
    return _bars(str(outcome), spans, marker, hover_texts)


def _bars(
    name: str, spans: Sequence[tuple[int, int, int]], marker: dict, hover_texts: list[str]
) -> dict:
    """Draws a bar for each span: (row, first offset, number of offsets)."""
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "base": [first_offset for _, first_offset, _ in spans],
        "x": [count for _, _, count in spans],
        "y": [row for row, _, _ in spans],
        "width": BAR_PX / ROW_PX,
        "marker": marker,
        **theme.hover(hover_texts),
    }


def _hatch(colours: Mapping[str, str]) -> dict:
    pattern = {"shape": "\\", "fgcolor": colours["log"], "bgcolor": colours["raised"]}
    return pattern | {"size": 5, "solidity": 0.3}


def _open_ends(lanes_view: TransactionLanesView, colours: dict[str, str]) -> Iterable[dict]:
    half = BAR_PX / ROW_PX / 2
    for row, bar in _placed_bars(lanes_view, Outcome.OPEN):
        first = max(bar.first_offset, lanes_view.first_offset)
        last = min(bar.end_offset, lanes_view.end_offset)
        top = row - half
        bottom = row + half
        path = f"M {last},{top} L {first},{top} L {first},{bottom} L {last},{bottom}"
        line = {"color": colours["warning"], "width": 2}
        yield {"type": "path", "path": path, "line": line, "fillcolor": "rgba(0,0,0,0)"}


def _gap_trace(lanes_view: TransactionLanesView, colours: dict[str, str]) -> dict:
    """Draws a gap between two transactions of one producer if no offset is between them."""
    places = []
    for row, lane in enumerate(lanes_view.lanes):
        ends = {bar.end_offset + 1 for bar in lane.bars}
        places += [(bar.first_offset, row) for bar in lane.bars if bar.first_offset in ends]
    return _ticks("gaps", places, BAR_PX + 2, {"color": colours["raised"], "width": 2 * GAP_PX})


def _strip_traces(runs: Iterable[OffsetRun], row: int, colours: dict[str, str]) -> Iterable[dict]:
    runs_by_fate: dict[OffsetFate, list[OffsetRun]] = defaultdict(list)
    for run in runs:
        runs_by_fate[run.fate].append(run)
    no_line = {"width": 0}
    outline = {"color": colours["log"], "width": 1}
    markers = {
        OffsetFate.DELIVERED: {"color": colours["log"], "line": no_line},
        OffsetFate.SKIPPED: {"color": colours["log"], "pattern": _hatch(colours), "line": outline},
        OffsetFate.WITHHELD: {"color": colours["line_2"], "line": no_line},
    }
    for fate, marker in markers.items():
        drawn = runs_by_fate[fate]
        spans = [(row, run.first_offset, run.end_offset - run.first_offset) for run in drawn]
        yield _bars(str(fate), spans, marker, list(map(_describe_run, drawn)))
    places = [
        (offset, row)
        for run in runs_by_fate[OffsetFate.MARKER]
        for offset in range(run.first_offset, run.end_offset)
    ]
    yield _marker_ticks("strip markers", places, colours)


def _describe_run(run: OffsetRun) -> str:
    offsets = count_range(run.first_offset, run.end_offset - 1)
    return say(f"transaction_lanes.hover_{run.fate}", offsets=offsets)


def _ticks(name: str, places: Sequence[tuple[int, int]], size: float, line: dict) -> dict:
    """Draws a vertical tick at each of `places`, which are (offset, row)."""
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "hoverinfo": "skip",
        "x": [offset for offset, _ in places],
        "y": [row for _, row in places],
        "marker": {"symbol": "line-ns", "size": size, "line": line},
    }


def _marker_ticks(name: str, places: Sequence[tuple[int, int]], colours: Mapping[str, str]) -> dict:
    return _ticks(name, places, BAR_PX - 4, {"color": colours["ink_2"], "width": 1.6})


def _marker_trace(lanes_view: TransactionLanesView, colours: dict[str, str]) -> dict:
    ended = [(row, bar) for row, bar in _placed_bars(lanes_view) if bar.outcome != Outcome.OPEN]
    return _marker_ticks("markers", [(bar.end_offset, row) for row, bar in ended], colours)


def _lines(lanes_view: TransactionLanesView, colours: dict[str, str]) -> list[dict]:
    line = {"color": colours["line"], "width": 1}
    return [
        theme.straight_line(0, 1, row, row, xref="paper", line=line, layer="below")
        for row in range(len(lanes_view.lanes))
    ]


def _stable_note(
    lanes_view: TransactionLanesView, stable_offset: int, colours: dict[str, str]
) -> dict:
    start = max(stable_offset, lanes_view.first_offset)
    is_left = 2 * start < lanes_view.first_offset + lanes_view.end_offset
    return theme.note(
        say("transaction_lanes.stable", offset=stable_offset),
        colours["ink"],
        x=start,
        xanchor="left" if is_left else "right",
        yref="paper",
        y=1,
        yanchor="bottom",
    )
