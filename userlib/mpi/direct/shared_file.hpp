// SPDX-License-Identifier: Apache-2.0
// Memory that the processes of a job on one host share, under a name. A job that dies leaves no name for ever: each
// process holds a lock on the file, which the kernel releases however the process ends, and a process that begins a
// later job removes names without a lock.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

namespace ggas::mpi::direct {

class shared_file {
 public:
  // `name` as of shm_open. Zero, but for what processes that are there by now have written. Null: there is none.
  static std::unique_ptr<shared_file> open(const std::string& name, size_t bytes);
  ~shared_file();
  shared_file(const shared_file&) = delete;
  shared_file& operator=(const shared_file&) = delete;

  char* at() const { return memory_; }
  // No other process will come: the memory stays, for those who have it.
  void forget_name();

 private:
  shared_file(std::string name, int file, size_t bytes, char* memory)
      : name_(std::move(name)), file_(file), bytes_(bytes), memory_(memory) {}
  std::string name_;
  int file_;
  size_t bytes_;
  char* memory_;
};

// Names of this user that begin so and that no process holds are gone afterwards.
void sweep_names(const std::string& prefix);

}  // namespace ggas::mpi::direct
