# SPDX-License-Identifier: MIT
"""What overlaps by the model timeline overlaps on a card: pairs of ways to do the same work."""

from __future__ import annotations

from pathlib import Path

from device import HERE, Device, HardwareError, compile_cuda, read_table, say, write_table

# Below this, the second way is not told from the first: nothing overlaps.
GAIN = 1.15
# How far the two gains may be apart, as a factor. The model is of round numbers.
FACTOR = 1.6


def times(build: Path, device: Device) -> dict[str, tuple[float, float]]:
    """Milliseconds of both ways, by the name of the pair."""
    name = "overlap_emulator" if device.emulated else "overlap_gpu"
    program = compile_cuda(HERE / "timeline" / "overlap.cu", build / name, device)
    done = device.run(program, seconds=300, EMULATOR_CHECKS="none")
    if done.returncode:
        raise HardwareError(f"overlap.cu ended with {done.returncode}: {done.stdout[-300:]}")
    found = {}
    for line in done.stdout.splitlines():
        pair, one, two = line.rsplit(",", 2)
        found[pair] = float(one), float(two)
    return found


def measure(build: Path, device: Device) -> None:
    """Writes results/overlap.csv."""
    rows = [(pair, f"{a:.4f}", f"{b:.4f}") for pair, (a, b) in times(build, device).items()]
    write_table("overlap", device.describe(), ("pair", "first_ms", "second_ms"), rows)
    say(f"timeline: {len(rows)} pairs measured")


def compare(build: Path, device: Device) -> list[str]:
    """Pairs that overlap on one of the two only, or by very different factors."""
    about, rows = read_table("overlap")
    ours = times(build, device)
    problems = []
    say(f"timeline, against {about}: how many times faster the second way is")
    say(f"  {'':46}{'card':>22}{'model':>22}")
    for row in rows:
        pair = row["pair"]
        if pair not in ours:
            problems.append(f"{pair}: not measured here")
            continue
        columns = []
        gains = []
        for one, two in ((float(row["first_ms"]), float(row["second_ms"])), ours[pair]):
            gains.append(one / two)
            columns.append(f"{one:8.3f}/{two:.3f} = {one / two:.2f}")
        say(f"  {pair:46}{columns[0]:>22}{columns[1]:>22}")
        card, model = gains
        if (card >= GAIN) != (model >= GAIN):
            problems.append(f"{pair}: {model:.2f} times by the model, {card:.2f} on the card")
        elif not 1 / FACTOR <= model / card <= FACTOR:
            problems.append(f"{pair}: {model:.2f} times by the model is far from {card:.2f}")
    problems += [
        f"{pair}: not measured on a card" for pair in ours if pair not in {r["pair"] for r in rows}
    ]
    say(f"timeline: {len(rows)} pairs: {len(problems)} problems")
    return problems
