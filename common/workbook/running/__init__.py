# SPDX-License-Identifier: MIT
"""Runs programs: one test case in a process, within limits, in a sandbox, in several ranks."""
