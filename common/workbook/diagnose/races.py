# SPDX-License-Identifier: MIT
"""What a race between two accesses says about its cause."""

from __future__ import annotations

from ..facts.findings import Finding
from . import geometry, source
from .by_code import by_code


def place_of(finding: Finding) -> tuple[str, str]:
    """The two lines of a race: `line 39`, with the file where they are in different ones."""
    other = finding.data.get("other") or {}
    here = f"line {finding.line}" if finding.line else ""
    there = f"line {other['line']}" if other.get("line") else ""
    return here, there


def two_stores(finding: Finding) -> bool:
    facts = finding.facts
    both = facts.get("access") == facts.get("other_access") == "write"
    return finding.code == "race-global" and both


def blocks_meet(finding: Finding) -> bool:
    """Whether threads of one number, of two blocks, store to one element."""
    other = finding.data.get("other") or {}
    apart = bool(other.get("block")) and other.get("block") != finding.data.get("block")
    return two_stores(finding) and apart and other.get("thread") == finding.data.get("thread")


def of_race(finding: Finding, lost: bool) -> str:
    here, there = place_of(finding)
    other = finding.data.get("other") or {}
    other_block = other.get("block")
    same_thread = other.get("thread") == finding.data.get("thread")
    blocks_differ = bool(other_block) and other_block != finding.data.get("block")
    facts = finding.facts
    relation, clash = facts.get("relation"), facts.get("clash")
    both_write = facts.get("access") == facts.get("other_access") == "write"
    if clash == "same-store":
        return "several threads store to one element, each its own value: only one may, or each " \
               "needs an element of its own"  # fmt: skip
    if relation == "host":
        return "the host uses an array while a kernel or a copy may still be at work on it: it " \
               "must wait first"  # fmt: skip
    if relation == "streams":
        return "two streams use one array, and nothing orders them: an event, or a synchronisation"
    if relation == "graph":
        return "two branches of a graph use one array, and none of them depends on the other"
    if clash == "scope":
        return "an atomic of block scope, where several blocks use one number: it must reach the " \
               "whole device"  # fmt: skip
    if finding.code == "race-shared":
        if here == there and source.only_updates(finding):
            return "several threads of a block update one element without an atomic"
        if here and here == there and both_write:
            return "several threads store to one slot: does the index give each its own, or is a " \
                   "barrier missing between two rounds?"  # fmt: skip
        if here and here == there:
            return (
                f"a missing barrier between one round and the next: {here} reads what {here} wrote"
            )
        if here and there and source.syncwarp_between(finding):
            return (
                f"a missing barrier between {there} and {here}: `__syncwarp` holds back one warp "
                "only, `__syncthreads` the whole block"
            )
        if here and there and source.stores_the_result_of_a_block(finding):
            return (
                f"a missing barrier between {there} and {here}, or should one thread alone store "
                "the result of its block?"
            )
        if here and there:
            return f"a missing barrier between {there} and {here}"
        return by_code[finding.code]
    if facts.get("one_atomic"):
        return "an atomic on one side, a plain access on the other: every access to a number " \
               "that threads share must be atomic"  # fmt: skip
    if here == there and (one := source.updates_one_number(finding)):
        return f"all threads update the same number, `{one}`, and none of them by an atomic"
    if words := geometry.of_race(finding):
        return words
    prefix = "lost updates: " if lost else ""
    if blocks_differ and same_thread and here == there:
        return prefix + "several blocks work on the same element: is the block's number missing " \
               "from the index, or an atomic from the update?"  # fmt: skip
    if here and here == there and two_stores(finding):
        return "two threads store to one element: have both the same index, or should a guard " \
               "have stopped one of them?"  # fmt: skip
    if here and here == there and lost:
        return prefix + "several threads update one element: each needs one of its own, or the " \
               "update an atomic"  # fmt: skip
    if here and here == there:
        return "several threads work on one element: does the index, or a missing guard, send " \
               "two of them to one place? If it is meant, the update needs an atomic"  # fmt: skip
    if blocks_differ and source.waits_for_another(finding):
        return f"{here} waits for another block by plain loads, which may give the old value for " \
               "ever: they must be atomic, or volatile"  # fmt: skip
    if blocks_differ:
        return f"one block reads what another one writes ({there} and {here}): blocks run in any " \
               "order, and a barrier does not hold them together"  # fmt: skip
    if here and there and not same_thread:
        return f"threads of one block meet on one element ({there} and {here}): is a barrier " \
               "missing between the two, is the index wrong, or must one atomic do " \
               "both?"  # fmt: skip
    return prefix + by_code[finding.code]


def barrier_between(findings: list[Finding]) -> bool:
    """Whether a barrier that some threads miss stands between the two lines of a race."""
    races = [f for f in findings if f.code == "race-shared" and all(place_of(f))]
    barriers = [f.line for f in findings if f.code == "barrier-divergence"]
    lines = [sorted((f.line, int((f.data.get("other") or {})["line"]))) for f in races]
    return any(first < at < last for first, last in lines for at in barriers)
