# SPDX-License-Identifier: Apache-2.0
"""Where the launchers are: in the tree, or installed."""

from pathlib import Path

BASE = Path(__file__).resolve().parents[3]  # of the tree, or the prefix: programs/run/ggas_launch, share/ggas/ggas_launch
