// SPDX-License-Identifier: Apache-2.0
// Reads an FST file from the first block to the last, as GTKWave does, and prints what is in it as JSON; status 1 if it
// cannot be read.
#include <gtkwave/fstapi.h>

#include <cstdio>

namespace {

struct counts {
  unsigned long long changes = 0, first = ~0ull, last = 0;
};

void count(void* user, uint64_t time, fstHandle, const unsigned char*) {
  auto& c = *static_cast<counts*>(user);
  ++c.changes;
  if (time < c.first) c.first = time;
  if (time > c.last) c.last = time;
}
void count_long(void* user, uint64_t time, fstHandle h, const unsigned char* value, uint32_t) {
  count(user, time, h, value);
}

}  // namespace

int main(int argc, char** argv) {
  void* const file = argc == 2 ? fstReaderOpen(argv[1]) : nullptr;
  if (!file) {
    std::fprintf(stderr, "fst_summary: %s is no FST file that can be read\n", argc == 2 ? argv[1] : "FILE");
    return 1;
  }
  counts c;
  fstReaderSetFacProcessMaskAll(file);
  const bool whole = fstReaderIterBlocks2(file, count, count_long, &c, nullptr) != 0;
  unsigned long long names = 0;
  for (const fstHier* h; (h = fstReaderIterateHier(file)) != nullptr;) names += h->htyp == FST_HT_VAR;
  std::printf(
      "{\"signals\": %llu, \"names\": %llu, \"start\": %llu, \"end\": %llu, \"changes\": %llu, \"first\": %llu, "
      "\"last\": %llu}\n",
      static_cast<unsigned long long>(fstReaderGetVarCount(file)), names,
      static_cast<unsigned long long>(fstReaderGetStartTime(file)),
      static_cast<unsigned long long>(fstReaderGetEndTime(file)), c.changes, c.first, c.last);
  fstReaderClose(file);
  return whole ? 0 : 1;
}
