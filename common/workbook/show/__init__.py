# SPDX-License-Identifier: MIT
"""What is seen on a terminal or a projector: grades, hints, demos, times."""
