"""Words that do not describe a thing and may not be names."""

SAYS_NOTHING = frozenset(
    [
        *("told", "telling", "held", "holding", "made", "making", "of", "one", "ones", "here"),
        *("this", "found", "whole", "listed", "asked", "kept", "wanted", "pushed", "given"),
        *("shown", "said", "named", "seen", "taken", "meant", "judged", "served", "rolled"),
        *("replayed", "recovered", "rebuilt", "gone", "laid", "put", "got"),
    ]
)
