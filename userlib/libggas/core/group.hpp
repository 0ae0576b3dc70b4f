// SPDX-License-Identifier: Apache-2.0
// A group and its present collective. A collective is a sequence of rounds; after a time-out it continues with the same
// round.
#pragma once

#include <atomic>
#include <vector>

#include "userlib/libggas/core/reduce.hpp"
#include "userlib/libggas/gpu/gpus.hpp"

namespace ggas::library {

class group {
 public:
  explicit group(std::vector<unsigned> members) : members_(std::move(members)) {}

  const std::vector<unsigned>& members() const { return members_; }
  bool committed() const { return committed_; }
  // Threads take turns; add() does not wait for one.
  ggas_rc add(unsigned rank);
  ggas_rc commit(transport& t, limit until);
  ggas_rc barrier(limit until);
  // g: vectors may lie on them; null: in memory of the host alone.
  ggas_rc allreduce(const reduction& how, const void* from, void* to, gpus* g, limit until);

 private:
  // What every member reports with its part, so that different calls are found out.
  struct head {
    uint64_t elements, element_bytes, what;
    bool operator==(const head&) const = default;
  };
  static constexpr size_t small_bytes = exchange::part_most - sizeof(head);

  struct call {
    reduction how;
    const std::byte* from = nullptr;
    std::byte* to = nullptr;
    bool operator==(const call&) const = default;
  };

  ggas_rc run(const call& c, limit until);
  ggas_rc reduce_on_gpus(call c, gpu::own_gpu& d, limit until);
  ggas_rc go_on(limit until);
  head reported() const;
  bool small() const { return call_.how.elements * call_.how.element_bytes <= small_bytes; }
  size_t rounds() const;
  void before();
  ggas_rc after(limit until);
  ggas_rc compare() const;
  ggas_rc add_all(limit until);
  ggas_rc add_share(limit until);
  ggas_rc take_shares();
  size_t block_elements() const { return exchange::block_bytes / call_.how.element_bytes; }
  size_t first() const { return round_ / 2 * block_elements(); }  // element of the block that is under way
  size_t count() const;
  size_t share(size_t member) const { return count() * member / members_.size(); }  // first element in the block

  std::vector<unsigned> members_;
  std::unique_ptr<exchange> exchange_;
  std::atomic<bool> committed_{false}, busy_{false};
  size_t me_ = 0;
  ggas_rc broken_ = GGAS_OK;
  bool active_ = false, arrived_ = false;
  call call_;
  call on_gpu_;                    // as the caller has made it, while it is reduced in memory of the host
  std::vector<std::byte> staged_;  // its vector
  size_t round_ = 0;
};

}  // namespace ggas::library
