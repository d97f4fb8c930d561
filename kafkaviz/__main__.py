"""python -m kafkaviz: runs a command and reports an error in one line."""

import argparse
import importlib
import os
import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, NoReturn

from kafkaviz import __version__
from kafkaviz.cli import INTERRUPTED
from kafkaviz.cli.common import output
from kafkaviz.errors import KafkavizError
from kafkaviz.extras import translate_missing_packages
from kafkaviz.messages import ENGLISH, LANGUAGES, language, say, speaking

# Each is a module of kafkaviz.cli. They import only argparse at the top, because `kafkaviz --help`
# imports them all.
PUBLIC_COMMANDS = (
    "app",
    "calibrate",
    "check",
    "commits",
    "compaction",
    "compare",
    "dump",
    "ingest",
    "key",
    "lookup",
    "rebuild",
    "records",
    "report",
    "simulate",
    "tiered",
    "transactions",
    "tune",
)
COMMANDS = (*PUBLIC_COMMANDS, "warm")  # warm is for the Makefile
USAGE_OR_INPUT = 2
SIGNAL_RETRY_S = 0.05
NO_READER = 128 + 13  # the status that a shell reports for SIGPIPE


class _CommandLineParser(argparse.ArgumentParser):
    """A parser that reports an error in one line: "PROGRAM: error; see PROGRAM --help"."""

    def __init__(
        self, formatter_class: Any = argparse.RawDescriptionHelpFormatter, **settings: Any
    ) -> None:
        super().__init__(formatter_class=formatter_class, **settings)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Reports unknown arguments as an error of this command's parser, not of the top parser."""
        options, extra = super().parse_known_args(args, namespace)
        if extra and self.add_help:
            self.error(say("cli.unrecognized", arguments=" ".join(extra)))
        return options, extra

    def error(self, message: str) -> NoReturn:
        usage = output.to_one_line(say("cli.usage", program=self.prog, message=message))
        self.exit(USAGE_OR_INPUT, f"{usage}\n")


def _language_parser() -> argparse.ArgumentParser:
    """Returns a parser of --language. This option is allowed before and after a command."""
    language_parser = _CommandLineParser(add_help=False, allow_abbrev=False, prog="kafkaviz")
    language_parser.add_argument(
        "--language",
        choices=tuple(LANGUAGES),
        help="language of the output: en, zh; default: the shell's (LC_ALL, LC_MESSAGES, LANG)",
    )
    return language_parser


def parser() -> argparse.ArgumentParser:
    """Returns the command-line parser. It stores the command's function in the attribute `run`."""
    top = _CommandLineParser(
        argparse.HelpFormatter,
        prog="kafkaviz",
        description=(
            "Opens a Kafka broker directory and shows how .log, .index and .timeindex find a "
            "record. A path may also be an address: s3://bucket/brokers/17, gs://, abfs://, "
            "hdfs://."
        ),
        parents=[_language_parser()],
        epilog="Example: kafkaviz app /var/lib/kafka/data",
    )
    top.add_argument(
        "--version",
        action="version",
        version=f"kafkaviz {__version__}",
        help="print the version and exit",
    )
    subparsers = top.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        command = importlib.import_module(f"kafkaviz.cli.{name}")
        command.add_parser(subparsers)
        subparsers.choices[name].set_defaults(run=command.run)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Runs a command. Returns 0, 1 (a fault or difference), 2 (bad input) or 128 + the signal."""
    output.set_up()
    # parsed first, because the other parser's errors need the language too
    options, arguments = _language_parser().parse_known_args(argv)
    with speaking(options.language or _shell_language()):
        return _run(arguments)


def _shell_language() -> str:
    """Returns the shell's language, or English if kafkaviz lacks it or stdout cannot encode it."""
    names = (os.environ.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    code = next(filter(None, names), "")[:2]
    try:
        LANGUAGES.get(code, "").encode(sys.stdout.encoding or "ascii")
    except (AttributeError, LookupError, UnicodeEncodeError):
        return ENGLISH
    return code if code in LANGUAGES else ENGLISH


def _run(arguments: Sequence[str]) -> int:
    top_parser = parser()
    if arguments and not arguments[0].startswith("-") and arguments[0] not in COMMANDS:
        top_parser.error(say("cli.no_command", name=arguments[0], names=PUBLIC_COMMANDS))
    args = top_parser.parse_args(arguments)
    try:
        with _interrupt_on_signals(), translate_missing_packages():
            status = args.run(args)
        sys.stdout.flush()
        return status
    except KafkavizError as error:
        print(output.to_one_line(f"kafkaviz: {error.message.render(language())}"), file=sys.stderr)
        return USAGE_OR_INPUT
    except KeyboardInterrupt as interrupt:
        print(f"kafkaviz: {say('cli.stopped')}", file=sys.stderr)
        return interrupt.status if isinstance(interrupt, _TerminationSignal) else INTERRUPTED
    except BrokenPipeError:  # the reader of the output has closed it, as `| head` does
        _drop_output()
        return NO_READER
    except OSError as error:  # the disk of the output is full, or another system error
        _drop_output()
        parts = filter(None, ["kafkaviz", error.filename, error.strerror or str(error)])
        print(output.to_one_line(": ".join(parts)), file=sys.stderr)
        return USAGE_OR_INPUT


class _TerminationSignal(KeyboardInterrupt):
    def __init__(self, number: int) -> None:
        super().__init__()
        self.status = 128 + number  # as a shell reports it


@contextmanager
def _interrupt_on_signals() -> Generator[None]:
    """Makes SIGTERM and SIGHUP end a command as Ctrl-C does, so that partial output is removed."""
    signals = []
    default_handlers = {}

    def end(number: int, frame: FrameType | None) -> None:
        signals.append(number)
        if _is_in_llvm(frame):  # an exception in LLVM's callback would abort the process
            signal.setitimer(signal.ITIMER_REAL, SIGNAL_RETRY_S)
            return
        # a second signal must not interrupt the cleanup
        for signal_number in default_handlers:
            signal.signal(signal_number, signal.SIG_IGN)
        raise _TerminationSignal(signals[0])

    try:
        with suppress(ValueError):  # only the main thread receives signals
            for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGALRM):
                if signal.getsignal(number) == signal.SIG_DFL:
                    default_handlers[number] = signal.signal(number, end)
        yield
    finally:
        if signals:
            signal.setitimer(signal.ITIMER_REAL, 0)
        for number, handler in default_handlers.items():
            signal.signal(number, handler)


def _is_in_llvm(frame: FrameType | None) -> bool:
    while frame and not frame.f_globals.get("__name__", "").startswith("llvmlite"):
        frame = frame.f_back
    return frame is not None


def _drop_output() -> None:
    """Discards the output that is not printed yet, so that Python does not print it at exit."""
    with suppress(OSError, ValueError):  # the stream is not a file
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
