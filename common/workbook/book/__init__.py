# SPDX-License-Identifier: MIT
"""The static site of all lessons."""
