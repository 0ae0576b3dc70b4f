// SPDX-License-Identifier: Apache-2.0
// MPI_Pack and MPI_Unpack: the same bytes as those of the MPI below, so that one may unpack what the other has packed.
#include "userlib/mpi/entries.hpp"
#include "userlib/mpi/layouts.hpp"
#include "userlib/mpi/message.hpp"

namespace ggas::mpi {

namespace {

// Room for the data in a buffer of `size` bytes from `*place` on; else the MPI below says what is wrong.
template <class Count>
bool fits(uint64_t bytes, Count size, const Count* place) {
  return place && *place >= 0 && size >= *place && bytes <= static_cast<uint64_t>(size - *place);
}

// `far`: the memory of the packed side, bytes in one piece. In host memory, there and back; where both sides are in the
// same memory, at once.
std::string between(const typed_data& d, memory& far, void* packed, bool packs) {
  count_moved();
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

// Host memory in one piece is packed here, too, where the layout is known already, and if the other side is memory of a
// GPU, which the MPI below does not reach.
recognised recognise_beside(const arguments& a, bool far, MPI_Comm comm) {
  recognised r = recognise(a, comm, far ? wanted::all : wanted::far);
  if ((far || moves_host_memory()) && r.found.of && !r.found) r.found.mover = &host_memory();
  return r;
}

// All is in host memory, and the datatype is that of the last call: nothing has to be looked up. Whether it was done.
template <class Count>
bool convert_again(const arguments& a, void* packed, Count size, Count* place, MPI_Comm comm, bool packs) {
  if (a.count <= 0 || comm == MPI_COMM_NULL || !only_host()) return false;
  const layout* const of = last_layout(a.type);
  const items here{of, static_cast<char*>(const_cast<void*>(a.buffer)), static_cast<uint64_t>(a.count)};
  uint64_t bytes = 0;
  if (!of || of->size() == 0 || __builtin_mul_overflow(of->size(), here.count, &bytes) || !fits(bytes, size, place))
    return false;
  count_moved();
  char* const at = static_cast<char*>(packed) + *place;
  packs ? pack_on_host(here, bytes, at) : unpack_on_host(here, bytes, at);
  *place += static_cast<Count>(bytes);
  return true;
}

// MPI_Pack or MPI_Unpack: the items `a`, and packed data at `packed`, a buffer of `size` bytes. `alone()`: of the MPI.
template <class Count, class Alone>
int convert(const char* call, const arguments& a, void* packed, Count size, Count* place, MPI_Comm comm, bool packs,
            Alone alone) {
  if (convert_again(a, packed, size, place, comm, packs)) return MPI_SUCCESS;
  if (quiet()) return alone();
  memory* const gpu = gpu_memory(packed);
  const recognised r = recognise_beside(a, gpu != nullptr, comm);
  if (r.code != MPI_SUCCESS) return r.code;
  if (!r.error.empty()) return fail(comm, call, r.error, MPI_ERR_TYPE);
  if (!r.found || !fits(r.found.bytes(), size, place)) return alone();
  const std::string wrong = between(r.found, gpu ? *gpu : host_memory(), static_cast<char*>(packed) + *place, packs);
  if (!wrong.empty()) return fail(comm, call, wrong, MPI_ERR_OTHER);
  *place += static_cast<Count>(r.found.bytes());
  return MPI_SUCCESS;
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

#define GGAS_PACK(pack, unpack, Count)                                                                   \
  int ours_##pack(const void* in, Count count, MPI_Datatype type, void* out, Count size, Count* place,   \
                  MPI_Comm comm) {                                                                       \
    return convert("MPI_" #pack, {in, count, type}, out, size, place, comm, true,                        \
                   [&] { return below.pack(in, count, type, out, size, place, comm); });                 \
  }                                                                                                      \
  int ours_##unpack(const void* in, Count size, Count* place, void* out, Count count, MPI_Datatype type, \
                    MPI_Comm comm) {                                                                     \
    return convert("MPI_" #unpack, {out, count, type}, const_cast<void*>(in), size, place, comm, false,  \
                   [&] { return below.unpack(in, size, place, out, count, type, comm); });               \
  }

extern "C" {

GGAS_PACK(Pack, Unpack, int)
#if MPI_VERSION >= 4
GGAS_PACK(Pack_c, Unpack_c, MPI_Count)
#endif

GGAS_MPI_PACKS(GGAS_MPI_NAMES)
}
