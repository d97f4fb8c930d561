"""The findings in groups, as the terminal, the Health page and the report show them."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from kafkaviz.analysis.findings.finding import INFO, SEVERITIES, Finding

MAX_SEPARATE = 3  # more findings of one code are one group


def group_findings(findings: Iterable[Finding]) -> Iterator[list[Finding]]:
    """Yields the groups, the worst first; a finding on its own is a group of one.

    Informative findings and predictions of a recovery are one group from two on.
    """
    order = sorted(findings, key=_severity_and_code)
    for (_, code), same_code in groupby(order, key=_severity_and_code):
        group = list(same_code)
        is_summary = group[0].severity == INFO or code.startswith("recovery-will-")
        if len(group) > (1 if is_summary else MAX_SEPARATE):
            yield group
        else:
            yield from ([finding] for finding in group)


def _severity_and_code(finding: Finding) -> tuple[int, str]:
    return SEVERITIES.index(finding.severity), finding.code
