"""Groups of findings, as the terminal, the Health page and the report show them."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from kafkaviz.analysis.findings.finding import INFO, SEVERITIES, Finding

MAX_SEPARATE = 3  # more findings of one code than this become one group


def group_findings(findings: Iterable[Finding]) -> Iterator[list[Finding]]:
    """Yields the groups, the worst first; a finding on its own is a group of one.

    For informative findings and predicted recoveries, two findings of a code already are a group.
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
