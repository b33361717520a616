# SPDX-License-Identifier: MIT
"""What a lesson's sources say: tasks, test cases, the student's own lines, the index."""
