# SPDX-License-Identifier: MIT
"""Compiles: the device, a student's file, answers in its place; refuses what may not run."""
