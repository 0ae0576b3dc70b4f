// SPDX-License-Identifier: Apache-2.0
// Data of a partitioned request (MPI 4): the MPI below has packed bytes, partition by partition.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "userlib/mpi/message.hpp"

namespace ggas::mpi {

class partitions {
 public:
  // `all`: the items of all `n` partitions. Null: no memory, and `why`.
  static std::shared_ptr<partitions> of(typed_data all, int n, std::string& why);

  void* packed() const { return packed_.get(); }
  uint64_t bytes() const { return all_.bytes() / n_; }  // of one

  // Any thread may call the following. MPI_SUCCESS, or an error that was reported.
  int pack(int partition);    // before it is ready
  int unpack(int partition);  // after it has arrived: once
  int arrive();               // all that have not been unpacked
  void restart();

 private:
  partitions(typed_data all, int n, staging packed)
      : all_(std::move(all)), n_(static_cast<uint64_t>(n)), packed_(std::move(packed)), unpacked_(n_) {}
  bool is_one(int partition) const { return partition >= 0 && static_cast<uint64_t>(partition) < n_; }
  items items_of(int partition) const;
  char* place_of(int partition) const {
    return static_cast<char*>(packed_.get()) + bytes() * static_cast<uint64_t>(partition);
  }

  typed_data all_;
  uint64_t n_;
  staging packed_;
  std::mutex lock_;  // of what arrives
  std::vector<bool> unpacked_;
};

}  // namespace ggas::mpi
