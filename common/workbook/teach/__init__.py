# SPDX-License-Identifier: MIT
"""Grades a class, and single files for other services."""
