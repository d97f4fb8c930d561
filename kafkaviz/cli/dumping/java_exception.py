"""Where Kafka's tool dies: the exception that leaves its main method, as the JVM prints it."""

from kafkaviz.errors import CannotOpen, KafkavizError
from kafkaviz.format import exception_names
from kafkaviz.format.exception_names import KAFKA

CORRUPT_INDEX = "org.apache.kafka.storage.internals.log.CorruptIndexException"
NO_SUCH_ELEMENT = "java.util.NoSuchElementException"
RUNTIME = "java.lang.RuntimeException"

STATUS = 1
_NIO = {"missing": "NoSuchFileException", "permission": "AccessDeniedException"}
# our words, and what Java says; a text that ends with a colon goes on with the end of ours
_CODEC_CAUSES = (
    ("incorrect header check", "java.util.zip.ZipException: Not in GZIP format"),
    ("incorrect data check", "java.util.zip.ZipException: Corrupt GZIP trailer"),
    ("incorrect length check", "java.util.zip.ZipException: Corrupt GZIP trailer"),
    ("gzip: the compressed data ends", "java.io.EOFException: Unexpected end of ZLIB input stream"),
    ("gzip: ", "java.util.zip.ZipException: "),
    ("snappy: corrupt input", "java.io.IOException: FAILED_TO_UNCOMPRESS(5)"),
    ("snappy: a block of", "java.io.IOException: failed to read chunk"),
    ("snappy: the bytes end within", "java.io.IOException: PARSING_ERROR(2)"),
    ("snappy: Varint is too long", "java.io.IOException: PARSING_ERROR(2)"),
    ("zstd: ", "com.github.luben.zstd.ZstdIOException: "),
)
_AT_ONCE = ("Not in GZIP format", "Stream unsupported")


class JavaException(Exception):
    """An exception nobody catches.

    Its Java class, its message or None, and the words of what caused it.

    position: the byte of the file it is about, where there is one. fault: what cannot be opened or
    read, worded for a person.
    """

    def __init__(
        self,
        java_class: str,
        message: str | None = None,
        causes: tuple[str, ...] = (),
        position: int | None = None,
        fault: KafkavizError | None = None,
    ) -> None:
        super().__init__(message)
        self.java_class, self.message, self.causes, self.position, self.fault = (
            java_class,
            message,
            causes,
            position,
            fault,
        )

    def text(self) -> str:
        """What the JVM prints on stderr, without the frames of the stack."""
        header = self.java_class if self.message is None else f"{self.java_class}: {self.message}"
        return "".join(
            [
                f'Exception in thread "main" {header}\n',
                *(f"Caused by: {cause}\n" for cause in self.causes),
            ]
        )


def from_path(fault: CannotOpen, path: str) -> JavaException:
    """What java.nio throws for a file that cannot be opened or read."""
    if fault.kind in _NIO:
        return JavaException(f"java.nio.file.{_NIO[fault.kind]}", path, fault=fault)
    what = str(fault.what)
    cause = f"java.io.IOException: {what[:1].upper()}{what[1:]}"
    return JavaException(KAFKA, cause, (cause,), fault=fault)


def from_records(what: str, *, at_open: bool = False, position: int | None = None) -> JavaException:
    """What iterating over damaged records throws, by the words of the fault.

    Of damaged compressed data the class is Kafka's; the message too, unless the damage still gave
    records before it was noticed.

    Args:
        at_open: compressed data is read when its stream is opened, as of messages of magic 0 and 1.
    """
    words = exception_names.java_words(what)
    if exception_names.is_codec_fault(words):
        return _from_codec(words, at_open=at_open, position=position)
    message = None if words == exception_names.OUT_OF_BOUNDS else words
    return JavaException(exception_names.of_records(words), message, position=position)


def _from_codec(words: str, *, at_open: bool, position: int | None) -> JavaException:
    """Data that cannot be decompressed.

    Noticed when the stream is opened, or while its records are read.
    """
    cause = next(
        (java for ours, java in _CODEC_CAUSES if ours in words),
        "java.io.IOException: " + words.partition(": ")[2],
    )
    if cause.endswith(": "):
        cause += words.rpartition(": ")[2]
    is_immediate = at_open or any(text in cause for text in _AT_ONCE)
    return JavaException(
        KAFKA, cause if is_immediate else "Failed to decompress record stream", (cause,), position
    )
