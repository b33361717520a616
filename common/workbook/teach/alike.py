# SPDX-License-Identifier: MIT
"""Finds submissions that share much unusual code: a hint for a person to look at, never a verdict.

Each file becomes a set of runs of tokens with all own names made equal: renaming and reformatting
change nothing. Runs of the lesson's skeleton and solution, and those that many of the class share,
say nothing about copying and are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|\d[\w.\']*|[A-Za-z_]\w*|\S',
    re.S,
)
_KEPT = frozenset(
    "if else for while do return break continue switch case default const int long float double"
    " char unsigned bool void auto static struct class template typename threadIdx blockIdx"
    " blockDim gridDim x y z __syncthreads __syncwarp __shared__ atomicAdd min max".split()
)
RUN = 9  # tokens
FEWEST = 12  # runs that two files share and few others have
ALIKE = 0.8  # of the smaller file's unusual runs
_COMMON = 0.15  # of the class: what more have is no one's own


def runs(text: str) -> frozenset[int]:
    """Hashes of all runs of RUN tokens; comments and the names of variables count for nothing."""
    tokens = []
    for token in _TOKEN.findall(text):
        if token.startswith(("//", "/*")):
            continue
        if (token[0].isalpha() or token[0] == "_") and token not in _KEPT:
            token = "name"
        tokens.append(token)
    return frozenset(hash(tuple(tokens[at : at + RUN])) for at in range(len(tokens) - RUN + 1))


def pairs(texts: dict[str, str], given: list[str]) -> list[tuple[float, str, str]]:
    """Pairs of files that are nearly the same, by name, the most alike first."""
    own = {name: runs(text) for name, text in texts.items()}
    everywhere: frozenset[int] = frozenset().union(*map(runs, given)) if given else frozenset()
    count = Counter(run for found in own.values() for run in found)
    most = max(3, _COMMON * len(texts))
    unusual = {
        name: frozenset(run for run in found - everywhere if count[run] <= most)
        for name, found in own.items()
    }
    found = []
    for one, other in combinations(sorted(unusual), 2):
        shared = len(unusual[one] & unusual[other])
        smaller = min(len(unusual[one]), len(unusual[other]))
        if shared >= FEWEST and shared >= ALIKE * smaller:
            found.append((shared / smaller, one, other))
    return sorted(found, key=lambda pair: (-pair[0], pair[1:]))
