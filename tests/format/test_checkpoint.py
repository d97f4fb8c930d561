"""The text files, against the bytes of real directories and the rules of Kafka 4.3 and Java."""

import time
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafkaviz.errors import CannotOpen, CorruptBytes
from kafkaviz.format import checkpoint
from kafkaviz.format.checkpoint import PartitionMetadata
from kafkaviz.simulate.startup import small_files

LINE = "Malformed line in checkpoint file: "
METADATA_LINE = "Malformed line in partition metadata file: "
PARSERS = [
    checkpoint.parse_offsets,
    checkpoint.parse_leader_epochs,
    checkpoint.parse_properties,
    checkpoint.parse_partition_metadata,
    checkpoint.parse_clean_shutdown,
    checkpoint.parse_quorum_state,
]


def test_offsets_by_topic_and_partition():
    """Kafka 4.3.1 writes the recovery-point-offset-checkpoint in no particular order."""
    text = "0\n3\norders 0 38736\neu-west.audit-log 0 2500\n__transaction_state 1 737\n"
    assert checkpoint.parse_offsets(text) == {
        ("orders", 0): 38736,
        ("eu-west.audit-log", 0): 2500,
        ("__transaction_state", 1): 737,
    }


def test_leader_epochs_in_order():
    """leader-epoch-checkpoint of a partition that had three leaders."""
    assert checkpoint.parse_leader_epochs(b"0\n3\n0 0\n1 1200\n4 1200\n") == [
        (0, 0),
        (1, 1200),
        (4, 1200),
    ]


@pytest.mark.parametrize("parse", PARSERS[:2])
def test_an_empty_checkpoint_has_no_entries(parse):
    """An empty file, one that ends after its version, and one that counts no entries."""
    assert list(parse("")) == list(parse("0\n")) == list(parse("0\n0\n")) == []


def test_lines_may_end_as_on_other_systems():
    r"""Java accepts \n, \r\n and \r, and several spaces or tabs between fields."""
    assert checkpoint.parse_offsets(b"0\r\n2\rorders 0 \t7 \norders\t1 8") == {
        ("orders", 0): 7,
        ("orders", 1): 8,
    }


def test_numbers_may_have_a_sign():
    assert checkpoint.parse_offsets("0\n2\norders 0 -1\norders +1 +8\n") == {
        ("orders", 0): -1,
        ("orders", 1): 8,
    }


@pytest.mark.parametrize(
    ("text", "position", "what"),
    [
        ("1\n0\n", 0, "Unrecognized version of the checkpoint file: 1"),
        ("x\n0\n", 0, f"{LINE}'x'"),
        ("0\n\n", 2, f"{LINE}''"),
        ("0 \n0\n", 0, f"{LINE}'0 '"),
        ("0\n-1\n", 2, "Illegal Capacity: -1"),
        (b"0\n1\n\xff 0 1\n", 4, "Malformed UTF-8 in checkpoint file"),
        ("0\nmany\n", 2, f"{LINE}'many'"),
        ("0\n1\norders 0\n", 4, f"{LINE}'orders 0'"),
        ("0\n1\norders 0 1 2\n", 4, f"{LINE}'orders 0 1 2'"),
        ("0\n1\n orders 0 1\n", 4, f"{LINE}' orders 0 1'"),
        ("0\n1\norders 0 x\n", 4, f"{LINE}'orders 0 x'"),
        ("0\n1\norders 2147483648 1\n", 4, f"{LINE}'orders 2147483648 1'"),
        ("0\n1\norders 0 9223372036854775808\n", 4, f"{LINE}'orders 0 9223372036854775808'"),
        ("0\n1\norders 0 1\n\n", 15, f"{LINE}''"),
        ("0\n2\norders 0 1\n", 2, "Expected 2 entries in checkpoint file, but found 1"),
        ("0\n0\norders 0 1\n", 2, "Expected 0 entries in checkpoint file, but found 1"),
    ],
)
def test_a_broken_checkpoint_says_where(text, position, what):
    with pytest.raises(CorruptBytes) as fault:
        checkpoint.parse_offsets(text)
    assert (fault.value.position, str(fault.value.what)) == (position, what)


def test_meta_properties_of_a_kraft_broker():
    """meta.properties as Kafka 4.3.1 writes it."""
    comment = b"#\n#Sat Nov 21 09:29:20 UTC 2026\n"
    ids = b"directory.id=ekArurFKRISu0Oyjh8h0sg\nversion=1\ncluster.id=a2Fma2F2aXotY2xlYW4tMQ\n"
    assert checkpoint.parse_properties(comment + b"node.id=1\n" + ids) == {
        "node.id": "1",
        "directory.id": "ekArurFKRISu0Oyjh8h0sg",
        "version": "1",
        "cluster.id": "a2Fma2F2aXotY2xlYW4tMQ",
    }


@pytest.mark.parametrize(
    ("text", "properties"),
    [
        (b"a=1\nb:2\nc 3\nd\t=\t4\n", {"a": "1", "b": "2", "c": "3", "d": "4"}),
        (b"a= = b = c \n", {"a": "= b = c "}),
        (b"  ! no\n\n \t\n  # no\nkey\nempty=\n", {"key": "", "empty": ""}),
        (b"a\\=b\\:c\\ d=e\\=f\n", {"a=b:c d": "e=f"}),
        (
            b"a=one, \\\n   two\\\r\n\tthree\nb=x\\\\\nc=y",
            {"a": "one, twothree", "b": "x\\", "c": "y"},
        ),
        (b"a=\\u00e9\\t\\n\\r\\f\\q\\\\u0041\n", {"a": "é\t\n\r\fq\\u0041"}),
        (b"a=\xe9\n", {"a": "é"}),
        (b"a=1\na=2\n", {"a": "2"}),
        (b"a=1\\", {"a": "1"}),
        (b"a=1\\\n#x\nb=2", {"a": "1#x", "b": "2"}),
        (b"a=1\\\n\nb=2\n", {"a": "1", "b": "2"}),
        (b"=1\n", {"": "1"}),
        (b"a=1\\\\\\\n  \\\\\nb=2", {"a": "1\\\\", "b": "2"}),  # pairs across lines
    ],
)
def test_properties_are_read_as_java_reads_them(text, properties):
    """java.util.Properties.load of Java 17 gave the expected values."""
    assert checkpoint.parse_properties(text) == properties


def test_a_broken_escape_in_properties_says_where():
    r"""The byte is where the line begins; Java's message is "Malformed \uxxxx encoding."."""
    with pytest.raises(CorruptBytes, match=r"byte 4: Malformed \\uxxxx encoding\."):
        checkpoint.parse_properties(b"a=1\nb=\\u12g4\n")


def test_the_topic_id_of_a_partition():
    """partition.metadata as Kafka 4.3.1 writes it, without an end to its last line."""
    text = "version: 0\ntopic_id: dYjW7OUjT1-elXPFf2b2_g"
    assert checkpoint.parse_partition_metadata(text) == PartitionMetadata(
        0, "dYjW7OUjT1-elXPFf2b2_g"
    )


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("version: 1\ntopic_id: dYjW7OUjT1-elXPFf2b2_g", 1),
        ("topic_id: +007\nversion: dYjW7OUjT1-elXPFf2b2_g: \n", 7),
        (f"a: {'0' * 5000}2\r\nb:\t dYjW7OUjT1-elXPFf2b2_g\nmore", 2),
        (": 0\n: dYjW7OUjT1-elXPFf2b2_g", 0),
    ],
)
def test_what_kafka_takes_for_partition_metadata(text, version):
    """PartitionMetadataReadBuffer of 4.3.1 and 4.4.0 looks at the values alone."""
    metadata = PartitionMetadata(version, "dYjW7OUjT1-elXPFf2b2_g")
    assert checkpoint.parse_partition_metadata(text) == metadata
    assert small_files.partition_metadata_fault(text.encode(), "") is None


@pytest.mark.parametrize(
    ("text", "position", "what"),
    [
        ("", 0, f"{METADATA_LINE}''"),
        ("version: 0\n", 11, f"{METADATA_LINE}''"),
        ("version:0\ntopic_id: x", 0, f"{METADATA_LINE}'version:0'"),
        ("topic_id: x\nversion: 0", 0, f"{METADATA_LINE}'topic_id: x'"),
        ("version: 0: 0\ntopic_id: x", 0, f"{METADATA_LINE}'version: 0: 0'"),
        ("version: \ntopic_id: x", 0, f"{METADATA_LINE}'version: '"),
        (
            "version: -1\ntopic_id: dYjW7OUjT1-elXPFf2b2_g",
            0,
            "Unrecognized version of partition metadata file: -1",
        ),
        (
            "version: 0\ntopic_id: dYjW7OUjT1",
            11,
            "the topic id is not 16 bytes in base64: 'dYjW7OUjT1'",
        ),
        (
            "version: 0\ntopic_id: dYjW7OUjT1-elXPFf2b2!g",
            11,
            "the topic id is not 16 bytes in base64: 'dYjW7OUjT1-elXPFf2b2!g'",
        ),
        (
            "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA",
            11,
            "Invalid topic ID in partition metadata file (AAAAAAAAAAAAAAAAAAAAAA)",
        ),
    ],
)
def test_a_broken_partition_metadata_says_where(text, position, what):
    with pytest.raises(CorruptBytes) as fault:
        checkpoint.parse_partition_metadata(text)
    assert (fault.value.position, str(fault.value.what)) == (position, what)


def test_the_body_of_a_clean_shutdown():
    assert checkpoint.parse_clean_shutdown(b'{"version":0,"brokerEpoch":13}') == {
        "version": 0,
        "brokerEpoch": 13,
    }
    assert checkpoint.parse_clean_shutdown(b"") is None


@pytest.mark.parametrize("body", [b"{", b"13", b"[1]", b"\xff\xfe\x00", b"[" * 100_000])
def test_a_broken_clean_shutdown_says_so(body):
    with pytest.raises(CorruptBytes):
        checkpoint.parse_clean_shutdown(body)


@pytest.mark.parametrize("parse", PARSERS)
@given(
    text=st.one_of(
        st.binary(max_size=80),
        st.text("0123456789 \n\r\\:=#-topic_idversion", max_size=80).map(str.encode),
    )
)
def test_no_bytes_break_a_parser(parse, text):
    try:
        parse(text)
    except CorruptBytes as fault:
        assert 0 <= fault.position <= len(text)


@pytest.mark.parametrize(
    ("text", "voters"),
    [
        (
            '{"leaderId":1,"leaderEpoch":1,"votedId":-1,"votedDirectoryId":"AAAAAAAAAAAAAAAAAAAAAA","data_version":1}',
            (),
        ),
        (
            '{"clusterId":"","leaderId":0,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,"currentVoters":[{"voterId":0}],"data_version":0}',
            (0,),
        ),
        (
            '{"leaderId":1,"leaderEpoch":1,"votedId":3,"votedDirectoryId":"tpx8pd1IQDqJwMfGzXj6GA","data_version":1,"more":1}\nx',
            (),
        ),
    ],
)
def test_the_voters_of_a_quorum(text, voters):
    """4.3.1 and 3.9.0 wrote them. Later lines and unknown fields are skipped."""
    assert checkpoint.parse_quorum_state(text) == voters


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "File ended prematurely."),
        ("x", "the body is not JSON"),
        ("[]", "the body is not a JSON object"),
        ("{}", "there is no data_version field"),
        ('{"data_version":2}', "data_version (2) is not within the min (0) and max (1) supported"),
        (
            '{"data_version":1}',
            "unable to locate field 'leaderId', which is mandatory in version 1",
        ),
        ('{"data_version":"1"}', "to locate field 'clusterId', which is mandatory in version 0"),
        (
            '{"leaderId":"a","leaderEpoch":1,"votedId":3,"votedDirectoryId":"","data_version":1}',
            "the field 'leaderId' is not of type int",
        ),
        (
            '{"clusterId":"","leaderId":0,"leaderEpoch":1,"votedId":-1,"appliedOffset":0,"currentVoters":[7],"data_version":0}',
            "a voter has no voterId",
        ),
    ],
)
def test_a_bad_state_of_a_quorum_is_reported(text, words):
    """Kafka 4.3.1 raises here too."""
    with pytest.raises(CorruptBytes) as bad:
        checkpoint.parse_quorum_state(text)
    assert words in str(bad.value.what)


@pytest.mark.slow
def test_a_property_of_many_lines_is_joined_once():
    """Copying a line for each that follows would take minutes."""
    before_s = time.process_time()
    properties = checkpoint.parse_properties(b"aaaaaaaaaa\\\n" * 640_000 + b"=v")
    assert properties == {"a" * 6_400_000: "v"}
    assert time.process_time() - before_s < 25


@pytest.mark.parametrize(
    "parse",
    [checkpoint.parse_offsets, checkpoint.parse_leader_epochs, checkpoint.parse_partition_metadata],
)
def test_a_message_quotes_the_beginning_of_a_line(parse):
    start = (
        b"version: 0\ntopic_id: " if parse is checkpoint.parse_partition_metadata else b"0\n1\nt 0 "
    )
    with pytest.raises(CorruptBytes) as raised:
        parse(start + b"9" * 10_000_000)
    what = str(raised.value.what)
    assert len(what) < 300
    assert what.rstrip("')").endswith("9…")


@pytest.mark.parametrize("parse", [*PARSERS[:2], PARSERS[3], PARSERS[5]])
@pytest.mark.parametrize(
    "data", [b"\r" * (1 << 20), b"0\n" * (1 << 19), b"0\n0\n" + b"\r\n" * 10**6]
)
def test_lines_after_a_fault_are_not_made(parse, data):
    """A million line ends take no more memory than their bytes and their text."""
    tracemalloc.start()
    try:
        with pytest.raises(CorruptBytes):
            parse(data)
        assert tracemalloc.get_traced_memory()[1] < 4 * len(data)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("parse", "line", "limit"),
    [
        (checkpoint.parse_offsets, b"t 0 7\n", checkpoint.MAX_PARTITIONS),
        (checkpoint.parse_leader_epochs, b"7 7\n", checkpoint.MAX_EPOCHS),
    ],
)
@pytest.mark.parametrize("is_counted_ahead", [True, False])
def test_a_checkpoint_of_too_many_lines_is_not_read(parse, line, limit, is_counted_ahead):
    count = limit + (100 if is_counted_ahead else 1)
    heading = b"0\n%d\n" % count
    with pytest.raises(CannotOpen, match=f"more than {limit} lines") as raised:
        parse(heading + line * count)
    assert raised.value.kind == "large"
    with pytest.raises(CorruptBytes, match="Malformed line"):
        parse(heading + b"x\n" + line * count)
    if parse is checkpoint.parse_leader_epochs:
        assert len(parse(b"0\n%d\n" % limit + line * limit)) == limit


@pytest.mark.parametrize("last", "wxyz")
def test_a_topic_id_is_the_sixteen_bytes_that_its_characters_stand_for(last):
    """Uuid.fromString (4.3.1) ignores the last four bits of the last character."""
    written = f"version: 0\ntopic_id: AkXzOiIERbadGF_c6qNvh{last}"
    assert checkpoint.parse_partition_metadata(written).topic_id == "AkXzOiIERbadGF_c6qNvhw"
