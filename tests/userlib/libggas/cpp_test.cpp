// SPDX-License-Identifier: Apache-2.0
// The C++ interface, ggas.hpp.
#include "ggas/ggas.hpp"

#include "tests/userlib/libggas/rig.hpp"

namespace ggas::library_test {
namespace {

using namespace std::chrono_literals;

TEST(library_cpp, a_ring_of_values) {
  constexpr int size = 3;
  const std::string job = job_name();
  const auto ring = [&](int r) -> std::string {
    be(r, size, job);
    rma::process p;
    if (p.rank() != UINT32_MAX) return "a rank before the start";
    if (const auto o = p.start(20s); !o) return o.text();
    if (p.size() != size || p.rank() != uint32_t(r)) return "wrong numbers";
    if (const auto o = p.create(0, 64, 20s); !o) return o.text();
    const auto words = p.memory<uint64_t>(0);
    if (words.size() != 8 || !p.memory<int>(5).empty()) return "wrong memory";
    words[0] = 100 + p.rank();
    const uint32_t right = (p.rank() + 1) % size, left = (p.rank() + size - 1) % size;
    if (const auto o = p.write({0, 0, 0, 8, 8}, right); !o) return o.text();
    if (const auto o = p.notify(0, right, 4, 9); !o) return o.text();
    uint32_t found = 0, value = 0;
    if (const auto o = p.take(0, 0, 10, found, value, 20s); !o) return o.text();
    if (found != 4 || value != 9 || words[1] != 100 + left) return "wrong value";
    if (const auto o = p.read({0, 0, 16, 0, 8}, left); !o) return o.text();
    if (const auto o = p.wait(); !o || words[2] != 100 + left) return "wrong value read";
    if (!p.take(0, 0, 10, found, value, 1ms).timed_out()) return "no time-out";
    const auto bad = p.write({0, 0, 60, 0, 8}, right);
    if (bad || bad.code() != GGAS_ERR_RANGE || bad.text().find("offset 60") == std::string::npos) return bad.text();
    const auto met = p.barrier(20s);
    return met ? "ok" : met.text();
  };
  processes all;
  all.start_all(size, [&](int r, const voice& parent) { parent.say(ring(r)); });
  for (int r = 0; r < size; ++r) EXPECT_EQ(all.next(r, soon), "ok") << "rank " << r;
}

}  // namespace
}  // namespace ggas::library_test
