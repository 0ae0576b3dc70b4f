# SPDX-License-Identifier: Apache-2.0
"""Writes a copy of state.cuh in which a receive takes the first slot that fits, as in the original of messages between
threads (2009): slots are used again, so a later message may lie before an earlier one.

  python tests/gpu_api/slot_scan.py state.cuh COPY"""

import sys
from pathlib import Path

CHANGES = {
    """  uint32_t place = load_chain(r, chain_index(r, kind, source, tag)).first;
  while (place != 0) {
    const waiting_message& w = r.waiting(place);
    if ((source == any_source || w.head.source == source) && fits_tag(tag, w.head.tag)) break;
    place = w.next[kind];
  }
  return place;
""": """  static_cast<void>(kind);
  for (uint32_t place = 1; place <= r.matching().fresh; ++place) {
    const waiting_message& w = r.waiting(place);
    if (w.head.source < 0) continue;
    if ((source == any_source || w.head.source == source) && fits_tag(tag, w.head.tag)) return place;
  }
  return 0;
""",
    """  d.free = place;
  --d.waiting;
""": """  d.free = place;
  r.waiting(place).head.source = -1;
  --d.waiting;
""",
}


def main():
    text = Path(sys.argv[1]).read_text()
    for now, then in CHANGES.items():
        if text.count(now) != 1:
            sys.exit(f"{sys.argv[1]}: not once there: {now}")
        text = text.replace(now, then)
    copy = Path(sys.argv[2])
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
