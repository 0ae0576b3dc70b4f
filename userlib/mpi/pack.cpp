// SPDX-License-Identifier: Apache-2.0
// MPI_Pack and MPI_Unpack: the same bytes as those of the MPI below, so that one may unpack what the other has packed.
#include "userlib/mpi/below.hpp"
#include "userlib/mpi/message.hpp"

namespace ggas::mpi {

namespace {

// Room for the data in a buffer of `size` bytes from `*place` on; else the MPI below says what is wrong.
template <class Count>
bool fits(uint64_t bytes, Count size, const Count* place) {
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
recognised recognise_beside(const arguments& a, const void* packed, MPI_Comm comm) {
  const bool far = gpu_memory(packed) != nullptr;
  recognised r = recognise(a, comm, far ? wanted::all : wanted::far);
  if (far && r.found.of && !r.found) r.found.mover = &host_memory();
  return r;
}

// MPI_Pack or MPI_Unpack: the items `a`, and packed data at `packed`, a buffer of `size` bytes. `alone()`: of the MPI.
template <class Count, class Alone>
int convert(const char* call, const arguments& a, void* packed, Count size, Count* place, MPI_Comm comm, bool packs,
            Alone alone) {
  if (quiet()) return alone();
  const recognised r = recognise_beside(a, packed, comm);
  if (r.code != MPI_SUCCESS) return r.code;
  if (!r.error.empty()) return fail(comm, call, r.error, MPI_ERR_TYPE);
  if (!r.found || !fits(r.found.bytes(), size, place)) return alone();
  const std::string wrong = between(r.found, static_cast<char*>(packed) + *place, packs);
  if (!wrong.empty()) return fail(comm, call, wrong, MPI_ERR_OTHER);
  *place += static_cast<Count>(r.found.bytes());
  return MPI_SUCCESS;
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

#define GGAS_PACK(pack, unpack, Count)                                                                                 \
  int MPI_##pack(const void* in, Count count, MPI_Datatype type, void* out, Count size, Count* place, MPI_Comm comm) { \
    return convert("MPI_" #pack, {in, count, type}, out, size, place, comm, true,                                      \
                   [&] { return below.pack(in, count, type, out, size, place, comm); });                               \
  }                                                                                                                    \
  int MPI_##unpack(const void* in, Count size, Count* place, void* out, Count count, MPI_Datatype type,                \
                   MPI_Comm comm) {                                                                                    \
    return convert("MPI_" #unpack, {out, count, type}, const_cast<void*>(in), size, place, comm, false,                \
                   [&] { return below.unpack(in, size, place, out, count, type, comm); });                             \
  }

extern "C" {

GGAS_PACK(Pack, Unpack, int)
#if MPI_VERSION >= 4
GGAS_PACK(Pack_c, Unpack_c, MPI_Count)
#endif

GGAS_MPI_PACKS(GGAS_MPI_SECOND_NAME)
}
