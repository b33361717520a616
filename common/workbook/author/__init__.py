# SPDX-License-Identifier: MIT
"""What authors run: the tests, formatting, wrong answers to edit, genuine output."""
