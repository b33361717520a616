# SPDX-License-Identifier: MIT
"""Runs one test case in a process of its own and returns its result.

For the workbook's tests, WORKBOOK_EMULATOR names a folder with another build of the device, and
WORKBOOK_RUN_UNDER a command that starts the programs, such as a processor emulator.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
import signal
import tempfile
from pathlib import Path

from ..base.project import ROOT, DeviceFailed, WorkbookError
from ..facts import counters
from ..facts.findings import Finding
from ..lesson.test_cases import Outcome, TestCase
from . import ranks, runner, sandbox
from .case_result import BUSY, NO_TIME, CaseResult
from .channel import Channel, Told
from .sandbox import Box
from .time_limits import TimeLimits, hangs

# common/harness/grader ends a program that calls exit() inside a test with this code, and one that
# does what no lesson's file needs with the other.
_EXIT_CALLED, _TAMPERED = 86, 87
# The emulated device ends a program with it that cannot run on this machine at all.
_CANNOT_RUN = 126
# Of one launch of a lesson, in thread-instructions: an endless loop that stores would go on.
_BUDGET = "12000000000"
# Thread-instructions, for finding the loop of a launch that took too long: a second or two.
_SMALL_BUDGET, _SECOND_LOOK = "1000000000", 5.0

# What the dynamic linker says, with code 127, when a library is missing or does not fit.
_NOT_LOADED = ("symbol lookup error", "error while loading shared libraries")


def _environment(
    device: str,
    build: Path,
    channel: Channel | ranks.RankChannels,
    details: Path,
    box: Box | None,
) -> dict[str, str]:
    outer = sandbox.environment() if box else os.environ
    env = {key: value for key, value in outer.items() if not key.startswith("EMULATOR_")}
    for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "LD_PRELOAD"):
        env.pop(name, None)
    env["WORKBOOK_DETAILS"] = str(details)
    env["WORKBOOK_GRADER"] = channel.address
    if device == "emulator":
        # Before the program's own search path, where a toolkit's libcudart might stand.
        older = env.get("LD_LIBRARY_PATH")
        library = os.environ.get("WORKBOOK_EMULATOR") or str(build / "emulator")
        env["LD_LIBRARY_PATH"] = library + (f":{older}" if older else "")
        env["EMULATOR_WRITERS"] = "1"
        env["EMULATOR_BUDGET"] = _BUDGET
    return env


def run_case(
    program: Path,
    case: TestCase,
    device: str,
    build: Path,
    limits: runner.Limits | None = None,
    trace: Path | None = None,
    times: TimeLimits | None = None,
    box: Box | None = None,
) -> CaseResult:
    """Runs one test case of `program` in its own process; `trace` names a file for what it touches.

    With `times` the limit is short after another case of the lesson has not finished. In a box the
    program sees itself, the emulated device and what else is in there.
    """
    times = times or TimeLimits(limits or runner.Limits.on(device))
    result = None
    for count in case.ranks or (0,):
        now = _run_once(program, case, device, build, trace, times, box, count)
        if result:  # of the runs with fewer ranks, which have passed
            now.seconds += result.seconds
            now.by_the_clock += result.by_the_clock
            now.used += result.used
            now.peak_memory = max(now.peak_memory, result.peak_memory)
        result = now
        if not result.passed:
            break
    assert result is not None
    return result


def _run_once(
    program: Path,
    case: TestCase,
    device: str,
    build: Path,
    trace: Path | None,
    times: TimeLimits,
    box: Box | None,
    count: int,
) -> CaseResult:
    """One run: in one process that is started, or in `count` ranks."""
    limits = times.for_next()
    if limits is None:
        return CaseResult(case, Outcome(), "", [], skipped=NO_TIME)
    with _Run(program, case, device, build, times, trace, box, count) as run:
        result = None
        if times.short and device == "emulator":
            # A launch in an endless loop ends itself by this, and says where it is.
            result = run.result(limits, {"EMULATOR_BUDGET": _SMALL_BUDGET})
            if hangs(result.findings) and not times.known(result.findings):
                result, limits = None, times.for_next() or limits  # large, perhaps, and not endless
        if result is None:
            result = run.result(limits)
            if result.hangs:
                times.did_not_finish()
                if device == "emulator" and not result.findings:
                    result.findings = run.where_it_hangs(limits)
                times.remember(result.findings)
    if result.ending == "times-out" and result.seconds < min(limits.seconds, times.shortest):
        return CaseResult(case, Outcome(), "", [], skipped=NO_TIME)
    return result


class _Run:
    """The runs of one test case, with files for what they report."""

    def __init__(
        self,
        program: Path,
        case: TestCase,
        device: str,
        build: Path,
        times: TimeLimits,
        trace: Path | None,
        box: Box | None,
        count: int = 0,
    ) -> None:
        self._count = count  # of ranks; 0: it is no such case
        self._program, self._case, self._device, self._build = program, case, device, build
        self._times, self._trace, self._box = times, trace, box

    def __enter__(self) -> _Run:
        self._scratch = tempfile.TemporaryDirectory(prefix="workbook-")
        self._details = Path(self._scratch.name) / "details"
        if self._count:
            written = ranks.prepare(Path(self._scratch.name), self._count)
            if self._box:
                self._box = self._box.with_files(
                    (self._program, self._build / "emulator", Path(self._scratch.name, "grader")),
                    written,
                )
        elif self._box:  # this one file can be written to, and not be replaced
            self._details.touch()
            self._box = self._box.with_files(
                (self._program, self._build / "emulator"), (self._details,)
            )
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.cleanup()

    def _start(self, limits: runner.Limits, settings: dict[str, str]) -> tuple[runner.Ended, Told]:
        if self._count:
            return self._start_ranks(limits, settings)
        with contextlib.suppress(OSError):
            if self._box:
                os.truncate(self._details, 0)
            else:
                self._details.unlink()
        under = shlex.split(os.environ.get("WORKBOOK_RUN_UNDER", ""))
        program = str(self._program)
        device = "imitated" if under and self._device == "emulator" else self._device
        with contextlib.closing(Channel(device, self._case)) as channel:
            env = _environment(self._device, self._build, channel, self._details, self._box)
            if self._trace and self._device == "emulator":
                env["EMULATOR_TRACE"] = str(self._trace)
            try:
                ended = runner.run(
                    [*under, program], {**env, **settings}, ROOT, limits, self._times.until,
                    channel, self._box,
                )  # fmt: skip
            except OSError as error:
                raise WorkbookError(f"cannot run {program}: {error}") from error
            return ended, channel.told(ended.process)

    def _start_ranks(
        self, limits: runner.Limits, settings: dict[str, str]
    ) -> tuple[runner.Ended, Told]:
        folder = Path(self._scratch.name)
        for path in ranks.prepare(folder, self._count) if not self._box else ():
            path.chmod(0o666)
        under = shlex.split(os.environ.get("WORKBOOK_RUN_UNDER", ""))
        device = "imitated" if under and self._device == "emulator" else self._device
        channels = ranks.RankChannels(device, self._case, self._count, folder)
        with contextlib.closing(channels):
            env = _environment(self._device, self._build, channels, self._details, self._box)
            own = ranks.settings(folder, self._count, self._trace)
            program = [*under, str(self._program)]
            # A box has folders of its own.
            command = ranks.command(self._count, program, own, None if self._box else folder)
            ended = runner.run(
                command, {**env, **settings}, ROOT, limits, self._times.until, channels, self._box
            )
            if not (self._box and sandbox.failed(ended.output)):  # reported below, as always
                ranks.stop_if_none_started(ended, channels)
            blamed = ranks.blame(ended, channels)
            self._details = ranks.details_of(folder, blamed.rank)
            if ended.how == "time":
                blamed.told.waiting = ranks.where_they_wait(channels)
            return blamed.ended, blamed.told

    def result(self, limits: runner.Limits, settings: dict[str, str] | None = None) -> CaseResult:
        """The case's result; `settings` are further variables of the emulated device."""
        ended, told = self._start(limits, settings or {})
        self._times.starved(ended.starved)
        if ended.how == "busy":  # nothing is known of the answer
            return CaseResult(
                self._case, Outcome(), "", [], ended.own_seconds, skipped=BUSY,
                by_the_clock=ended.seconds, used=ended.used,
            )  # fmt: skip
        on_emulator = self._device == "emulator"
        ending, words = _how_it_ended(ended, told, limits, on_emulator)
        if told.waiting:
            words += ": " + "; ".join(told.waiting)
        elif words and self._count > 1 and told.rank is not None:
            words = f"rank {told.rank} of {self._count}: {words}"
        if on_emulator:
            _stop_if_device_did_not_start(ended, told, self._box is not None)
            for one in told.findings:
                if one.code == "internal-error":
                    raise DeviceFailed(str(one.data.get("message", "")))
        return CaseResult(
            self._case, told.outcome, words, told.findings,
            ended.own_seconds, ended.peak_memory, ended.output,
            counters.read_details(self._details), ending, by_the_clock=ended.seconds,
            used=ended.used,
        )  # fmt: skip

    def where_it_hangs(self, limits: runner.Limits) -> list[Finding]:
        """Findings of another run, in which a launch may do less: the kernel that does not end."""
        # Nothing else is looked for: the budget is then used up within a second.
        settings = {"EMULATOR_BUDGET": _SMALL_BUDGET, "EMULATOR_CHECKS": "stalls"}
        seconds = min(_SECOND_LOOK, limits.seconds)
        _, told = self._start(dataclasses.replace(limits, seconds=seconds), settings)
        return hangs(told.findings)


def _stop_if_device_did_not_start(ended: runner.Ended, told: Told, boxed: bool) -> None:
    """Raises DeviceFailed after a run without the device for a reason that is the device's.

    The device says that it works before any code of the student's runs.
    """
    if told.device_began or ended.code == 127:
        return
    if boxed and (said := sandbox.failed(ended.output)):
        raise WorkbookError(f"the sandbox could not be made: {said}", "see make doctor")
    if ended.code == _CANNOT_RUN:
        raise WorkbookError(ended.output.strip() or "the emulated device cannot run here")
    if ended.code is not None and ended.code < 0 and not ended.how:
        raise DeviceFailed(f"{ended.signal_name} before the program began")


def _how_it_ended(
    ended: runner.Ended, told: Told, limits: runner.Limits, on_emulator: bool
) -> tuple[str, str]:
    """Empty for a run that came to its own end with a whole report; else a word of
    verdicts.ENDINGS (or one that no verdict knows) and the same as a sentence.
    """
    outcome = told.outcome
    if told.tampered or ended.code in (-signal.SIGSYS, _TAMPERED):
        what = told.tampered or "made a system call that no lesson needs, or started itself again"
        return "tampered", f"tampered with the grading: your code {what}"
    if ended.how == "time":
        seconds = min(limits.seconds, round(ended.own_seconds, 1))
        return "times-out", f"did not finish within {seconds:g} s"
    if ended.how == "memory":
        return "out-of-memory", f"out of memory: used more than {limits.memory >> 20} MiB"
    if ended.how == "processes":
        return "too-many-processes", "started more processes than a lesson may"
    if ended.how == "output":
        mebibytes = limits.output >> 20
        return "floods", f"flooded its output: printed more than {mebibytes} MiB"
    fatal = next((failure.fatal for failure in outcome.failures if failure.fatal), "")
    if fatal:
        if "SIGSEGV" in fatal:
            return "crashes", "crashed: segmentation fault on the host"
        number = getattr(signal, fatal.split(" - ")[0].strip(), 0)
        return _crash_word(number), f"crashed: {fatal.split(' - ')[-1]}"
    if ended.code == _EXIT_CALLED and not outcome.complete:
        return "ends-early", "ended early: exit() was called before the test was over"
    if ended.code == -signal.SIGXFSZ:
        return "fills-disk", f"wrote a file of more than {limits.file_size >> 20} MiB"
    if ended.code < 0:
        return _crash_word(-ended.code), f"crashed: {ended.signal_name}"
    if not outcome.complete:
        if ended.code == 127 and any(words in ended.output for words in _NOT_LOADED):
            raise WorkbookError(
                "the lesson's program cannot be started, and that is not your file's fault: "
                + ended.output.strip().splitlines()[0],
                "make clean, then make; if it stays, please report it",
            )
        stopped = f"the program stopped with code {ended.code} before the test was over"
        return "ends-early", f"ended early: {stopped}"
    if outcome.success and ended.code != 0:
        return "ends-badly", f"passed its checks and then ended with code {ended.code}"
    # Of a device that does not count the test warns; the emulated one always does.
    if outcome.success and on_emulator and outcome.warnings:
        return "counters-lost", "was not measured: the device's counters could not be read"
    if outcome.success and outcome.assertions == 0 and not outcome.warnings:
        return "checks-nothing", "checked nothing: no assertion was reached"
    if told.lost:
        return "report-lost", "a part of its report did not reach the grader"
    if not told.program_ended or (on_emulator and not told.device_ended):
        return "report-lost", "its report is incomplete: the program ended before it was whole"
    return "", ""


def _crash_word(number: int) -> str:
    """A word of verdicts.ENDINGS for the signals that students' mistakes raise; else its number."""
    if number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE):
        return "crashes"
    return "aborts" if number == signal.SIGABRT else f"signal-{number}"
