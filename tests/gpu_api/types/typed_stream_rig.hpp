// SPDX-License-Identifier: Apache-2.0
// Calls with datatypes on a stream: what their tests have in common.
#pragma once

#include "ggas/typed_on_stream.cuh"
#include "tests/gpu_api/types/typed_rig.hpp"

namespace ggas::types_test {

class TypedStream : public typed_rig {
 protected:
  static constexpr typed_path paths[] = {typed_path::box, typed_path::runs, typed_path::records};

  stream_report report(int node) { return {enough(), &word(node, status_)}; }
  global_ptr<char> place(int node, uint64_t area, int64_t at = 0) const {
    return {node, area + static_cast<uint64_t>(at)};
  }
  void good_statuses() {
    for (int n = 0; n < nodes(); ++n) word(n, status_) = ggas_ok;
  }
  void expect_ok(const std::string& what) {
    for (int n = 0; n < nodes(); ++n) ASSERT_EQ(word(n, status_), ggas_ok) << what << ": node " << n;
  }
  static void queued(const result<>& r, const std::string& what) { ASSERT_TRUE(r) << what << ": " << text_of(r); }
  // Where the path is one that the datatypes have, or else automatic.
  stream_shape any_shape(cases& make, const ggas_type& a, const ggas_type* b = nullptr) {
    const auto is_list = [](const ggas_type& t) { return t.records == 1 && t.run != 0; };
    const bool places = (a.records == 0 || is_list(a)) && (!b || b->records == 0 || is_list(*b));
    const bool list = a.records != 0 || (b && b->records != 0);
    const typed_path fits = !places ? typed_path::records : list ? typed_path::runs : typed_path::box;
    const typed_path all[] = {typed_path::automatic, fits, typed_path::records};
    return {static_cast<unsigned>(make.make.below(3)), static_cast<unsigned>(make.make.below(3)) * 32, ggas_auto,
            all[make.make.below(3)]};
  }
  unsigned rounds() const {
    const char* const more = std::getenv("GGAS_TEST_SEQUENCES");
    return more ? static_cast<unsigned>(std::atoi(more)) / (simulated() ? 50 : 1) : simulated() ? 12 : 150;
  }
};

}  // namespace ggas::types_test
