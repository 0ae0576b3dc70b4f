// SPDX-License-Identifier: Apache-2.0
// MPI_Pack and MPI_Unpack: the same bytes as those of the MPI below, so that one may unpack what the other has packed.
#include "userlib/mpi/below.hpp"
#include "userlib/mpi/message.hpp"

namespace ggas::mpi {

namespace {

// Room for the data in a buffer of `size` bytes from `*place` on; else the MPI below says what is wrong.
bool fits(uint64_t bytes, int size, const int* place) {
  return place && *place >= 0 && size >= *place && bytes <= static_cast<uint64_t>(size - *place);
}

// The packed side may lie in memory of a GPU, too: bytes in one piece.
memory& mover_of_packed(const void* at) {
  memory* const gpu = gpu_memory(at);
  return gpu ? *gpu : host_memory();
}

// In host memory, there and back; where both sides are in the same memory, at once.
std::string between(const typed_data& d, void* packed, bool packs) {
  count_moved();
  memory& far = mover_of_packed(packed);
  if (&far == d.mover || !far.apart())
    return packs ? d.mover->pack(d.data, d.bytes(), packed) : d.mover->unpack(d.data, d.bytes(), packed);
  const layout bytes(datatype::contiguous(static_cast<int64_t>(d.bytes()), primitive::byte));
  const items piece{&bytes, static_cast<char*>(packed), 1};
  const staging middle = far.stage(d.bytes());
  if (!middle) return "no memory for " + std::to_string(d.bytes()) + " bytes of packed data";
  std::string wrong = packs ? d.mover->pack(d.data, d.bytes(), middle.get()) : far.pack(piece, d.bytes(), middle.get());
  if (!wrong.empty()) return wrong;
  return packs ? far.unpack(piece, d.bytes(), middle.get()) : d.mover->unpack(d.data, d.bytes(), middle.get());
}

// Host memory is packed here, too, if the other side is memory of a GPU, which the MPI below does not reach.
recognised recognise_beside(const arguments& a, const void* packed) {
  recognised r = recognise(a);
  if (r.found.of && !r.found && gpu_memory(packed)) r.found.mover = &host_memory();
  return r;
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

extern "C" {

int MPI_Pack(const void* in, int count, MPI_Datatype type, void* out, int size, int* place, MPI_Comm comm) {
  const recognised r = recognise_beside({in, count, type}, out);
  if (!r.error.empty()) return fail(comm, "MPI_Pack", r.error, MPI_ERR_TYPE);
  if (comm == MPI_COMM_NULL || !r.found || !fits(r.found.bytes(), size, place))
    return below.Pack(in, count, type, out, size, place, comm);
  const std::string wrong = between(r.found, static_cast<char*>(out) + *place, true);
  if (!wrong.empty()) return fail(comm, "MPI_Pack", wrong, MPI_ERR_OTHER);
  *place += static_cast<int>(r.found.bytes());
  return MPI_SUCCESS;
}

int MPI_Unpack(const void* in, int size, int* place, void* out, int count, MPI_Datatype type, MPI_Comm comm) {
  const recognised r = recognise_beside({out, count, type}, in);
  if (!r.error.empty()) return fail(comm, "MPI_Unpack", r.error, MPI_ERR_TYPE);
  if (comm == MPI_COMM_NULL || !r.found || !fits(r.found.bytes(), size, place))
    return below.Unpack(in, size, place, out, count, type, comm);
  const std::string wrong = between(r.found, const_cast<char*>(static_cast<const char*>(in)) + *place, false);
  if (!wrong.empty()) return fail(comm, "MPI_Unpack", wrong, MPI_ERR_OTHER);
  *place += static_cast<int>(r.found.bytes());
  return MPI_SUCCESS;
}

GGAS_MPI_PACKS(GGAS_MPI_SECOND_NAME)
}
