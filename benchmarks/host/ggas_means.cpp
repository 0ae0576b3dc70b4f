// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/host/must.hpp"

namespace ggas::host_bench {
namespace {

constexpr uint64_t ggas_timeout = 30'000'000'000;  // ns

class ggas_means final : public means {
 public:
  explicit ggas_means(size_t most) : most_(most) {
    must(ggas_process_start(&p_, ggas_timeout), "start");
    must(ggas_process_rank(p_, &rank_), "rank");
    must(ggas_process_size(p_, &size_), "size");
    must(ggas_segment_create(p_, 0, 2 * most, GGAS_GROUP_ALL, ggas_timeout), "segment");
    void* at = nullptr;
    must(ggas_segment_pointer(p_, 0, &at), "segment");
    memory_ = static_cast<std::byte*>(at);
  }
  ~ggas_means() override { ggas_process_stop(p_); }

  std::string name() const override { return "ggas"; }
  std::string provider() const override { return "shm"; }
  unsigned rank() const override { return rank_; }
  unsigned size() const override { return size_; }
  std::byte* out() override { return memory_; }
  std::byte* in() override { return memory_ + most_; }

  void post(size_t bytes) override {
    const ggas_part part{0, 0, 0, most_, bytes};
    must(ggas_queue_write(p_, &part, 1 - rank_, 0, ggas_timeout), "write");
  }
  void tell() override { must(ggas_queue_notify(p_, 0, 1 - rank_, 0, 1, 0, ggas_timeout), "notify"); }
  void flush() override { must(ggas_queue_wait(p_, 0, ggas_timeout), "wait"); }
  void receive(unsigned, size_t) override {
    uint32_t slot, value;
    must(ggas_notification_waitsome(p_, 0, 0, 1, &slot, ggas_timeout), "waitsome");
    must(ggas_notification_reset(p_, 0, slot, &value), "reset");
  }

  void barrier() override { must(ggas_group_barrier(p_, GGAS_GROUP_ALL, ggas_timeout), "barrier"); }
  void sum(const double* from, double* to, size_t elements) override {
    must(ggas_group_allreduce(p_, from, to, elements, GGAS_ELEMENT_DOUBLE, GGAS_OP_SUM, GGAS_GROUP_ALL, ggas_timeout),
         "allreduce");
  }

 private:
  size_t most_;
  ggas_process* p_ = nullptr;
  uint32_t rank_ = 0, size_ = 0;
  std::byte* memory_ = nullptr;
};

}  // namespace

std::unique_ptr<means> make_ggas(size_t most_bytes) { return std::make_unique<ggas_means>(most_bytes); }

}  // namespace ggas::host_bench
