# SPDX-License-Identifier: MIT
"""Pictures of a run: trace.py reads what the emulator wrote, draw_*.py turn it into figures."""
