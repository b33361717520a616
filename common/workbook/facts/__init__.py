# SPDX-License-Identifier: MIT
"""What a run reports, as fields: findings, counters, the timeline."""
