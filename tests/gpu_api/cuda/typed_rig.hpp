// SPDX-License-Identifier: Apache-2.0
// What the tests of datatypes on GPUs share: a heap, committed datatypes, areas of memory whose every byte is known.
#pragma once

#include <memory>
#include <random>

#include "ggas/committed_types.hpp"
#include "rig.hpp"
#include "tests/gpu_api/types/cases.hpp"

namespace ggas::gpu_test {

using types_test::area_bytes;
using types_test::cases;
using types_test::form;
using types_test::forms;
using types_test::laid_out;

// Three areas of known bytes on every node; committed datatypes lie after what the tests lay out by hand.
class typed_rig : public rig {
 protected:
  enum area { items, target, packed, areas };

  void SetUp() override {
    rig::SetUp();
    std::string why;
    memory_ = heap::create(heap_of(machine(), at.copy + (64 << 20) - at.base), why);
    ASSERT_TRUE(memory_) << why;
    types_ = std::make_unique<type_space>(*memory_, writer_of(machine()));
    bytes_.assign(static_cast<size_t>(nodes()), {});
  }

  uint64_t place(area a, int64_t offset) const {
    return at.data + static_cast<uint64_t>(a) * 2 * area_bytes + static_cast<uint64_t>(offset);
  }
  ggas_type commit(const laid_out& l) {
    std::string why;
    const ggas_type t = types_->commit(l.items.type, why, l.how);
    EXPECT_EQ(why, "");
    return t;
  }
  void fill() {
    for (int n = 0; n < nodes(); ++n) {
      for (const area a : {items, target, packed}) {
        std::vector<uint64_t> words(area_bytes / 8);
        for (uint64_t& w : words) w = random_();
        write(n, place(a, 0), words);
        const auto* const p = reinterpret_cast<const char*>(words.data());
        was(n, a).assign(p, p + area_bytes);
      }
    }
  }
  std::vector<char>& was(int node, area a) { return bytes_[static_cast<size_t>(node)][a]; }
  // All areas are as they were, with what a test has changed in them since.
  void expect_areas(const std::string& what) {
    for (int n = 0; n < nodes(); ++n) {
      for (const area a : {items, target, packed}) {
        const std::vector<char> is = read<char>(n, place(a, 0), area_bytes);
        const auto wrong = std::mismatch(is.begin(), is.end(), was(n, a).begin());
        ASSERT_TRUE(wrong.first == is.end())
            << what << ": node " << n << ", area " << a << ", byte " << wrong.first - is.begin();
      }
    }
  }
  std::unique_ptr<heap> memory_;
  std::unique_ptr<type_space> types_;

 private:
  std::vector<std::array<std::vector<char>, areas>> bytes_;
  std::mt19937_64 random_{1};
};

constexpr uint64_t seed = 1, most_primitives = 200;

}  // namespace ggas::gpu_test
