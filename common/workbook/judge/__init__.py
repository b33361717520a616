# SPDX-License-Identifier: MIT
"""The grade that follows from the results of all cases. Prints nothing."""
