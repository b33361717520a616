# SPDX-License-Identifier: MIT
"""Recognises the cause of a wrong answer. Says nothing where there is no clear pattern.

cases.py: the diagnosis of one case. causes.py: the one line for the student; by_code.py, races.py,
bounds.py and stopped.py: its parts for findings, exceptions and crashes. source.py: lines of the
student's file. mismatch.py: what a check's text lists. arrays.py: what a check compared. values.py
and elements.py: patterns in the wrong values. locations.py: patterns in where they are. summary.py:
both in one sentence. scalars.py: single numbers. counts.py: counters. overlap.py: the timeline.
"""

from .by_code import by_code
from .cases import Diagnosis, cause_of, of_case
from .causes import likely_cause, of_mistakes
from .counts import of_counter
from .mismatch import Mismatch, most_telling, parse_mismatch
from .overlap import of_timeline
from .stopped import of_crash

__all__ = [
    "Diagnosis",
    "Mismatch",
    "by_code",
    "cause_of",
    "likely_cause",
    "most_telling",
    "of_case",
    "of_counter",
    "of_crash",
    "of_mistakes",
    "of_timeline",
    "parse_mismatch",
]
