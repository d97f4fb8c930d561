"""Groups the findings of a check, so that many similar ones are shown as one."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from kafkaviz.analysis.findings import INFO, SEVERITIES, TAIL_CODES, Finding

CUT_CODE = "recovery-will-truncate"
MAX_SEPARATE = 3  # more findings of one code than this become one group


def group_findings(findings: Sequence[Finding]) -> Iterator[list[Finding]]:
    """Yields lists of findings with the same severity and code, the worst first.

    One list has all findings of a severity and code if there are more than MAX_SEPARATE, if the
    severity is "info", or if the code is about a predicted recovery. Otherwise each finding is in a
    list of its own.
    """
    order = sorted(_merge_cut_tails(findings), key=_severity_and_code)
    for (_, code), same_code in groupby(order, key=_severity_and_code):
        group = list(same_code)
        is_summary = group[0].severity == INFO or code.startswith("recovery-will-")
        if len(group) > (1 if is_summary else MAX_SEPARATE):
            yield group
        else:
            yield from ([finding] for finding in group)


def _merge_cut_tails(findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yields the findings. Merges two findings about the same bytes at the end of a .log.

    One says that no batch begins in these bytes, the other that start-up will cut them off. The
    first is yielded, with the consequence of the second.
    """
    cuts = {_byte_range(finding): finding for finding in findings if finding.code == CUT_CODE}
    codes = TAIL_CODES.values()
    tails = {_byte_range(finding) for finding in findings if finding.code in codes}
    for finding in findings:
        if finding.code in codes and (cut := cuts.get(_byte_range(finding))):
            yield replace(finding, consequence=cut.consequence)
        elif finding.code != CUT_CODE or _byte_range(finding) not in tails:
            yield finding


def _byte_range(finding: Finding) -> tuple[str | None, str | None, int | None, int | None]:
    return finding.log_directory, finding.file, finding.position, finding.length


def _severity_and_code(finding: Finding) -> tuple[int, str]:
    return SEVERITIES.index(finding.severity), finding.code
