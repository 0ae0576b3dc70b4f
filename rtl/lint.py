#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lints nic_top with every Verilator warning on; exit status 1 on any."""

import subprocess
import sys

import sources


def main():
    opts = sources.arguments(__doc__).parse_args()
    command = ["verilator", "--lint-only", "-Wall", f"-GDATA_W={opts.data_w}", "--top-module", "nic_top"]
    result = subprocess.run(command + [str(f) for f in sources.files(opts.generated)])
    if result.returncode == 0:
        print(f"nic_top, DATA_W={opts.data_w}: no warning")
    sys.exit(1 if result.returncode else 0)


if __name__ == "__main__":
    main()
