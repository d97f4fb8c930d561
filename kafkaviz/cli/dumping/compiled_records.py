"""Prints records with compiled code, many batches per call.

With 128 MiB of records of 400 bytes, `kafkaviz dump --print-data-log` takes 3.0 s instead of 7.4 s.
The output is the same as from record_lines, but record_lines refuses a record with more than
MAX_HEADERS headers. This module prints only undamaged data batches of magic 2 whose records hold
UTF-8 text. It stops before any other batch, and before a batch whose lines may not fit into its
buffer. record_lines then prints the batch. It prints all batches itself if a decoder other than
StringDecoder prints keys or values, or with --skip-record-metadata.
"""

import numpy as np

from kafkaviz.binary.lazy_njit import njit
from kafkaviz.cli.dumping.lines import NUMBER_BYTES, decimal
from kafkaviz.format.batch import CONTROL, LOG_APPEND_TIME
from kafkaviz.format.batch_records import record_sequence
from kafkaviz.format.record import MIN_BYTES, ROW, take_header, take_record

ROOM_BYTES = 32 << 20  # takes memory only up to the longest text that is written
_OTHER = -1  # a record that this module does not print
_OFFSET = np.frombuffer(b"| offset: ", np.uint8)
_CREATE = np.frombuffer(b" CreateTime: ", np.uint8)
_APPEND = np.frombuffer(b" LogAppendTime: ", np.uint8)
_KEY_SIZE = np.frombuffer(b" keySize: ", np.uint8)
_VALUE_SIZE = np.frombuffer(b" valueSize: ", np.uint8)
_SEQUENCE = np.frombuffer(b" sequence: ", np.uint8)
_HEADERS = np.frombuffer(b" headerKeys: [", np.uint8)
_KEY = np.frombuffer(b" key: ", np.uint8)
_PAYLOAD = np.frombuffer(b" payload: ", np.uint8)
_END = np.frombuffer(b"]", np.uint8)
_WORDS = (_OFFSET, _APPEND, _KEY_SIZE, _VALUE_SIZE, _SEQUENCE, _HEADERS, _KEY, _PAYLOAD, _END)
# The most bytes by which the line of a record, with its newline, is longer than the record: words,
# five numbers and the newline. Header names, key and value are parts of the record. The comma after
# a header's name takes less than the sizes of its name and value, two bytes or more of the record.
_LINE_BYTES = sum(map(len, _WORDS)) + 1 + 5 * NUMBER_BYTES


class LineBuffer:
    """A buffer that compiled code fills with the lines of batches and of their records.

    Attributes:
        last_offset: the offset of the last record printed; -1 before the first record.
    """

    def __init__(self, room_bytes: int = ROOM_BYTES) -> None:
        self.last_offset = -1
        self._text = np.empty(room_bytes, np.uint8)
        # the offsets before and after each gap; at most one per record, so there are rows for the
        # records of any batch whose lines fit
        self._gaps = np.empty((room_bytes // _LINE_BYTES, 2), np.int64)

    def print(
        self,
        batches: np.ndarray,
        data: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
        *,
        compressed: bool,
        prints: bool,
        lines: np.ndarray,
        line_ends: np.ndarray,
    ) -> tuple[int, bytes, dict[int, int]]:
        """Prints the line of each batch, followed by the lines of the batch's records.

        Args:
            data: the decompressed records of a batch are `data[start:end]`.
            prints: whether keys and values are printed.
            lines: the lines of the batches, as bytes (uint8).
            line_ends: line `i` is `lines[line_ends[i]:line_ends[i + 1]]`.

        Returns:
            (number of batches printed, their text, gaps between offsets). The key of a gap is the
            offset before it, the value is the offset after it. The number of batches is 0 if this
            module does not print the first batch.
        """
        count, used_bytes, used_gaps, self.last_offset = _print(
            batches,
            data,
            starts,
            ends,
            compressed,
            prints,
            lines,
            line_ends,
            self._text,
            self._gaps,
            self.last_offset,
            np.zeros(1, ROW),
        )
        gaps = dict(self._gaps[:used_gaps].tolist())
        return count, self._text[:used_bytes].tobytes(), gaps


@njit(cache=True, boundscheck=True)
def _print(
    batches: np.ndarray,
    data: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    compressed: bool,
    prints: bool,
    lines: np.ndarray,
    line_ends: np.ndarray,
    out: np.ndarray,
    gaps: np.ndarray,
    last_offset: int,
    table: np.ndarray,
) -> tuple[int, int, int, int]:
    """Prints batches. Stops before one that may not fit or that this module does not print.

    Returns:
        (number of batches printed, bytes used in `out`, rows used in `gaps`, offset of the last
        record).
    """
    count = 0
    used_bytes = 0
    used_gaps = 0
    while count < len(batches):
        record_count = batches[count].record_count
        records_bytes = ends[count] - starts[count]
        if records_bytes < 0 or record_count < 0 or batches[count].attributes & CONTROL:
            break
        line_start = line_ends[count]
        line_end = line_ends[count + 1]
        # a header may claim more records than there is space for; _records stops at the first one
        # that is missing
        most_records = min(record_count, records_bytes // MIN_BYTES)
        most_bytes = line_end - line_start + records_bytes + most_records * _LINE_BYTES
        if used_bytes + most_bytes > len(out) or used_gaps + most_records > len(gaps):
            break
        new_bytes, new_gaps, new_offset = _records(
            batches,
            count,
            data,
            starts[count],
            ends[count],
            compressed,
            prints,
            out,
            _copy(lines, line_start, line_end, out, used_bytes),
            gaps,
            used_gaps,
            last_offset,
            table,
        )
        if new_bytes == _OTHER:
            break
        used_bytes = new_bytes
        used_gaps = new_gaps
        last_offset = new_offset
        count += 1
    return count, used_bytes, used_gaps, last_offset


@njit(cache=True, boundscheck=True)
def _records(
    batches: np.ndarray,
    place: int,
    data: np.ndarray,
    position: int,
    end: int,
    compressed: bool,
    prints: bool,
    out: np.ndarray,
    out_position: int,
    gaps: np.ndarray,
    used_gaps: int,
    last_offset: int,
    table: np.ndarray,
) -> tuple[int, int, int]:
    """Prints the lines of a batch's records. The caller ensures that `out` has room for them.

    Returns:
        (bytes used in `out`, rows used in `gaps`, offset of the last record). The first number is
        _OTHER if this module does not print one of the records.
    """
    batch = batches[place]
    row = table[0]
    for _ in range(batch.record_count):
        fault, record_end, _, _ = take_record(data, position, end, compressed, row)
        if fault or not _is_text(data, row, prints):
            return _OTHER, used_gaps, last_offset
        offset = batch.base_offset + row.offset_delta
        if offset != last_offset + 1:
            gaps[used_gaps, 0] = last_offset
            gaps[used_gaps, 1] = offset
            used_gaps += 1
        out_position = _line(batch, offset, data, row, prints, out, out_position)
        last_offset = offset
        position = record_end
    if batch.record_count > 0 and position < end:  # bytes after the last record are damage
        return _OTHER, used_gaps, last_offset
    return out_position, used_gaps, last_offset


@njit(cache=True, boundscheck=True)
def _line(
    batch: np.record,
    offset: int,
    data: np.ndarray,
    row: np.record,
    prints: bool,
    out: np.ndarray,
    out_position: int,
) -> int:
    end = _number(_OFFSET, offset, out, out_position)
    if batch.attributes & LOG_APPEND_TIME:
        end = _number(_APPEND, batch.max_timestamp_ms, out, end)
    else:
        end = _number(_CREATE, batch.base_timestamp_ms + row.timestamp_delta_ms, out, end)
    end = _number(_KEY_SIZE, max(-1, row.key_size_bytes), out, end)
    end = _number(_VALUE_SIZE, max(-1, row.value_size_bytes), out, end)
    end = _number(_SEQUENCE, record_sequence(batch.base_sequence, row.offset_delta), out, end)
    end = _header_names(data, row, out, _copy_words(_HEADERS, out, end))
    end = _copy_words(_END, out, end)
    if prints and row.key_size_bytes >= 0:
        end = _copy_words(_KEY, out, end)
        end = _copy(data, row.key_position, row.key_position + row.key_size_bytes, out, end)
    if prints and row.value_size_bytes >= 0:
        end = _copy_words(_PAYLOAD, out, end)
        end = _copy(data, row.value_position, row.value_position + row.value_size_bytes, out, end)
    out[end] = 10
    return end + 1


@njit(cache=True, boundscheck=True)
def _number(words: np.ndarray, number: int, out: np.ndarray, out_position: int) -> int:
    """Writes words and a number. Returns the position after them."""
    return decimal(number, out, _copy_words(words, out, out_position))


@njit(cache=True, boundscheck=True)
def _header_names(data: np.ndarray, row: np.record, out: np.ndarray, out_position: int) -> int:
    position = row.headers_position
    for header in range(row.header_count):
        if header:
            out[out_position] = 44
            out_position += 1
        _, name, name_size, value, value_size = take_header(data, position, len(data))
        out_position = _copy(data, name, name + name_size, out, out_position)
        position = value + max(value_size, 0)
    return out_position


@njit(cache=True, boundscheck=True)
def _is_text(data: np.ndarray, row: np.record, prints: bool) -> bool:
    position = row.headers_position
    for _ in range(row.header_count):
        _, name, name_size, value, value_size = take_header(data, position, len(data))
        if not is_utf8(data, name, name + name_size):
            return False
        position = value + max(value_size, 0)
    if not prints:
        return True
    key_end = row.key_position + max(row.key_size_bytes, 0)
    value_end = row.value_position + max(row.value_size_bytes, 0)
    has_text_key = is_utf8(data, row.key_position, key_end)
    return has_text_key and is_utf8(data, row.value_position, value_end)


@njit(cache=True, boundscheck=True)
def is_utf8(data: np.ndarray, start: int, end: int) -> bool:
    """Returns whether data[start:end] is valid UTF-8.

    Overlong forms, surrogates and code points above U+10FFFF are invalid.
    """
    position = start
    while position < end:
        lead = data[position]
        if lead < 0x80:
            position += 1
            continue
        if 0xC2 <= lead <= 0xDF:
            more_bytes = 1
        elif 0xE0 <= lead <= 0xEF:
            more_bytes = 2
        elif 0xF0 <= lead <= 0xF4:
            more_bytes = 3
        else:
            more_bytes = 0
        if more_bytes == 0 or position + more_bytes >= end:
            return False
        if lead == 0xE0:
            least = 0xA0
        elif lead == 0xF0:
            least = 0x90
        else:
            least = 0x80
        if lead == 0xED:
            most = 0x9F
        elif lead == 0xF4:
            most = 0x8F
        else:
            most = 0xBF
        if not least <= data[position + 1] <= most:
            return False
        for place in range(2, more_bytes + 1):
            if not 0x80 <= data[position + place] <= 0xBF:
                return False
        position += more_bytes + 1
    return True


@njit(cache=True)
def _copy_words(words: np.ndarray, out: np.ndarray, out_position: int) -> int:
    return _copy(words, 0, len(words), out, out_position)


@njit(cache=True, boundscheck=True)
def _copy(data: np.ndarray, start: int, end: int, out: np.ndarray, out_position: int) -> int:
    for place in range(end - start):
        out[out_position + place] = data[start + place]
    return out_position + end - start
