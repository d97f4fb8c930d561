"""Groups of findings, as the command line, the Health page and the report show them."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from kafkaviz.analysis.findings.finding import INFO, SEVERITIES, TAIL_CODES, Finding

MAX_SEPARATE = 3  # more findings of one code than this become one group
CUT_CODE = "recovery-will-truncate"


def group_findings(findings: Sequence[Finding]) -> Iterator[list[Finding]]:
    """Yields groups of findings with one code, the worst first.

    Informative findings and findings about a predicted recovery are a group from two on. Others are
    a group if there are more than MAX_SEPARATE. All other findings are yielded alone.
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
    """Merges the two findings about a tail that start-up only cuts off.

    The result is the finding about the tail, with the consequence of the other one.
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
