# SPDX-License-Identifier: MIT
"""Right and wrong answers as edits, and the verdicts that they must get."""
