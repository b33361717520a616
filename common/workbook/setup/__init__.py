# SPDX-License-Identifier: MIT
"""Installs what is missing: packages, Python's tools, the toolkit, a lesson's libraries."""
