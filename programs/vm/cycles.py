# SPDX-License-Identifier: Apache-2.0
"""Cycles of the NIC on the way of a window store, from the log of a run: those that `ggas-bench nic_cycles` measures.

As in that benchmark, only stores of 8 bytes to idle NICs count. Idle means: no signal crossed a pin of either NIC for a
number of edges, the host's last access was a store to the same page (so the NICs remember its interval and export), and
the next write of the other NIC had the stored data.
"""

import itertools

QUIET = 64  # edges
LINES = 300_000  # of a log that are looked at: a run has millions, and hundreds of such stores among the first
PAGE = 4096
SOP = "1"  # kind of a flit


def stores(log):
    """(doorbell or store TLP in -> first flit out, first flit in -> store TLP out), one pair for each such store."""
    with open(log, encoding="ascii") as file:
        lines = (line.split() for line in itertools.islice(file, LINES) if line[0] not in "#@")
        events = [(int(w[0]), w[1], w[2], w[3:]) for w in lines]
    events.sort(key=lambda e: e[0])
    last_page = {}  # of each node's host; None: it did something else
    for i, (edge, node, way, what) in enumerate(events):
        if way != ">" or what[0] not in ("MWr", "MRd"):
            continue
        page = int(what[2], 16) // PAGE if what[:2] == ["MWr", "2"] else None
        same = page is not None and last_page.get(node) == page
        last_page[node] = page
        if not same or len(what[-1]) != 16 or (i and edge - events[i - 1][0] < QUIET):
            continue
        after = list(itertools.islice(events, i + 1, i + 60))
        out = next((e for e in after if e[1] == node and e[2] == "<<" and e[3][0] == SOP), None)
        into = next((e for e in after if e[1] != node and e[2] == ">>" and e[3][0] == SOP), None)
        wrote = next((e for e in after if e[1] != node and e[2] == "<" and e[3][0] == "MWr"), None)
        alone = wrote and not any(e[2] == ">" for e in after if e[0] <= wrote[0]) and wrote[3][-1] == what[-1]
        if out and into and wrote and alone:
            yield out[0] - edge, wrote[0] - into[0]


def summary(log):
    """Worst of each, and how many stores."""
    pairs = list(stores(log))
    return {
        "stores": len(pairs),
        "store_to_flit": max((a for a, _ in pairs), default=None),
        "flit_to_tlp": max((b for _, b in pairs), default=None),
    }
