# SPDX-License-Identifier: MIT
"""Recognises what stands behind a wrong answer. Says nothing where there is no clear pattern.

causes.py: the one line for the student. arrays.py: what a check compared. what.py, elements.py
and where.py: patterns of values and of places. story.py: both in a sentence. scalars.py: single
numbers. counts.py: counters.
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

__all__ = [
    "Mismatch",
    "by_code",
    "likely_cause",
    "most_telling",
    "of_counter",
    "of_crash",
    "of_mistakes",
    "parse_mismatch",
]
