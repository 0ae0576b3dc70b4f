// SPDX-License-Identifier: Apache-2.0
// Memory of GPUs in collective and one-sided calls: host memory of the same shape stands for it in the MPI below.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "userlib/mpi/memory.hpp"
#include "userlib/mpi/mpi.hpp"

namespace ggas::mpi {

// Items that a call accesses, and the bytes from the first to the last one, around an address.
class span {
 public:
  struct piece {
    MPI_Aint displacement;
    MPI_Count count;
    MPI_Datatype type;
    int peer;
  };
  // `count` items, `displacement` bytes from the address; `peer`: whose data, in a call that has a datatype for each.
  void add(MPI_Aint displacement, MPI_Count count, MPI_Datatype type, int peer = 0);
  bool empty() const { return first_ == end_; }
  MPI_Aint first() const { return first_; }
  uint64_t bytes() const { return static_cast<uint64_t>(end_ - first_); }
  const std::vector<piece>& pieces() const { return pieces_; }

 private:
  std::vector<piece> pieces_;
  MPI_Aint first_ = 0, end_ = 0;
};

// Items at the address.
span of_items(MPI_Count count, MPI_Datatype type);

// What the MPI below works on in place of memory of a GPU.
class stand_in {
 public:
  virtual ~stand_in() = default;
  // From the GPU, and what is written back. The error or nothing.
  virtual std::string load() = 0;
  virtual std::string store() = 0;
  virtual bool written() const = 0;
};

// Memory of the same shape.
class shadow final : public stand_in {
 public:
  shadow(memory& gpu, char* at, uint64_t bytes);
  // What the call writes: nothing else is stored, since the program may write to gaps in the meantime. Displacements
  // are those from `address`. The error or nothing.
  std::string writes(char* address, const span& all);
  std::string load() override;
  std::string store() override;
  bool written() const override { return !parts_.empty(); }
  char* copy() const { return static_cast<char*>(copy_.get()); }

 private:
  struct part {
    std::shared_ptr<const layout> of;
    char* at;
    uint64_t count;
  };
  void add(std::shared_ptr<const layout> of, char* at, uint64_t count);
  std::string store(const part& p);

  memory& gpu_;
  char* at_;
  layout piece_;
  staging copy_;
  std::vector<part> parts_;
};

// Packed data of each peer, one after another: the GPU moves what has gaps, and the MPI below has bytes.
class packed_blocks final : public stand_in {
 public:
  struct block {
    int peer;
    std::shared_ptr<const layout> of;
    char* at;
    uint64_t count, place, bytes;  // `place`: in the packed data
  };
  // Null: there is no memory for them, or packing them would not be faster.
  static std::unique_ptr<packed_blocks> of(memory& gpu, char* address, const span& all, bool written);

  std::string load() override;
  std::string store() override;
  bool written() const override { return written_; }
  char* copy() const { return static_cast<char*>(copy_.get()); }
  const std::vector<block>& blocks() const { return blocks_; }

 private:
  packed_blocks(memory& gpu, std::vector<block> blocks, staging copy, bool written)
      : gpu_(gpu), blocks_(std::move(blocks)), copy_(std::move(copy)), written_(written) {}

  memory& gpu_;
  std::vector<block> blocks_;
  staging copy_;
  bool written_;
};

// Of one call. An address of the host stands for itself.
class shadows {
 public:
  // Says an error, as fail() does, with its class; returns it.
  using failure = std::function<int(const std::string& text, int error_class)>;
  // Errors go to the communicator, or to where `fails` takes them.
  shadows(const char* call, MPI_Comm comm);
  explicit shadows(failure fails) : fails_(std::move(fails)) {}

  void* reads(const void* buffer, const span& all) { return add(buffer, all, false); }
  void* writes(void* buffer, const span& all) { return add(buffer, all, true); }
  // Null: the data are to be read or written in their own shape.
  const packed_blocks* packs(const void* buffer, const span& all, bool written);
  // Lives as long as this.
  template <class T>
  T& keep(T value) {
    auto kept = std::make_shared<T>(std::move(value));
    T& at = *kept;
    kept_.push_back(std::move(kept));
    return at;
  }

  bool none() const { return all_.empty(); }
  // Before and after the MPI below works on the copies. MPI_SUCCESS, or an error that was reported. A second store
  // after a load does nothing.
  int load();
  int store();
  // When the call's request is complete. `settle`: what has to be done before the copies have all data.
  int store_of_request();
  void settle_by(std::function<int()> settle) { settle_ = std::move(settle); }

 private:
  int store_loaded();
  void* add(const void* buffer, const span& all, bool written);
  int reported(const std::string& wrong, int error_class = MPI_ERR_OTHER);

  failure fails_;
  std::function<int()> settle_;
  int error_ = MPI_SUCCESS;  // of what was added
  std::vector<std::unique_ptr<stand_in>> all_;
  std::vector<std::shared_ptr<void>> kept_;
  std::mutex lock_;
  bool loaded_ = false;
};

// `work()` calls the MPI's function on the copies.
template <class Work>
int run(shadows& s, Work work) {
  if (const int error = s.load(); error != MPI_SUCCESS) return error;
  const int error = work();
  return error == MPI_SUCCESS ? s.store() : error;
}

}  // namespace ggas::mpi
