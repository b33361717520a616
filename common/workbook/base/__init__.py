# SPDX-License-Identifier: MIT
"""What every command needs: the lessons' places, files, locks, phases, words for plain output."""
