# SPDX-License-Identifier: MIT
"""Runs the seeded programs of tests/emulator/cases under compute-sanitizer's four tools."""

from __future__ import annotations

import concurrent.futures
import os
import re
import sys
from pathlib import Path

from device import (
    HERE,
    ROOT,
    Device,
    HardwareError,
    compile_cuda,
    cores,
    read_table,
    say,
    tool,
    write_table,
)

sys.path.insert(0, str(ROOT / "tests" / "emulator"))
import run_cases  # noqa: E402

PAGE = HERE / "findings" / "README.md"
CASES = ROOT / "tests" / "emulator" / "cases"
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
SECONDS = 15  # a case that runs longer hangs

_NOISE = re.compile(
    r"COMPUTE-SANITIZER|ERROR SUMMARY|RACECHECK SUMMARY|Saved host backtrace|Host Frame|"
    r"^=+ *$|Target application returned|LEAK SUMMARY|No CUDA|hazards? displayed"
)


def what_it_said(text: str, source: str) -> str:
    """`title @ line` of what a tool reported, each once; '' when it reported nothing."""
    reports: list[str] = []
    title = ""
    for line in text.splitlines():
        if not line.startswith("========="):
            continue
        body = line.removeprefix("=========").strip()
        if not body or _NOISE.search(line):
            continue
        place = re.search(rf"{re.escape(source)}:(\d+)", body)
        depth = len(line) - len(line.removeprefix("=========").lstrip()) - 9
        if depth <= 1:
            title = re.sub(r"0x[0-9a-f]+|\(\d+,\d+,\d+\)|\d+", "N", body)[:70]
            reports.append(f"{title}@")
        if place and reports and reports[-1].endswith("@"):
            reports[-1] += place[1]
    return "; ".join(dict.fromkeys(report.rstrip("@") for report in reports))


def measure(build: Path, device: Device) -> None:
    """Writes results/sanitizer.csv: for each case, what each tool said."""
    sanitizer = tool("compute-sanitizer")
    logs = build / "sanitizer"
    logs.mkdir(parents=True, exist_ok=True)
    sources = sorted(CASES.glob("*.cu"))

    def compiled(source: Path) -> Path | None:
        flags = re.findall(r"^//\s*nvcc:\s*(.+?)\s*$", source.read_text(), re.MULTILINE)
        words = [word for line in flags for word in line.split()]
        try:
            return compile_cuda(source, build / "cases" / source.stem, device, *words)
        except HardwareError as error:
            say(str(error)[:300])
            return None

    def one(job: tuple[Path, Path, str]) -> None:
        source, program, which = job
        log = logs / f"{source.stem}.{which}.txt"
        if log.exists():  # of a measurement that was broken off
            return
        options = ["--leak-check", "full"] if which == "memcheck" else []
        done = device.run(
            sanitizer, "--tool", which, *options, "--print-limit", "20", program, seconds=SECONDS
        )
        log.write_text(done.stdout + done.stderr)

    with concurrent.futures.ThreadPoolExecutor(cores()) as pool:
        programs = dict(zip(sources, pool.map(compiled, sources), strict=True))
        jobs = [(s, p, t) for s, p in programs.items() if p for t in TOOLS]
        with concurrent.futures.ThreadPoolExecutor(min(10, cores())) as runners:
            list(runners.map(one, jobs))
    collect(logs, device.describe())


def collect(logs: Path, about: str) -> None:
    """Writes results/sanitizer.csv from the tools' logs."""
    rows = []
    for source in sorted(CASES.glob("*.cu")):
        said = []
        for which in TOOLS:
            log = logs / f"{source.stem}.{which}.txt"
            text = log.read_text() if log.exists() else ""
            hung = "hang " if text.endswith("did not end") else ""
            said.append((hung + what_it_said(text, source.name)).strip() if text else "not run")
        rows.append((source.stem, *said))
    write_table("sanitizer", f"{about}, compute-sanitizer", ("case", *TOOLS), rows)
    say(f"findings: {len(rows)} programs under {len(TOOLS)} tools recorded")


def page() -> str:
    """The table of findings/README.md: what the seeded programs should give here, and what
    compute-sanitizer's tools gave."""
    about, rows = read_table("sanitizer")
    seen = {tool_name: 0 for tool_name in (*TOOLS, "any")}
    alarms = bugs = 0
    lines = []
    for row in rows:
        source = CASES / f"{row['case']}.cu"
        if not source.exists():  # since then removed
            continue
        text = source.read_text()
        expected = run_cases.expectations(text)
        said = [row[name].replace("|", "/") or "-" for name in TOOLS]
        heard = [one != "-" for one in said]
        bugs += bool(expected)
        if expected:
            for name, one in zip(TOOLS, heard, strict=True):
                seen[name] += one
            seen["any"] += any(heard)
        else:
            alarms += any(heard)
        ours = "; ".join(dict.fromkeys(f"{e.code}@{e.line}" for e in expected)) or "-"
        lines.append(f"| {row['case']} | {ours} | {' | '.join(said)} |")
    counts = ", ".join(f"{name} {seen[name]}" for name in TOOLS)
    head = f"""# Findings side by side

The seeded programs of `tests/emulator/cases` under compute-sanitizer's tools ({about}). Written by
`run.py compare findings`; the second column is what the emulated device must report (the test
`case.*` holds it to that), code@line. `hang`: stopped after {SECONDS} seconds. `-`: nothing.

Of {bugs} programs with a bug, at least one tool reports something or hangs for {seen["any"]}
({counts}); of
{len(lines) - bugs} without a finding here, for {alarms}. A report need not be about the bug: an
error code that the program ignores is reported as such, and memory that is not freed as a leak.

| program | emulated device | memcheck | racecheck | initcheck | synccheck |
|---|---|---|---|---|---|
"""
    return head + "\n".join(lines) + "\n"


def compare(build: Path, device: Device) -> list[str]:
    """Whether findings/README.md is what the recorded results make it; it is written anew."""
    text = page()
    if PAGE.exists() and PAGE.read_text() == text:
        say("findings: the table in findings/README.md is up to date")
        return []
    if "WORKBOOK_TEST_BUILD" in os.environ:  # a test does not change its sources
        return ["findings/README.md is out of date: tests/hardware/run.py compare findings"]
    PAGE.write_text(text)
    return ["findings/README.md was out of date, and is written anew"]
