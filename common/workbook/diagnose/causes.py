# SPDX-License-Identifier: MIT
"""The likely cause of a failed test case in one line: from findings, exceptions and values."""

from __future__ import annotations

import re
from typing import Any

from ..facts.findings import Finding
from . import bounds, copies, geometry, races, scalars, source, stopped, summary
from .arrays import Compared
from .by_code import by_code, by_reason

# A check such as `passes(32) == 32`: a function of plain numbers, which nothing was added to.
_FUNCTION = re.compile(r"^\w+\((?:\s*-?[\d.]+[a-zA-Z]*\s*,?)+\) ==")


def of_values(found: list[Compared], checks: list[tuple[str, str]], explained: bool = False) -> str:
    """The pattern in the values of one test case: its arrays, else its single numbers."""
    with_formula = [text for c in found if (text := geometry.of_writers(c))]
    if with_formula:
        return with_formula[0]
    told = summary.most_telling(found)
    if told and told[1].text:
        return told[1].text
    pairs = [pair for _, text in checks if (pair := scalars.compared(text))]
    functions = bool(checks) and all(_FUNCTION.match(expression) for expression, _ in checks)
    return scalars.of_functions(pairs) if functions else scalars.pattern(pairs, explained)


def of_mistakes(details: list[dict[str, Any]]) -> str:
    """The mistakes that a test's author knew, each explaining all that the test case found wrong.

    Two wrong numbers may agree by chance: three are asked for, or several comparisons.
    """
    told = [entry for entry in details if isinstance(entry.get("mistakes"), list)]
    wrong = sum(int(entry.get("wrong", 0)) for entry in told)
    if not wrong or (len(told) < 2 and wrong < 3):
        return ""
    common = [
        words
        for words in dict.fromkeys(told[0]["mistakes"])
        if isinstance(words, str) and all(words in entry["mistakes"] for entry in told)
    ]
    if not common and len(told) > 1:
        # Several arrays, each with a mistake of its own that explains all of it.
        sure = [entry["mistakes"][:1] for entry in told if int(entry.get("wrong", 0)) >= 3]
        own = list(dict.fromkeys(words for first in sure for words in first))
        if len(own) <= 3 and all(set(own) & set(entry["mistakes"]) for entry in told):
            return "; and ".join(own)
    return "; or ".join(common[:2])


# Patterns that say what is wrong with the index itself.
_INDEX = re.compile(r"transposed|block's number is missing|swapped|reversed|the index (multi|adds)")


def _of_operand(finding: Finding, operand: str) -> str:
    """An array that a library was given: what is wrong with it."""
    if finding.code != "out-of-bounds-global":
        return by_code[finding.code]
    if operand.lower() in ("work", "workspace"):
        return "a workspace that is smaller than the size from _bufferSize: it counts elements, " \
               "not bytes"  # fmt: skip
    return f"`{operand}` is smaller than the sizes of the call say: is one of them wrong, or in " \
           "another's place?"  # fmt: skip


def _of_finding(finding: Finding, lost: bool) -> str:
    if operand := finding.facts.get("operand"):
        return _of_operand(finding, str(operand))
    if finding.code.startswith("race-"):
        return races.of_race(finding, lost)
    if finding.code.startswith("out-of-bounds-"):
        return bounds.of_bounds(finding)
    if finding.code == "invalid-copy" and (
        words := copies.of_sizes(finding.facts, str(finding.data.get("address", "")))
    ):
        return words
    if finding.code == "invalid-launch" and (name := source.launch_swapped(finding)):
        return f"the number of blocks comes first in <<< >>>, and `{name}` stands there"
    if finding.code == "warp-mask" and source.is_loop(finding):
        return "a warp operation in a loop that some lanes leave earlier than others: all lanes " \
               "must make the same number of rounds, or it belongs after the loop"  # fmt: skip
    reason = str(finding.facts.get("reason") or finding.facts.get("misuse", ""))
    if words := by_reason.get((finding.code, reason)):
        return words
    alone = finding.facts.get("threads") == 1 and finding.facts.get("returned")
    if finding.code == "hang" and alone:
        return "one thread is still working alone: it does the work of all, or its loop never ends"
    return by_code[finding.code]


# Findings about threads that do not do the same: the cause of wrong values, whatever they hold.
_OF_THREADS = {"warp-mask", "barrier-divergence"}
# Findings for which a library refuses the call.
_REFUSED_FOR = {"library-misuse", "collective-deadlock", "collective-mismatch"}


def likely_cause(
    found: list[Compared],
    findings: list[Finding],
    exception: str = "",
    checks: list[tuple[str, str]] | None = None,
    mistake: str = "",
    explained: bool = False,
) -> str:
    """One line for the student, or '' where nothing is clear. Findings weigh more than values.

    `checks`: expression and expansion of the checks that failed; `mistake`: what of_mistakes found;
    `explained`: the test itself said in words what was wrong.
    """
    values = mistake or of_values(found, checks or [], explained)
    missed = [f for f in findings if f.code == "barrier-divergence" and f.facts.get("returned")]
    # They left by a `return` above the barrier, or went round a branch that holds it.
    absent = (
        "threads return before the block is done with them: every thread must stay"
        if any(not f.facts.get("passed_by") and source.returns_above(f) for f in missed)
        else by_code["barrier-divergence"]
    )
    if missed and any(f.code == "uninitialized-shared" for f in findings):
        return absent
    outside = {f.line for f in findings if f.code == "out-of-bounds-global"}
    if races.barrier_between(findings):
        return by_code["barrier-divergence"]
    # Threads that miss a barrier also arrive at different warp operations: that follows.
    for finding in sorted(findings, key=lambda f: f.code == "warp-mask"):
        if finding.severity == "error" and finding.code in by_code:
            # Threads that leave the array, or the row, also meet the owners of other elements.
            if finding.code == "race-global" and finding.line in outside:
                continue
            if finding.code.startswith("out-of-bounds") and _INDEX.search(values):
                return values  # it says why the index leaves the array
            follows = finding.code in ("out-of-bounds-global", "uninitialized-shared")
            if mistake and (follows or finding.code == "race-global"):
                return mistake  # it explains every value: the finding follows from it
            if finding.code == "race-global":  # of several, the one that says which index is wrong
                finding = next((f for f in findings if races.blocks_meet(f)), finding)
            words = _of_finding(finding, values.startswith("too small"))
            # An access past the end of a device array is no race in shared memory.
            race = next(
                (f for f in findings if f.code == "race-shared" and all(races.place_of(f))), None
            )
            if race and finding.code == "out-of-bounds-global":
                return f"{_of_finding(race, False)}; and {words}"
            return words
    if words := stopped.of_cuda_error(exception):
        return words
    if exception and (misuse := [f for f in findings if f.code in _REFUSED_FOR]):
        return _of_finding(misuse[0], False)  # the call was refused for this
    if words := stopped.of_status(exception):
        return words
    if missed and "never written" in values and not mistake:
        return absent
    warnings = [f for f in findings if f.severity == "warning" and f.code in by_code]
    # A finding that names how threads miss one another says more than what the values look like.
    telling = [f for f in warnings if f.code in _OF_THREADS]
    if telling and not mistake:
        return _of_finding(telling[0], False)
    if values:
        return values
    return _of_finding(warnings[0], False) if warnings else ""
