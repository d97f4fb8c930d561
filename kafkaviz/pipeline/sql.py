"""A query that somebody typed: read by Spark's own parser before anything of it is run, and refused unless it only reads the catalog.

Spark SQL can do far more than ask: write and drop tables, read any file (SELECT * FROM text.`/etc/passwd`), start programs
(SELECT TRANSFORM … USING 'sh'), call any Java method (reflect). Judged is therefore not the text but the plan that the parser makes
of it: its nodes must be those of a question, its tables those of the catalog, and its functions none that leave the query.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from kafkaviz.errors import KafkavizError
from kafkaviz.pipeline.schema import TABLES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LONGEST = 8000  # characters of a query: it must fit into an address
NODES = frozenset({  # of a plan that only asks, as Spark 4.3's parser names them
    "Aggregate", "AsOfJoin", "Deduplicate", "Distinct", "Except", "Filter", "Generate", "GlobalLimit", "Intersect", "Join",
    "LateralJoin", "LocalLimit", "LocalRelation", "Offset", "OneRowRelation", "PipeOperator", "Pivot", "Project", "Range", "Sample",
    "Sort", "SubqueryAlias", "Tail", "Union", "UnionLoop", "Unpivot", "UnresolvedHaving", "UnresolvedHint", "UnresolvedInlineTable",
    "UnresolvedOrdinal", "UnresolvedRelation", "UnresolvedSubqueryColumnAliases", "UnresolvedTVFAliases",
    "UnresolvedTableValuedFunction", "UnresolvedWith", "View", "Window", "WithWindowDefinition",
})  # fmt: skip
REFUSED = re.compile(  # functions that call Java, read a file or a document type: the rest compute with what they are given
    "reflect|try_reflect|java_method|xpath.*|.*_protobuf|.*_avro|python_.*|ai_.*|http_.*|read_.*"
)
GROWS_BY = {"repeat": 1, "space": 0, "lpad": 1, "rpad": 1, "array_repeat": 1, "sequence": 1}  # which argument says how large a value gets
MOST_GROWN = 100_000  # times, all such functions of a query together: a value of gigabytes would take Spark's memory
GROWN = f"All such functions of a query may make a value {MOST_GROWN} times as large, not more"
_AT = re.compile(r"\(line (\d+), pos(?:ition)? (\d+)\)|; line (\d+) pos (\d+)")
_COLUMN = re.compile(r"`((?:[^`]|``)*)`")
_PATH = re.compile(rf"{_COLUMN.pattern}(?:\.{_COLUMN.pattern})*")  # of a table's column: `b`.`crc`


class Wrong(KafkavizError):
    """A query that is not run, or could not be: what is wrong with it, what to do, and which of its characters."""

    def __init__(self, what: str, advice: str = "", start: int | None = None, stop: int | None = None) -> None:
        """start, stop: characters of the query, stop behind the last; None where no place can be told."""
        super().__init__(f"{what}. {advice}".strip())
        self.what, self.advice, self.start, self.stop = what, advice, start, stop


@dataclass(frozen=True)
class Place:
    """A line of the query, from 1, its text, and which of its characters."""

    line: int
    text: str
    first: int
    last: int  # behind the last one

    @property
    def column(self) -> int:
        """From 1."""
        return self.first + 1


def place(sql: str, wrong: Wrong) -> Place | None:
    """Where a query is wrong; None where that cannot be told, or where it is all of the query."""
    if wrong.start is None or (wrong.start == 0 and wrong.stop is not None and wrong.stop >= len(sql.rstrip()) and "\n" in sql.strip()):
        return None
    start = min(wrong.start, len(sql))
    above = sql.rfind("\n", 0, start) + 1
    text = sql[above:].split("\n", 1)[0]
    first = start - above
    stop = wrong.stop - above if wrong.stop is not None else _end_of_word(text, first)
    return Place(sql.count("\n", 0, start) + 1, text, first, max(first + 1, min(stop, len(text))))


def tables(spark: "SparkSession", sql: str) -> tuple[str, ...]:
    """The tables of the catalog that a query reads. Raises Wrong where it is no single question, or asks for anything else."""
    if not sql.strip():
        raise Wrong("There is no query", "Start from a question on the left, or write a SELECT")
    if len(sql) > LONGEST:
        raise Wrong(f"The query has {len(sql)} characters", f"At most {LONGEST} are taken")
    plan = spark._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    nodes = list(_nodes(plan))
    for node in nodes:
        if (kind := _kind(node)) not in NODES:
            raise Wrong("Only a question is run here: one SELECT, or WITH … SELECT", _words(kind), *_span(node))
    for node in nodes:
        for expression in _expressions(node):
            _refuse_function(expression)
        if _kind(node) == "UnresolvedTableValuedFunction":
            _refuse_name(_strings(node.name()), node)
    _refuse_growing([expression for node in nodes for expression in _expressions(node)])
    named = {inner.alias().lower() for node in nodes if _kind(node) == "UnresolvedWith" for inner in _sequence(node.innerChildren())}
    return tuple(sorted({table for node in nodes if _kind(node) == "UnresolvedRelation" for table in _table(node, named)}))


def wrong(fault: Exception) -> Wrong | None:
    """What Spark had against a query, in its words but short; None where the query is not to blame."""
    from pyspark.errors import PySparkException

    condition = fault.getCondition() if isinstance(fault, PySparkException) else None
    if not condition or condition.startswith(("INTERNAL_ERROR", "FAILED_READ_FILE", "CANNOT_READ", "JOB_CANCELLED", "JAVA_")):
        return None
    given = fault.getMessageParameters() or {}
    what, advice = _told(condition, given, _message(fault))
    return Wrong(what, advice, *_where(fault))


def _told(condition: str, given: dict[str, str], message: str) -> tuple[str, str]:
    """The most common mistakes in our words, all others in Spark's first sentence, the rest of it as advice."""
    if condition == "PARSE_SYNTAX_ERROR":
        at = given.get("error", "").strip("'")
        return ("The query ends too early" if at in ("end of input", "<EOF>") else f"Not understood from {at} on"), ""
    if condition.startswith("UNRESOLVED_COLUMN"):
        near = ", ".join(_bare(one[0]) for one in _PATH.finditer(given.get("proposal", "")))
        return f"There is no column {_bare(given.get('objectName', ''))}", f"Columns like it: {near}" if near else ""
    if condition == "UNRESOLVED_ROUTINE":
        return f"There is no function {_bare(given.get('routineName', ''))}", "Spark SQL has those of its reference, Built-in Functions"
    if condition == "DIVIDE_BY_ZERO":
        return "A division by zero", "try_divide(a, b) gives NULL instead"
    first, _, rest = message.partition(". ")
    return first.rstrip("."), " ".join(rest.split("\n")[0].split()) if "spark." not in rest else ""


def _message(fault: Exception) -> str:
    """Spark's sentences, without the names and numbers of its error around them."""
    text = re.sub(r"^\[[A-Z0-9_.]+\]\s*", "", fault.getMessage() or str(fault).split("\n")[0])
    return " ".join(re.sub(r"\s*SQLSTATE: \w+\s*$", "", text).split())


def _where(fault: Exception) -> tuple[int | None, int | None]:
    """The characters of the query that Spark names."""
    for context in fault.getQueryContext():
        if 0 <= context.startIndex() <= context.stopIndex():
            return context.startIndex(), context.stopIndex() + 1
    found = _AT.search(getattr(fault, "_desc", None) or "")
    if not found:
        return None, None
    line, column = (int(one) for one in found.groups() if one is not None)
    text = getattr(fault, "_desc", "").partition("== SQL ==\n")[2]
    return sum(len(one) + 1 for one in text.split("\n")[: line - 1]) + column, None


def _bare(name: str) -> str:
    return ".".join(_COLUMN.findall(name)) or name


def _nodes(plan: Any) -> Iterator[Any]:
    """Every node of a plan as it was parsed, those of WITH and of subqueries too."""
    yield plan
    for below in (plan.children(), plan.innerChildren(), plan.subqueries()):
        for one in _sequence(below):
            if hasattr(one, "expressions"):
                yield from _nodes(one)
    for expression in _expressions(plan):
        if _kind(expression) == "FunctionTableSubqueryArgumentExpression":
            yield from _nodes(expression.plan())


def _expressions(node: Any) -> Iterator[Any]:
    for expression in _sequence(node.expressions()):
        yield from _below(expression)


def _below(expression: Any) -> Iterator[Any]:
    yield expression
    for one in _sequence(expression.children()):
        yield from _below(one)


def _refuse_function(expression: Any) -> None:
    kind = _kind(expression)
    if kind == "UnresolvedFunction":
        _refuse_name(_strings(expression.nameParts()), expression)
    elif kind == "UnresolvedGenerator":
        _refuse_name([expression.name().funcName()], expression)
    elif kind in ("FunctionExpressionWithUnresolvedIdentifier", "ExpressionWithUnresolvedIdentifier"):
        raise Wrong("A function's name is written as it is here, not worked out", "", *_span(expression))


def _refuse_name(parts: list[str], node: Any) -> None:
    """Raises Wrong for a function that reaches out of the query."""
    if REFUSED.fullmatch(parts[-1].lower()):
        raise Wrong(f"The function {parts[-1]} is not run here", "It could reach beyond the catalog", *_span(node))


def _refuse_growing(expressions: list[Any]) -> None:
    """Raises Wrong where functions that make a value as large as a number says could make one that no memory holds.

    repeat(repeat(a, 1000), 1000) is a million times a, so what counts is the product; a number that is worked out is not known here,
    but for the end of a sequence, which may be a date.
    """
    grown = 1
    for one in expressions:
        name = _strings(one.nameParts())[-1].lower() if _kind(one) == "UnresolvedFunction" else ""
        arguments = _sequence(one.arguments()) if name in GROWS_BY else []
        if len(arguments) <= GROWS_BY.get(name, 0):
            continue  # no such function, or too few arguments for it, which Spark itself says
        size = arguments[GROWS_BY[name]]
        value = size.value() if _kind(size) == "Literal" else None
        if not isinstance(value, int) and name != "sequence":
            raise Wrong(f"{name} takes a number here that is written out", GROWN, *_span(one))
        grown *= max(value, 1) if isinstance(value, int) else 1
        if grown > MOST_GROWN:
            raise Wrong(f"{name} would make a value too large", GROWN, *_span(one))


def _table(node: Any, named: set[str]) -> Iterator[str]:
    """The table of the catalog that a relation names, none where WITH gave it that name."""
    parts = _strings(node.multipartIdentifier())
    name = parts[-1].lower()
    if len(parts) == 1 and name in named:
        return
    if len(parts) > 1 or name not in TABLES:
        near = get_close_matches(name, TABLES, n=1)
        told = f"Did you mean {near[0]}?" if near and len(parts) == 1 else f"A catalog has {', '.join(TABLES)}"
        raise Wrong(f"There is no table {'.'.join(parts)}", told, *_span(node))
    yield name


def _words(kind: str) -> str:
    """What the parser took it for: Spark's CreateTableAsSelect reads create table as select."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).lower()
    return f"This one is read as “{words.removeprefix('unresolved ').removesuffix(' command').removesuffix(' statement')}”"


def _span(node: Any) -> tuple[int | None, int | None]:
    """The characters of the query that a node was made of."""
    start, stop = node.origin().startIndex(), node.origin().stopIndex()
    return (start.get(), stop.get() + 1) if start.isDefined() and stop.isDefined() else (None, None)


def _kind(node: Any) -> str:
    """The node's class: "OneRowRelation" for the object of that name too."""
    return node.getClass().getSimpleName().rstrip("$")


def _sequence(found: Any) -> list[Any]:
    return [found.apply(place) for place in range(found.length())]


def _strings(found: Any) -> list[str]:
    return [str(one) for one in _sequence(found)]


def _end_of_word(text: str, first: int) -> int:
    found = re.match(r"\w+|\S", text[first:])
    return first + (found.end() if found else 1)
