// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/shadow.hpp"

#include <algorithm>
#include <climits>
#include <utility>

#include "userlib/mpi/layouts.hpp"
#include "userlib/mpi/message.hpp"

namespace ggas::mpi {

namespace {

datatype one_piece(uint64_t bytes) { return datatype::contiguous(static_cast<int64_t>(bytes), primitive::byte); }

std::string no_pinned(uint64_t bytes) { return "no pinned memory of " + std::to_string(bytes) + " bytes"; }

}  // namespace

void span::add(MPI_Aint displacement, MPI_Count count, MPI_Datatype type, int peer) {
  if (count <= 0 || type == MPI_DATATYPE_NULL) return;
  MPI_Count lb = 0, extent = 0, true_lb = 0, true_extent = 0;
  PMPI_Type_get_extent_x(type, &lb, &extent);
  PMPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
  if (true_extent <= 0) return;
  const MPI_Aint others = (count - 1) * extent, low = displacement + true_lb + std::min<MPI_Aint>(others, 0),
                 high = displacement + true_lb + true_extent + std::max<MPI_Aint>(others, 0);
  first_ = empty() ? low : std::min(first_, low);
  end_ = empty() ? high : std::max(end_, high);
  pieces_.push_back({displacement, count, type, peer});
}

span of_items(MPI_Count count, MPI_Datatype type) {
  span all;
  all.add(0, count, type);
  return all;
}

shadow::shadow(memory& gpu, char* at, uint64_t bytes)
    : gpu_(gpu), at_(at), piece_(one_piece(bytes)), copy_(gpu.stage(bytes)) {}

std::string shadow::writes(char* address, const span& all) {
  for (const span::piece& p : all.pieces()) {
    const found_layout l = layout_of(p.type, MPI_COMM_NULL);
    if (!l.made) return "datatype: " + l.why;
    add(l.made, address + p.displacement, static_cast<uint64_t>(p.count));
  }
  return {};
}

// Parts in one piece that follow each other are one.
void shadow::add(std::shared_ptr<const layout> of, char* at, uint64_t count) {
  const items here{of.get(), at, count};
  if (!of->dense(count)) return parts_.push_back({std::move(of), at, count});
  auto* const first = static_cast<char*>(const_cast<void*>(here.first_byte()));
  const uint64_t bytes = here.bytes();
  if (!parts_.empty() && parts_.back().of == nullptr && parts_.back().at + parts_.back().count == first)
    parts_.back().count += bytes;
  else
    parts_.push_back({nullptr, first, bytes});
}

// All of it is loaded: a call may write less than it says.
std::string shadow::load() { return gpu_.pack({&piece_, at_, 1}, piece_.size(), copy_.get()); }

std::string shadow::store() {
  for (const part& p : parts_)
    if (std::string wrong = store(p); !wrong.empty()) return wrong;
  return {};
}

std::string shadow::store(const part& p) {
  char* const there = copy() + (p.at - at_);
  if (!p.of) {
    const layout piece(one_piece(p.count));
    return gpu_.unpack({&piece, p.at, 1}, p.count, there);
  }
  const items mine{p.of.get(), p.at, p.count};
  const staging packed = gpu_.stage(mine.bytes());
  if (!packed) return no_pinned(mine.bytes());
  pack_on_host({p.of.get(), there, p.count}, mine.bytes(), packed.get());
  return gpu_.unpack(mine, mine.bytes(), packed.get());
}

std::unique_ptr<packed_blocks> packed_blocks::of(memory& gpu, char* address, const span& all, bool written) {
  constexpr uint64_t least_usual = 4 << 10;  // of a block: a kernel for each takes some microseconds
  std::vector<block> blocks;
  uint64_t bytes = 0;
  bool gaps = false;
  for (const span::piece& p : all.pieces()) {
    found_layout l = layout_of(p.type, MPI_COMM_NULL);
    const auto count = static_cast<uint64_t>(p.count);
    if (!l.made || l.made->size() == 0 || count > INT_MAX / l.made->size()) return nullptr;
    gaps = gaps || !l.made->dense(count);
    const uint64_t size = count * l.made->size();
    blocks.push_back({p.peer, std::move(l.made), address + p.displacement, count, bytes, size});
    bytes += size;
  }
  // Displacements of packed data are ints. Blocks that overlap have more bytes packed than in their own shape.
  if (!gaps || bytes > INT_MAX || bytes > all.bytes() || bytes / blocks.size() < least_usual) return nullptr;
  staging copy = gpu.stage(bytes);
  if (!copy) return nullptr;
  return std::unique_ptr<packed_blocks>(new packed_blocks(gpu, std::move(blocks), std::move(copy), written));
}

std::string packed_blocks::load() {
  if (written_) return {};  // of what a call with a datatype for each peer receives all is written
  for (const block& b : blocks_)
    if (std::string wrong = gpu_.pack({b.of.get(), b.at, b.count}, b.bytes, copy() + b.place); !wrong.empty())
      return wrong;
  return {};
}

std::string packed_blocks::store() {
  if (!written_) return {};
  for (const block& b : blocks_)
    if (std::string wrong = gpu_.unpack({b.of.get(), b.at, b.count}, b.bytes, copy() + b.place); !wrong.empty())
      return wrong;
  return {};
}

shadows::shadows(const char* call, MPI_Comm comm)
    : fails_([call, comm](const std::string& text, int error_class) { return fail(comm, call, text, error_class); }) {}

void* shadows::add(const void* buffer, const span& all, bool written) {
  void* const given = const_cast<void*>(buffer);
  if (all.empty() || buffer == MPI_IN_PLACE) return given;
  auto* const first = static_cast<char*>(given) + all.first();
  memory* const gpu = gpu_memory(first);
  if (!gpu) return given;
  auto made = std::make_unique<shadow>(*gpu, first, all.bytes());
  shadow& s = *made;
  all_.push_back(std::move(made));
  if (error_ == MPI_SUCCESS && !s.copy()) error_ = reported(no_pinned(all.bytes()));
  if (error_ == MPI_SUCCESS && written) error_ = reported(s.writes(static_cast<char*>(given), all), MPI_ERR_TYPE);
  return s.copy() ? s.copy() - all.first() : nullptr;
}

const packed_blocks* shadows::packs(const void* buffer, const span& all, bool written) {
  if (all.empty() || error_ != MPI_SUCCESS) return nullptr;
  auto* const address = static_cast<char*>(const_cast<void*>(buffer));
  memory* const gpu = gpu_memory(address + all.first());
  auto packed = gpu ? packed_blocks::of(*gpu, address, all, written) : nullptr;
  if (!packed) return nullptr;
  const packed_blocks* const made = packed.get();
  all_.push_back(std::move(packed));
  return made;
}

int shadows::reported(const std::string& wrong, int error_class) {
  return wrong.empty() ? MPI_SUCCESS : fails_(wrong, error_class);
}

int shadows::load() {
  if (error_ != MPI_SUCCESS) return error_;
  const std::lock_guard one_at_a_time(lock_);
  for (const auto& s : all_)
    if (const int error = reported(s->load()); error != MPI_SUCCESS) return error;
  loaded_ = true;
  return MPI_SUCCESS;
}

int shadows::store() {
  const std::lock_guard one_at_a_time(lock_);
  return store_loaded();
}

int shadows::store_of_request() {
  const std::lock_guard one_at_a_time(lock_);
  const bool written = std::any_of(all_.begin(), all_.end(), [](const auto& s) { return s->written(); });
  if (loaded_ && written && settle_)
    if (const int error = settle_(); error != MPI_SUCCESS) return error;
  return store_loaded();
}

int shadows::store_loaded() {
  if (!std::exchange(loaded_, false)) return MPI_SUCCESS;
  for (const auto& s : all_) {
    count_moved();
    if (const int error = reported(s->store()); error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace ggas::mpi
