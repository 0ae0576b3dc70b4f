// SPDX-License-Identifier: Apache-2.0
// Device API: arguments that cannot work are refused in every size; on GPUs: cuda/arguments.cu.
#include "tests/gpu_api/arguments.cuh"

#include <algorithm>

#include "tests/gpu_api/targets.hpp"

namespace ggas::test {
namespace {

GGAS_API_SUITE(Arguments);

void refuse(api_test& on, void (*kernel)(arguments::args), const char* what) {
  constexpr uint64_t outcomes_at = 0, src_at = 65536, dst_at = 262144;
  const unsigned threads = on.simulated() ? 32 : 64;
  on.make(on.GetParam().config());
  const arguments::args a{on.base() + src_at, on.base() + dst_at, on.base() + outcomes_at, on.brief()};
  on.on_all(1, threads, [=] { kernel(a); });
  on.run();
  for (int n = 0; n < on.nodes(); ++n) {
    for (unsigned t = 0; t < threads; ++t) {
      const bench::outcome& o = on.user<bench::outcome>(n, outcomes_at)[t];
      EXPECT_EQ(o.errors, 0u) << what << ", node " << n << ", thread " << t << ": call " << o.begin_ns << " of "
                              << o.end_ns << " elements";
    }
    const uint64_t words = (on.GetParam().config().segment_bytes - on.base() - src_at) / 8;
    const uint64_t* const left = on.user<uint64_t>(n, src_at);
    EXPECT_EQ(std::count(left, left + words, uint64_t{0}), static_cast<ptrdiff_t>(words))
        << what << ": something was written at node " << n;
  }
}

TEST_P(Arguments, VectorsOutsideTheOwnSegmentAreRefused) {
  refuse(*this, arguments::refuse_vectors<uint8_t>, "uint8_t");
  refuse(*this, arguments::refuse_vectors<float>, "float");
  refuse(*this, arguments::refuse_vectors<uint64_t>, "uint64_t");
}

TEST_P(Arguments, TransfersThatCannotBeAreRefused) {
  refuse(*this, arguments::refuse_pointers<uint8_t>, "uint8_t");
  refuse(*this, arguments::refuse_pointers<float>, "float");
  refuse(*this, arguments::refuse_pointers<uint64_t>, "uint64_t");
}

}  // namespace
}  // namespace ggas::test
