#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the Chakra execution trace of one training step of GPT-3, a file a rank: NAME.0.et, NAME.1.et, ...

    make_chakra.py --model small --ranks 8 --scale 100 step
    ./ggas bench trace step.et

Sizes of the models: Brown et al. 2020, "Language Models are Few-Shot Learners", table 2.1. Operations and weights of
a layer, and the rate of a GPU: Narayanan et al. 2021, "Efficient Large-Scale Language Model Training on GPU Clusters
Using Megatron-LM", section 5 and its table 1. Each layer is divided among --tensor ranks, which sum activations after
attention and MLP, forward and backward (Shoeybi et al. 2019, "Megatron-LM", section 3). The ranks that hold the same
part of the weights train on different data: reduce-scatter of the gradients while the layers below compute,
all-gather of the new weights, and a barrier.
"""

import argparse
import sys

MODELS = {  # layers, size of a token's vector
    "small": (12, 768), "medium": (24, 1024), "large": (24, 1536), "xl": (24, 2048), "2.7b": (32, 2560),
    "6.7b": (32, 4096), "175b": (96, 12288),
}
TOKENS = 2048  # of a sequence
HALF = 2  # bytes of a number

# Fields and values of schema/protobuf/et_def.proto.
ID, NAME, TYPE, DATA_DEPS, MICROS, ATTR = 1, 2, 3, 5, 7, 10
ATTR_NAME, INT64, BOOL, STRING = 1, 9, 27, 29
COMP, COLLECTIVE = 4, 7
ALL_REDUCE, ALL_GATHER, REDUCE_SCATTER, BARRIER = 0, 2, 7, 9


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def number(field, n):
    return varint(field << 3) + varint(n)


def text(field, data):
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def framed(message):
    return varint(len(message)) + message


class Rank:
    """The nodes of one rank."""

    def __init__(self):
        self.data = framed(text(1, "0.0.4"))
        self.nodes = 0

    def add(self, name, kind, after, fields=b"", **attributes):
        message = number(ID, self.nodes) + text(NAME, name) + number(TYPE, kind) + fields
        message += b"".join(number(DATA_DEPS, node) for node in after)
        message += text(ATTR, text(ATTR_NAME, "is_cpu_op") + number(BOOL, 0))
        for key, value in attributes.items():
            content = text(STRING, value) if isinstance(value, str) else number(INT64, value)
            message += text(ATTR, text(ATTR_NAME, key) + content)
        self.data += framed(message)
        self.nodes += 1
        return [self.nodes - 1]

    def compute(self, name, micros, after):
        return self.add(name, COMP, after, number(MICROS, max(1, round(micros))))

    def collective(self, name, what, size, group, after):
        return self.add(name, COLLECTIVE, after, comm_type=what, comm_size=max(1, size), pg_name=group)


def step(rank, opts):
    layers, h = MODELS[opts.model]
    layers = opts.layers or layers
    r = Rank()
    micros = 1 / (opts.tflops * 1e6 * opts.tensor * opts.scale)
    attention = (8 * TOKENS * h * h + 4 * TOKENS * TOKENS * h) * micros
    mlp = 16 * TOKENS * h * h * micros
    activations = TOKENS * h * HALF // opts.scale
    weights = 12 * h * h * HALF // opts.tensor // opts.scale
    tensor, data = f"tensor{rank // opts.tensor}", f"data{rank % opts.tensor}"

    def divided(name, share, last):
        last = r.compute(name, share, last)
        return r.collective(name + ".sum", ALL_REDUCE, activations, tensor, last) if opts.tensor > 1 else last

    last, gradients = [], []
    for n in range(layers):
        last = divided(f"{n}.attention", attention, last)
        last = divided(f"{n}.mlp", mlp, last)
    for n in reversed(range(layers)):
        last = divided(f"{n}.mlp.back", 2 * mlp, last)
        last = divided(f"{n}.attention.back", 2 * attention, last)
        gradients += r.collective(f"{n}.gradients", REDUCE_SCATTER, weights, data, last)
    piece = layers * weights * opts.tensor // opts.ranks
    new = r.collective("weights", ALL_GATHER, piece, data, last + gradients)
    r.add("end", COLLECTIVE, new, comm_type=BARRIER)
    return r.data


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("name", help="NAME of the files")
    args.add_argument("--model", choices=MODELS, default="small")
    args.add_argument("--ranks", type=int, default=8, help="GPUs (default 8)")
    args.add_argument("--tensor", type=int, default=2, help="GPUs that share a layer; divides --ranks (default 2)")
    args.add_argument("--layers", type=int, default=0, help="only so many (default: those of the model)")
    args.add_argument("--tflops", type=float, default=140, help="10^12 operations a second of a GPU (default 140)")
    args.add_argument("--scale", type=int, default=1, help="divide times and bytes by this (default 1)")
    opts = args.parse_args()
    for key, low in (("ranks", 1), ("tensor", 1), ("layers", 0), ("scale", 1)):
        if getattr(opts, key) < low:
            sys.exit(f"--{key} {getattr(opts, key)}: expected at least {low}")
    if opts.ranks % opts.tensor:
        sys.exit(f"--tensor {opts.tensor}: expected a divisor of --ranks {opts.ranks}")
    if opts.tflops <= 0:
        sys.exit(f"--tflops {opts.tflops}: expected more than 0")
    for rank in range(opts.ranks):
        with open(f"{opts.name}.{rank}.et", "wb") as out:
            out.write(step(rank, opts))


if __name__ == "__main__":
    main()
