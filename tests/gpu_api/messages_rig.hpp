// SPDX-License-Identifier: Apache-2.0
// Messages on the host engine and in the simulator: a machine of messages_run.hpp.
#pragma once

#include <cstring>

#include "ggas/messages.hpp"
#include "tests/gpu_api/messages_run.hpp"
#include "tests/gpu_api/targets.hpp"

namespace ggas::test {

class message_machine {
 public:
  message_machine(const target& t, const message_config& shape, uint64_t scratch_bytes,
                  std::vector<std::string> faults = {})
      : target_(t), shape_(shape) {
    cluster_config cfg = t.config();
    cfg.fault_lines = std::move(faults);
    const uint64_t ranks_here = uint64_t{shape.blocks} * shape.threads;
    const uint64_t all = static_cast<uint64_t>(t.nodes) * ranks_here;
    outcome_bytes_ = ranks_here * sizeof(bench::outcome);
    const uint64_t rank_bytes = 256 + static_cast<uint64_t>(t.nodes) * (64 + 16 * shape.lines) + 32 * shape.waiting +
                                shape.waiting * (64 + shape.short_bytes) + 128 * shape.requests;
    const uint64_t of_ranks = shape.kind == ggas_rank_is_thread ? ranks_here
                              : shape.kind == ggas_rank_is_warp ? ranks_here / 32
                                                                : shape.blocks;
    cfg.segment_bytes = (4 << 20) + of_ranks * (rank_bytes + scratch_bytes) + outcome_bytes_ + 4 * all +
                        shape.blocks * static_cast<uint64_t>(t.nodes) * shape.blocks * 300;
    cfg.segment_bytes = (cfg.segment_bytes * 3 / 2 + 4095) / 4096 * 4096;
    auto c = make_cluster(t, cfg);
    EXPECT_TRUE(c) << c.error().text;
    cluster_ = std::move(*c);
    std::string why;
    heap_ = heap::create(heap_of(*cluster_), why);
    EXPECT_TRUE(heap_) << why;
    space_ = std::make_unique<message_space>(*cluster_, *heap_);
    world = space_->make(shape, why);
    EXPECT_EQ(why, "");
    outcomes_ = *heap_->allocate(outcome_bytes_, why);
    counts_ = *heap_->allocate(4 * all, why);
    scratch_ = *heap_->allocate(of_ranks * scratch_bytes, why);
    EXPECT_EQ(why, "");
  }

  int nodes() const { return target_.nodes; }
  uint64_t timeout_ns() const { return timeout_factor * target_.enough_ns(); }
  uint64_t brief_ns() const { return target_.short_ns(); }
  uint64_t outcomes() const { return outcomes_; }
  uint64_t message_scratch() const { return scratch_; }
  uint64_t message_counts() const { return counts_; }
  void write(int node, uint64_t offset, const std::vector<uint8_t>& v) {
    std::memcpy(cluster_->segment(node) + offset, v.data(), v.size());
  }
  std::vector<uint8_t> read(int node, uint64_t offset, size_t n) {
    const auto* const at = reinterpret_cast<const uint8_t*>(cluster_->segment(node) + offset);
    return {at, at + n};
  }
  // A kernel of all ranks of all nodes.
  void run(const std::function<void()>& kernel) {
    for (int n = 0; n < nodes(); ++n) ASSERT_TRUE(cluster_->launch(n, shape_.blocks, shape_.threads, kernel));
    const auto r = cluster_->run(4 * timeout_ns());
    ASSERT_TRUE(r) << r.error().text;
  }
  template <class Args>
  void run_messages(const ggas_messages&, void (*kernel)(Args), const Args& a) {
    run([=] { kernel(a); });
  }
  cluster& on() { return *cluster_; }
  heap& memory() { return *heap_; }
  message_space& space() { return *space_; }

  ggas_messages world{};
  uint64_t timeout_factor = 1;  // how many times as long as usual a launch may take

 private:
  target target_;
  message_config shape_;
  uint64_t outcome_bytes_ = 0, outcomes_ = 0, counts_ = 0, scratch_ = 0;
  std::unique_ptr<cluster> cluster_;
  std::unique_ptr<heap> heap_;
  std::unique_ptr<message_space> space_;
};

}  // namespace ggas::test
