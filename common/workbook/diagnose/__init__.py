# SPDX-License-Identifier: MIT
"""Recognises the cause of a wrong answer. Says nothing where there is no clear pattern.

causes.py: the one line for the student. arrays.py: what a check compared. values.py and
elements.py: patterns in the wrong values. locations.py: patterns in where they are. summary.py:
both in one sentence. scalars.py: single numbers. counts.py: counters. overlap.py: the timeline.
"""

from .causes import (
    Mismatch,
    by_code,
    likely_cause,
    most_telling,
    of_crash,
    of_mistakes,
    parse_mismatch,
)
from .counts import of_counter
from .overlap import of_timeline

__all__ = [
    "Mismatch",
    "by_code",
    "likely_cause",
    "most_telling",
    "of_counter",
    "of_crash",
    "of_mistakes",
    "of_timeline",
    "parse_mismatch",
]
