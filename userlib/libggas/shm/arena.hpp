// SPDX-License-Identifier: Apache-2.0
// The memory of a rank that all ranks have mapped: an anonymous file of fixed size, sparse, which disappears when the
// last process that has it ends. It never shrinks, so that a mapping of it is always valid.
#pragma once

#include "userlib/libggas/core/room.hpp"
#include "userlib/libggas/shm/control.hpp"
#include "userlib/start/message.hpp"

namespace ggas::library::shm {

class arena {
 public:
  arena() = default;
  arena(arena&& o) noexcept : base_(std::exchange(o.base_, nullptr)), bytes_(o.bytes_) {}
  ~arena();

  // Bytes of an arena: more than this host has memory, or less so that those of all ranks fit into the address space.
  static uint64_t bytes_for(unsigned ranks);
  ggas_rc map(const userlib::file& f, uint64_t bytes);

  std::byte* at(uint64_t offset) const { return base_ + offset; }
  uint64_t bytes() const { return bytes_; }
  control& head() const { return *reinterpret_cast<control*>(base_); }
  template <class T>
  T* array(uint64_t offset) const {
    return reinterpret_cast<T*>(base_ + offset);
  }

 private:
  std::byte* base_ = nullptr;
  uint64_t bytes_ = 0;
};

// The owner's side: the file, and which of it is in use.
class arena_file {
 public:
  // The first bytes are never given out, nor those from `end` on, if there is one.
  ggas_rc create(uint64_t bytes, uint64_t reserved, uint64_t end = 0);
  const userlib::file& file() const { return file_; }
  // Pages that are 0; offset 0: there is no room.
  uint64_t take(uint64_t bytes);
  void give(uint64_t offset, uint64_t bytes);
  // Gives their pages back to the system; who reads them next reads 0.
  void free(uint64_t offset, uint64_t bytes);

 private:
  userlib::file file_;
  room room_{page};
};

}  // namespace ggas::library::shm
