# SPDX-License-Identifier: MIT
"""Measurements on a card and on the emulated device, and their figures."""
