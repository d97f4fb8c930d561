"""The data source without Spark: a pickled reader, whose bytes are counted."""

import json
import pickle
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa

from kafkaviz.log import file
from kafkaviz.pipeline.datasource.source import SOURCES, KafkaReader, session_source


def reader_of(
    name: str,
    directory: Path,
    *,
    pushes_filters: bool = False,
    is_local: bool = True,
    **options: str,
) -> KafkaReader:
    """Returns the reader of all columns of a load with these options."""
    by_name = {source.name(): source for source in SOURCES}
    row_source = session_source(by_name[name], pushes_filters=pushes_filters, is_local=is_local)(
        {**options, "path": str(directory)}
    )
    return row_source.reader(row_source.schema())


def read(name: str, directory: Path, filters: Sequence[object] = (), **options: str) -> pa.Table:
    """Returns the rows that the reader gives before Spark filters them again."""
    reader = reader_of(name, directory, pushes_filters=True, **options)
    list(reader.pushFilters(list(filters)))
    reader, tasks = pickle.loads(pickle.dumps((reader, reader.partitions())))
    batches = [batch for task in tasks for batch in reader.read(task)]
    return pa.Table.from_batches(batches, reader.query.request.schema)


def read_together(name: str, directories: Sequence[Path | str], **options: str) -> pa.Table:
    """Returns the rows of one load of several directories."""
    paths = json.dumps(list(map(str, directories)))
    return read(name, Path(directories[0]), paths=paths, **options)


@contextmanager
def counted(monkeypatch) -> Iterator[SimpleNamespace]:
    """Counts the bytes that are read from files, and collects the names of the opened files.

    `by_suffix` has the bytes of those that are not read at once.
    """
    reads = SimpleNamespace(bytes=0, names=set(), by_suffix=Counter())
    reader, read_file, written = file.reader, file.read, file.read_data

    @contextmanager
    def counting(path: Path) -> Iterator:
        reads.names.add(path.name)
        with reader(path) as read:

            def count(position, buffer):
                data = read(position, buffer)
                reads.bytes += data
                reads.by_suffix[path.suffix] += data
                return data

            yield count

    def counting_all(function):
        def count(path, *arguments, **limits):
            result = function(path, *arguments, **limits)
            reads.names.add(path.name)
            reads.bytes += len(result[0] if function is written else result)
            return result

        return count

    with monkeypatch.context() as patch:
        patch.setattr(file, "reader", counting)
        patch.setattr(file, "read", counting_all(read_file))
        patch.setattr(file, "read_data", counting_all(written))
        yield reads
