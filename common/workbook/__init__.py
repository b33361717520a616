# SPDX-License-Identifier: MIT
"""The learning loop: set up, build, grade, hint, explain, remember."""
