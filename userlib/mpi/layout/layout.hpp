// SPDX-License-Identifier: Apache-2.0
// A datatype as it is packed: handle and image as kernels have them, and what the processor does with them. No MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ggas/detail/type/type_handle.hpp"
#include "ggas/type.hpp"

namespace ggas {
struct signature_word;
}

namespace ggas::mpi {

class layout : public std::enable_shared_from_this<layout> {
 public:
  explicit layout(const datatype& t);                            // t.good()
  layout(const ggas_type& handle, std::vector<uint64_t> words);  // of another process

  uint64_t number() const { return number_; }  // no other layout of this process has it
  const ggas_type& handle() const { return handle_; }
  const std::vector<uint64_t>& words() const { return words_; }  // of the image
  uint64_t size() const { return handle_.size; }
  // The data of `count` items lie in one piece, in their order.
  bool dense(uint64_t count) const;
  // So many bytes of the packed data end with a whole primitive; true of a layout of another process.
  bool ends_primitive(uint64_t bytes) const;

 private:
  uint64_t number_;
  ggas_type handle_;
  std::vector<uint64_t> words_;
  std::shared_ptr<const signature_word> signature_;
};

// Items of a layout at an address, which may be null: with MPI_BOTTOM all places are addresses.
struct items {
  const layout* of;
  char* at;
  uint64_t count;

  uint64_t bytes() const { return count * of->size(); }
  // An address of the data: where they lie is what this is looked at for.
  const void* first_byte() const;
};

// The first `bytes` of the packed data of the items, by the processor. Gaps are not written.
void pack_on_host(const items& from, uint64_t bytes, void* to);
void unpack_on_host(const items& to, uint64_t bytes, const void* from);

}  // namespace ggas::mpi
