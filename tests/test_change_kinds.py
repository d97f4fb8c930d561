import pytest

from tests.support import change_kinds

BEFORE = '''
def add(first, second):
    """Of both."""
    return first + second  # both


def reader():
    """What reads."""
'''


@pytest.mark.parametrize(
    ("old", "new", "is_same"),
    [
        ("Of both.", "Returns the sum.", True),
        ('    """Of both."""\n', "", True),
        ("# both", "# the sum", True),
        ('    """What reads."""', "    pass", True),
        ("first + second", "second + first", False),
        ("add(", "sum_of(", False),
    ],
)
def test_words_leave_the_code_as_it_was(old, new, is_same):
    after = BEFORE.replace(old, new)
    assert after != BEFORE
    assert (change_kinds.without_words(BEFORE) == change_kinds.without_words(after)) is is_same


def test_help_texts_are_words():
    before = 'parser.add_argument("path", help="of what", metavar="PATH")'
    other_help = before.replace("of what", "the broker directory")
    other_name = before.replace("PATH", "FOLDER")
    assert change_kinds.without_words(before) == change_kinds.without_words(other_help)
    assert change_kinds.without_words(before) != change_kinds.without_words(other_name)


def test_files_keep_the_functions_and_statements_their_signatures():
    other_body = BEFORE.replace("first + second", "second + first")
    assert change_kinds.functions(BEFORE) != change_kinds.functions(other_body)
    assert change_kinds.signatures(BEFORE) == change_kinds.signatures(other_body)


def test_files_may_change_the_module_of_a_name():
    before = "from kafkaviz.log import file\n\ndef size(path):\n    return file.reader(path)\n"
    merged = "def size(path):\n    return reader(path)\n"
    assert change_kinds.functions(before) == change_kinds.functions(merged)
    assert change_kinds.functions(before) != change_kinds.functions(
        merged.replace("reader", "read")
    )


def test_messages_keep_keys_and_values():
    before = 'lost = "{n:group} of {size:bytes} gone"\n[table]\nkey = "a"\n'
    assert change_kinds.message_values(before) == {"lost": {"n", "size"}, "table.key": set()}
