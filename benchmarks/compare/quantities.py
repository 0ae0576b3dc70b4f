# SPDX-License-Identifier: Apache-2.0
"""What is compared: each quantity, where its figures stand in the records, and the bar it has to meet."""

from dataclasses import dataclass, field

FOREIGN = ("nvshmem", "nccl", "nccl_window", "raw", "yaksa")  # these variants; all other variants are ways of GGAS


@dataclass(frozen=True)
class Quantity:
    """A row of the comparison. `params` must be in a record's params; a set or a range there means any of these."""

    text: str
    benchmark: str
    metric: str
    params: dict
    # If several records of a library fit, the best one counts, for every member.
    ours: tuple = ()  # variants of GGAS; empty: any
    bar: float | None = None  # in the metric's unit, on 8 GPUs
    bar_ratio: float | None = None  # of the best other library's time
    own_params: dict = field(default_factory=dict)  # by library: further params
    own_benchmark: dict = field(default_factory=dict)  # by library, where it does the same job by another benchmark
    only_with_ours: bool = False  # no row without a figure of GGAS
    params_per_gpu: dict = field(default_factory=dict)  # params that grow with the number of GPUs: their part

    @property
    def is_rate(self):
        return self.metric in ("bandwidth", "updates", "messages", "atomics")

    def bus_bytes(self, nodes):
        """What NCCL's convention divides by the time of a long collective; None for what is no such thing."""
        elements = self.params.get("elements", 0)
        if self.params.get("method") != "graph" or elements < 1 << 20:
            return None
        parts = {"allreduce": 2 * (nodes - 1) / nodes, "broadcast": 1, "reduce": 1} | dict.fromkeys(("allgather", "alltoall", "gather", "scatter"), nodes - 1)
        return 4 * elements * parts[self.benchmark]


def size_text(elements):
    for step, name in ((1 << 20, " Mi"), (1 << 10, " Ki")):
        if elements >= step:
            return f"{elements // step}{name} floats"
    return "1 float" if elements == 1 else f"{elements} floats"


MESSAGE_SIZES = ((8, "8 B"), (1 << 12, "4 KB"), (1 << 16, "64 KB"), (1 << 20, "1 MB"), (1 << 24, "16 MB"))


def latencies():
    yield Quantity("store ping-pong, 1 thread", "store_latency", "half_round_trip", {"threads": 1, "bytes": 8}, bar=630)
    for size, text, bar in ((8, "8 B", 1300), (4096, "4 KB", 1700), (262144, "256 KB", 7000)):
        yield Quantity(f"put + signal, {text}, one block", "put_latency", "half_round_trip", {"bytes": size}, ours=("put_signal",), bar=bar)
    # The same job by another call: the receiver finds the data by tags and takes them out. Next to the others' put + signal.
    for size, text, bar in ((8, "8 B", 1300), (4096, "4 KB", 1700)):
        tagged = {"raw": {"method": "tagged"}}  # no one measures that by hand
        yield Quantity(f"tagged put + take, {text}, one block", "put_latency", "half_round_trip", {"bytes": size}, ours=("put_tagged",), bar=bar, own_params=tagged, only_with_ours=True)
    for method, bar in (("sync", 950), ("barrier", 1600)):
        text = "barrier with quiet" if method == "barrier" else method
        yield Quantity(f"{text}, one block a GPU", "barrier", "latency", {"method": method}, ours=("block",), bar=bar)
    yield Quantity("barrier with quiet, graph node", "barrier", "latency", {"method": "barrier_graph"})


def messages():
    """In kernels next to NVSHMEM's puts with signal, the nearest that it has; on a stream next to NCCL's sends and receives."""
    puts = dict.fromkeys(("nvshmem", "raw"), "put_latency")
    for size, text in ((8, "8 B"), (4096, "4 KB")):
        yield Quantity(
            f"message between blocks, {text}, NVSHMEM's put + signal", "message", "half_round_trip", {"bytes": size}, ours=("block",), bar_ratio=0.7, own_benchmark=puts, only_with_ours=True
        )
    for method, text, metric in (("one_way", "in sequence", "time"), ("ping_pong", "half a round trip", "half_round_trip")):
        for size, size_text in MESSAGE_SIZES:
            bar = 0.6 if size <= 1 << 16 else 1.0
            yield Quantity(f"send and receive, graph nodes, {text}, {size_text}", "message_on_stream", metric, {"bytes": size, "method": method}, bar_ratio=bar, only_with_ours=True)


def allreduces():
    for elements, bar in ((1, 4e3), (1 << 10, 4.5e3), (1 << 14, 5.5e3), (1 << 18, 14e3), (1 << 22, 105e3), (1 << 25, 650e3)):
        yield Quantity(f"allreduce, graph node, {size_text(elements)}", "allreduce", "time", {"elements": elements, "method": "graph"}, bar=bar)


def kernel_quantity(name, shape, elements, **bars):
    """Of a collective in a running kernel: one block next to one block, a grid next to a grid."""
    text = f"{name} by a {shape}, {size_text(elements)}"
    return Quantity(text, name, "time", {"elements": elements, "method": shape}, ours=(shape,), **bars)


def kernel_allreduces():
    # The bar of 16 Ki floats was set for any call in a kernel; that of a grid is the faster one.
    for shape, sizes in (("block", ((1, 1.8e3), (64, 1.8e3), (1 << 10, None), (1 << 14, None))), ("grid", ((1 << 10, None), (1 << 14, 2.8e3), (1 << 16, None)))):
        for elements, bar in sizes:
            yield kernel_quantity("allreduce", shape, elements, bar=bar)


def kernel_collectives():
    for name in ("alltoall", "broadcast", "allgather"):
        for elements in (1, 64, 1 << 10, 1 << 14, 1 << 16):
            yield kernel_quantity(name, "block", elements, bar_ratio=None if name == "allgather" else 0.5)
        for elements in (1 << 10, 1 << 14, 1 << 16, 1 << 20):
            yield kernel_quantity(name, "grid", elements)


def rooted_collectives():
    """NVSHMEM has none of them: in a kernel puts of a block and a barrier."""
    for name in ("gather", "scatter"):
        for elements in (1, 64, 1 << 10, 1 << 14, 1 << 16):
            yield kernel_quantity(name, "block", elements, bar_ratio=0.6)
        for elements in (1, 1 << 10, 1 << 14, 1 << 16, 1 << 20, 1 << 22):
            text = f"{name}, graph node, {size_text(elements)}"
            bar = 0.7 if elements <= 1 << 14 else 1.0
            yield Quantity(text, name, "time", {"elements": elements, "method": "graph"}, only_with_ours=True, bar_ratio=bar)


def parted_collectives():
    """In a kernel next to NVSHMEM's in a kernel; NCCL's have no call there: as graph nodes."""
    for elements in (1, 64, 1 << 10, 1 << 14, 1 << 16):
        yield kernel_quantity("reducescatter", "block", elements, bar_ratio=1.0)
    for elements in (1 << 10, 1 << 14, 1 << 16, 1 << 20):
        yield kernel_quantity("reducescatter", "grid", elements, bar_ratio=1.0)
    methods = {library: {"method": "graph"} for library in ("nccl", "nccl_window")} | {"ggas": {"method": "grid"}}
    for name in ("reducescatter", "gather", "scatter"):
        for elements in (1 << 10, 1 << 14, 1 << 16, 1 << 20):
            text = f"{name} by a grid in a kernel, NCCL's as a graph node, {size_text(elements)}"
            yield Quantity(text, name, "time", {"elements": elements}, ours=("grid",), bar_ratio=1.0, own_params=methods | {"nvshmem": {"method": "grid"}}, only_with_ours=True)


def graph_collectives():
    for name in ("alltoall", "broadcast", "allgather", "reduce"):
        for elements in (1 << 10, 1 << 16, 1 << 20, 1 << 22, 1 << 24):
            yield Quantity(f"{name}, graph node, {size_text(elements)}", name, "time", {"elements": elements, "method": "graph"}, only_with_ours=True)


def rates():
    # Whatever the way of an update to its GPU, in the end it is an atomic there.
    local, atomic = {"raw": {"method": "local_atomic"}}, {"raw": {"method": "atomic"}}
    table = {"elements": 1 << 27}  # far larger than the L2 cache
    for text, ours, bar, limit in (("any method", ("bucket", "mailbox", "atomic"), 72e9, local), ("remote atomics", ("atomic",), None, atomic)):
        yield Quantity(f"RandomAccess, {text}", "random_access", "updates", {}, ours=ours, bar=bar, own_params=limit, params_per_gpu=table)
    gigabyte = {"bytes": 1 << 30}
    stores = {"raw": {"connections": 1, "method": {"stores", "bulk"}}, "nvshmem": {"method": "kernel"}}
    copies = {"raw": {"connections": 1, "method": "copy_engine"}, "nvshmem": {"method": "stream"}, "ggas": {"method": "stream"}}
    for text, blocks, bar in (("at most 16 SMs", range(1, 17), 352e9), ("all SMs", range(17, 1 << 20), 368e9)):
        yield Quantity(f"put in a kernel, 1 GiB, {text}", "put_bandwidth", "bandwidth", gigabyte | {"blocks": blocks}, bar=bar, own_params=stores)
    for text, size, bar in (("1 MiB", 1 << 20, None), ("1 GiB", 1 << 30, 390e9)):  # shorter ones report how fast the processor is
        yield Quantity(f"put on a stream, {text}", "put_bandwidth", "bandwidth", {"bytes": size}, bar=bar, own_params=copies)
    for text, blocks in (("at most 16 SMs", range(1, 17)), ("all SMs", range(17, 1 << 20))):
        yield Quantity(f"get in a kernel, 1 GiB, {text}", "get_bandwidth", "bandwidth", gigabyte | {"blocks": blocks})


def message_rates():
    # `bytes` of words of threads: how far apart they are.
    for text, variant, size in (("8-byte puts of threads", "value", 128), ("64-byte puts of warps", "put_warp", 64), ("64-byte puts of threads", "put_thread", 64)):
        foreign = {library: {"method": variant} for library in FOREIGN}
        for where, blocks in (("1 SM", 1), ("all SMs", range(17, 1 << 20))):
            yield Quantity(f"{text}, {where}", "message_rate", "messages", {"bytes": size, "blocks": blocks}, ours=(variant,), own_params=foreign)
    by_hand = {"raw": {"method": "float_add"}}  # NVSHMEM and NCCL add no floats
    for where, blocks in (("1 SM", 1), ("all SMs", range(17, 1 << 20))):
        yield Quantity(f"adds of threads to floats, {where}", "message_rate", "atomics", {"bytes": 128, "blocks": blocks}, ours=("float_add",), own_params=by_hand, only_with_ours=True)


def packs():
    """On a stream, in a GPU's own memory; each way by hand, or that CUDA brings, is a row of its own."""
    half, face, large = 512 << 10, 2 << 20, 16 << 20
    by_hand, copied, batched = ("a kernel by hand", "hand"), ("cudaMemcpy2D", "memcpy2d"), ("batched copies", "batch")
    layers, yaksa = ("cudaMemcpy3D", "memcpy3d"), ("Yaksa", "pack_stream")
    cub = ("cub::DeviceMemcpy::Batched", "cub_batched")
    for pattern, text, size, rivals in (
        ("vector_8", "blocks of 8 B, 16 MiB", large, (by_hand, copied, yaksa)),
        ("vector_128", "blocks of 128 B, 16 MiB", large, (by_hand, copied, yaksa)),
        ("vector_256", "blocks of 256 B, 512 KiB", half, (by_hand, copied, batched)),
        ("face_xz", "X-Z face of 512 cubed doubles", face, (by_hand, copied, layers, batched, yaksa)),
        ("face_yz", "Y-Z face of 512 cubed doubles", face, (by_hand, copied, layers, yaksa)),
        ("indexed_8", "list of 8 B blocks, 16 MiB", large, (by_hand, cub, yaksa)),
        ("indexed_64", "list of 64 B blocks, 16 MiB", large, (by_hand, cub, yaksa)),
        ("indexed_mixed", "list of blocks of 8 to 56 B, 16 MiB", large, (yaksa,)),
        ("struct_24", "structs, 17 of 24 B", large // 17 // 16 * 16 * 17, (yaksa,)),
        ("struct_48", "structs, 17 of 48 B", large // 17 // 16 * 16 * 17, (yaksa,)),
    ):
        for rival, method in rivals:
            own = {"ggas": {"method": "auto"}} | {other: {"pattern": pattern, "method": method} for other in ("raw", "yaksa")}
            bar = (0.3 if pattern.startswith("struct") else 1.0) if rival == "Yaksa" else None
            yield Quantity(f"pack, {text}, next to {rival}", "pack", "bandwidth", {"bytes": size}, ours=(pattern,), own_params=own, only_with_ours=True, bar_ratio=bar)


def typed_puts():
    """8-byte elements at a stride on both sides, to the next GPU."""
    for text, size in (("512 KiB", 512 << 10), ("16 MiB", 16 << 20)):
        own = {"ggas": {"method": "auto"}} | {other: {"pattern": "vector_8", "method": "iput"} for other in ("raw", "nvshmem")}
        yield Quantity(f"typed put, blocks of 8 B, {text}, next to iput", "typed_put", "bandwidth", {"bytes": size}, ours=("vector_8",), own_params=own, only_with_ours=True)


def programs():
    yield Quantity("a step of Jacobi's method, 1024 x 1024 points, one kernel", "jacobi", "time", {"grid": "1024x1024"}, bar_ratio=1.0)
    yield Quantity("1,003 floats once around all GPUs by puts with signal, one kernel", "ring", "time", {"elements": 1003}, bar_ratio=1.0)


def energies():
    """`./ggas compare --energy`: calls of 1 Ki floats by a block, NCCL's as graph nodes, and puts of 64 MB by 16 blocks; all GPUs together."""
    for load, metric, text, params in (
        ("barrier", "energy_per_call", "a barrier", {}),
        ("allreduce", "energy_per_call", "an allreduce of 1 Ki floats", {"elements": 1 << 10}),
        ("alltoall", "energy_per_call", "an alltoall of 1 Ki floats", {"elements": 1 << 10}),
        ("put", "energy_per_byte", "a byte that is put", {}),
    ):
        others = {library: {"load": load} for library in FOREIGN}
        for tail, more in (("", "idle included"), ("_above_idle", "above idle")):
            yield Quantity(f"energy of {text}, {more}", "energy", metric + tail, {"method": "gpus"} | params, ours=(load,), own_params=others, bar_ratio=1.0)


ON_STREAM = "message_on_stream"  # NCCL alone has such calls
COLLECTIVES = ("allreduce", "broadcast", "allgather", "alltoall", "reduce", "reducescatter", "gather", "scatter")
# Groups of NVSHMEM's program (nvshmem.cu). Each is measured in separate processes, so that one that fails or hangs
# does not affect the others.
NVSHMEM_GROUPS = ("latencies", "block_collectives", "rates", "on_stream", "jacobi", "ring", "grid_collectives")
NCCL_GROUPS = ("collectives", "messages")
ENERGY = "energy"  # the group of NVSHMEM's and NCCL's programs, and the benchmark of GGAS, that --energy asks for


def nvshmem_group(quantity, method):
    if quantity.benchmark in ("jacobi", "ring"):
        return quantity.benchmark
    if method in ("graph", "stream", "barrier_graph"):
        return "on_stream"
    if quantity.benchmark in COLLECTIVES:
        return {"block": "block_collectives", "grid": "grid_collectives"}.get(method)
    return "latencies" if quantity.metric in ("half_round_trip", "latency") else "rates"


def group_of(quantity, library):
    """The group of rows of a library's program to which a quantity belongs; "": the program has one; None: no call of the library does that."""
    if quantity.benchmark == ENERGY:
        return ENERGY if library == "nvshmem" or (library == "nccl_window" and "elements" in quantity.params) else None
    method = (quantity.params | quantity.own_params.get(library, {})).get("method")
    if library == "nvshmem":
        if quantity.benchmark == ON_STREAM:
            return None
        rooted = quantity.benchmark in ("gather", "scatter") and method != "block"
        known = quantity.metric != "atomics" and not rooted and (quantity.benchmark not in ("pack", "typed_put") or method == "iput")
        return nvshmem_group(quantity, method) if known else None
    if library in ("nccl", "nccl_window"):
        if quantity.benchmark == ON_STREAM:
            return "messages"
        return "collectives" if method == "graph" and quantity.benchmark in COLLECTIVES else None
    if library == "yaksa":
        return "" if quantity.text.endswith("next to Yaksa") else None
    return ""


QUANTITIES = [
    *latencies(), *messages(), *allreduces(), *graph_collectives(), *kernel_allreduces(), *kernel_collectives(), *rooted_collectives(), *parted_collectives(),
    *rates(), *packs(), *typed_puts(), *message_rates(), *programs(), *energies(),
]  # fmt: skip
