#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the schedule of one data-parallel training step: forward, backward, and an allreduce of each layer's gradients
around a ring while the layers below still compute.

    make_training_step.py --ranks 8 > resnet50.goal

The layers are the stages of ResNet-50 (He et al. 2015, table 1): weights from its filter sizes, times by their share
of the operations.
"""

import argparse
import sys

# name, weights, billions of multiply-adds for an image
LAYERS = [("conv1", 9_408, 0.118), ("conv2", 215_808, 0.680), ("conv3", 1_219_584, 1.031),
          ("conv4", 7_098_368, 1.467), ("conv5", 14_964_736, 0.811), ("fc", 2_049_000, 0.002)]


def program_of(rank, opts):
    """What a rank computes and sends, in lines."""
    work = sum(macs for _, _, macs in LAYERS)
    lines, after = [], []
    last = ""

    def add(label, text, *needs):
        lines.append(f"  {label}: {text}")
        after.extend(f"  {label} requires {need}" for need in needs if need)

    for name, _, macs in LAYERS:  # a third of the time is forward
        add(f"f_{name}", f"calc {int(opts.step_us * 1000 * macs / work / 3)} cpu 0", last)
        last = f"f_{name}"
    for tag, (name, weights, macs) in enumerate(reversed(LAYERS)):
        add(f"b_{name}", f"calc {int(opts.step_us * 2000 * macs / work / 3)} cpu 0", last)
        last = f"b_{name}"
        piece = max(8, weights * 4 // opts.scale // opts.ranks // 8 * 8)
        ready = f"b_{name}"
        for step in range(2 * (opts.ranks - 1)):  # reduce-scatter, then allgather
            add(f"s_{name}_{step}", f"send {piece}b to {(rank + 1) % opts.ranks} tag {tag}", ready)
            before = f"r_{name}_{step - 1}" if step else ""
            add(f"r_{name}_{step}", f"recv {piece}b from {(rank - 1) % opts.ranks} tag {tag}", before)
            ready = f"r_{name}_{step}"
    return lines + after


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--ranks", type=int, default=8, help="GPUs that train, at least 2 (default 8)")
    args.add_argument("--step-us", type=float, default=1000, help="time to compute forward and backward, microseconds")
    args.add_argument("--scale", type=int, default=100, help="divide the bytes of the gradients by this (default 100)")
    opts = args.parse_args()
    if opts.ranks < 2:
        sys.exit(f"--ranks {opts.ranks}: expected at least 2")
    if opts.scale < 1:
        sys.exit(f"--scale {opts.scale}: expected at least 1")
    print(f"num_ranks {opts.ranks}")
    for rank in range(opts.ranks):
        print(f"rank {rank} {{", *program_of(rank, opts), "}", sep="\n")


if __name__ == "__main__":
    main()
