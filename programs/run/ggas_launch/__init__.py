# SPDX-License-Identifier: Apache-2.0
"""What the launchers `ggas-run` and `gaspi_run` have in common."""
