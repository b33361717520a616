#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Tests of the emulator as a library and a program: what it exports, how it starts and ends, what
it says about programs that it cannot run, and which host lines it blames.

    test_edge.py --library DIR --build DIR [--nvcc NVCC] [PATTERN]

DIR of --library holds `emulate` and the emulated libcudart; PATTERN is part of a test's name.
"""

from __future__ import annotations

import argparse
import os
import sys
import unittest
from pathlib import Path

import edge_files
import edge_runs
from edge_support import compile_programs, options


def main() -> int:
    """Builds the programs and runs the tests; 0 when all passed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", type=Path, required=True, help="directory of the emulator")
    parser.add_argument("--build", type=Path, required=True, help="directory for the programs")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("pattern", nargs="?", help="part of a test's name")
    parser.parse_args(namespace=options)
    options.library = options.library.resolve()
    options.build = options.build.resolve()
    if complaints := compile_programs():
        print(complaints, file=sys.stderr)
        return 1
    loader = unittest.defaultTestLoader
    if options.pattern:
        loader.testNamePatterns = [f"*{options.pattern}*"]
    suite = unittest.TestSuite(
        loader.loadTestsFromModule(module) for module in (edge_files, edge_runs)
    )
    result = unittest.TextTestRunner(stream=sys.stdout, verbosity=1).run(suite)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
