// SPDX-License-Identifier: Apache-2.0
// What the tests of GPU segments share.
#pragma once

#include "tests/userlib/libggas/gpu/kernels.hpp"
#include "tests/userlib/libggas/rig.hpp"

namespace ggas::library_test {

inline constexpr uint64_t gpu_bytes = 64 << 20;

// A rank whose GPU is open, with segments 0 on the GPU and 1 in memory of the host, of as many bytes.
inline std::string open(const rank& r, uint64_t bytes) {
  MUST(ggas_gpu_open(r.p, module_name(), -1, gpu_bytes, timeout), GGAS_OK);
  MUST(ggas_gpu_segment_create(r.p, 0, bytes, GGAS_GROUP_ALL, timeout), GGAS_OK);
  MUST(r.create(1, bytes), GGAS_OK);
  return "";
}
#define OPEN(bytes) \
  if (const std::string why_ = open(r, bytes); !why_.empty()) return why_

inline ggas_part part(uint32_t here, uint64_t at_here, uint32_t there, uint64_t at_there, uint64_t bytes) {
  return {here, there, at_here, at_there, bytes};
}

// Bytes of a segment of this rank's GPU, by way of its segment 1.
inline std::string fetch(const rank& r, uint32_t segment, uint64_t at, uint64_t bytes) {
  const ggas_part p = part(1, 0, segment, at, bytes);
  MUST(ggas_queue_read(r.p, &p, r.me, 0, timeout), GGAS_OK);
  MUST(ggas_queue_wait(r.p, 0, timeout), GGAS_OK);
  return "";
}

inline void fill(uint8_t* at, size_t n, uint32_t seed) {
  for (size_t i = 0; i < n; ++i) at[i] = static_cast<uint8_t>(i * 31 + seed * 7 + (i >> 8));
}
inline bool is_filled(const uint8_t* at, size_t n, uint32_t seed) {
  for (size_t i = 0; i < n; ++i)
    if (at[i] != static_cast<uint8_t>(i * 31 + seed * 7 + (i >> 8))) return false;
  return true;
}

// Without a GPU of the module the tests are skipped, in a process of its own: parents that fork know no CUDA.
class library_gpu : public testing::Test {
 protected:
  void SetUp() override {
    processes one;
    one.start_all(1, member(1, [](const rank& r) -> std::string {
                    const ggas_rc rc = ggas_gpu_open(r.p, module_name(), 0, gpu_bytes, timeout);
                    return rc == GGAS_OK ? "ok" : ggas_error_text();
                  }));
    const std::string said = one.next(0, soon);
    one.ending(0, soon);
    if (said.find("no CUDA driver") != said.npos || said.find("no GPU") != said.npos) GTEST_SKIP() << said;
    ASSERT_EQ(said, "ok");
  }
};

}  // namespace ggas::library_test
