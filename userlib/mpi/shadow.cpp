// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/shadow.hpp"

#include <algorithm>

#include "userlib/mpi/message.hpp"

namespace ggas::mpi {

void span::add(MPI_Aint displacement, MPI_Count count, MPI_Datatype type) {
  if (count <= 0 || type == MPI_DATATYPE_NULL) return;
  MPI_Count lb = 0, extent = 0, true_lb = 0, true_extent = 0;
  PMPI_Type_get_extent_x(type, &lb, &extent);
  PMPI_Type_get_true_extent_x(type, &true_lb, &true_extent);
  if (true_extent <= 0) return;
  const MPI_Aint others = (count - 1) * extent, low = displacement + true_lb + std::min<MPI_Aint>(others, 0),
                 high = displacement + true_lb + true_extent + std::max<MPI_Aint>(others, 0);
  first_ = empty() ? low : std::min(first_, low);
  end_ = empty() ? high : std::max(end_, high);
}

shadow::shadow(memory& gpu, char* at, uint64_t bytes, bool written)
    : gpu_(gpu),
      at_(at),
      piece_(datatype::contiguous(static_cast<int64_t>(bytes), primitive::byte)),
      copy_(gpu.stage(bytes)),
      written_(written) {}

// What the call writes is loaded, too: it may leave gaps.
std::string shadow::load() {
  if (!copy_) return "no pinned memory of " + std::to_string(piece_.size()) + " bytes";
  return gpu_.pack({&piece_, at_, 1}, piece_.size(), copy_.get());
}

std::string shadow::store() { return written_ ? gpu_.unpack({&piece_, at_, 1}, piece_.size(), copy_.get()) : ""; }

void* shadows::add(const void* buffer, const span& all, bool written) {
  void* const given = const_cast<void*>(buffer);
  if (all.empty() || buffer == MPI_IN_PLACE) return given;
  auto* const first = static_cast<char*>(given) + all.first();
  memory* const gpu = gpu_memory(first);
  if (!gpu) return given;
  all_.push_back(std::make_unique<shadow>(*gpu, first, all.bytes(), written));
  return all_.back()->copy() ? all_.back()->copy() - all.first() : nullptr;
}

int shadows::reported(const std::string& wrong) {
  return wrong.empty() ? MPI_SUCCESS : fail(comm_, call_, wrong, MPI_ERR_OTHER);
}

int shadows::load() {
  for (const auto& s : all_)
    if (const int error = reported(s->load()); error != MPI_SUCCESS) return error;
  return MPI_SUCCESS;
}

int shadows::store() {
  for (const auto& s : all_) {
    count_moved();
    if (const int error = reported(s->store()); error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

}  // namespace ggas::mpi
