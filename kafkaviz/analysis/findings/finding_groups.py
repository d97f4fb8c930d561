"""Groups of findings, as the command line, the Health page and the report show them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from kafkaviz.analysis.findings.finding import INFO, SEVERITIES, TAIL_CODES, Finding

MAX_SEPARATE = 3  # more findings of one code than this become one group
CUT_CODE = "recovery-will-truncate"


def group_findings(findings: Sequence[Finding]) -> Iterator[list[Finding]]:
    """Yields the groups, the worst first. A finding that no group includes is a group of its own.

    Two findings with one code are a group already if they are informative or about a predicted
    recovery.
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
    """Yields the findings; merges the two about a tail that the next start only cuts off.

    The one finding is about the tail, and has the consequence of cutting it off.
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
