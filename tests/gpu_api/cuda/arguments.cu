// SPDX-License-Identifier: Apache-2.0
// Arguments that cannot work are refused in every size, on GPUs.
#include "tests/gpu_api/arguments.cuh"

#include "rig.hpp"

namespace ggas::gpu_test {
namespace {

class refusals : public rig {
 protected:
  void refuse(void (*kernel)(arguments::args), const char* what) {
    constexpr unsigned threads = 256;
    SetUp();
    start_all(1, threads, kernel, arguments::args{at.data, at.copy, at.outcomes, second / 100});
    run(what);
    for (int n = 0; n < nodes(); ++n) {
      for (const outcome& o : read<outcome>(n, at.outcomes, threads))
        ASSERT_EQ(o.errors, 0u) << what << ", node " << n << ": call " << o.begin_ns << " of " << o.end_ns
                                << " elements";
      const auto left = read<uint64_t>(n, at.data, (segment_bytes - at.data) / 8);
      EXPECT_EQ(std::count(left.begin(), left.end(), uint64_t{0}), static_cast<ptrdiff_t>(left.size()))
          << what << ": something was written at node " << n;
    }
  }
};

TEST_F(refusals, vectors_outside_the_own_segment) {
  refuse(arguments::refuse_vectors<float>, "float");
  refuse(arguments::refuse_vectors<uint64_t>, "uint64_t");
}

TEST_F(refusals, transfers_that_cannot_be) {
  refuse(arguments::refuse_pointers<float>, "float");
  refuse(arguments::refuse_pointers<uint64_t>, "uint64_t");
}

}  // namespace
}  // namespace ggas::gpu_test
