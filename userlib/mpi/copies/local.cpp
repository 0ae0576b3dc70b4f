// SPDX-License-Identifier: Apache-2.0
// Calls that concern this process only, with memory of a GPU: the MPI below works on copies in pinned host memory.
#include "userlib/mpi/entries.hpp"
#include "userlib/mpi/message.hpp"
#include "userlib/mpi/shadow.hpp"

namespace ggas::mpi {

namespace {

// Of a buffer of `size` bytes, from `*place` on.
template <class Place>
span rest_of(Place size, const Place* place) {
  span all;
  if (place && *place >= 0) all.add(static_cast<MPI_Aint>(*place), static_cast<MPI_Count>(size - *place), MPI_BYTE);
  return all;
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

// MPI_Pack_external and MPI_Unpack_external with places of the kind `Place`: the bytes are converted.
#define GGAS_EXTERNAL(c, Count, Place)                                                                               \
  int ours_Pack_external##c(const char* form, const void* in, Count count, MPI_Datatype type, void* out, Place size, \
                            Place* place) {                                                                          \
    const auto work = [&] { return below.Pack_external##c(form, in, count, type, out, size, place); };               \
    if (quiet()) return work();                                                                                      \
    shadows s("MPI_Pack_external" #c, MPI_COMM_WORLD);                                                               \
    in = s.reads(in, of_items(count, type));                                                                         \
    out = s.writes(out, rest_of(size, place));                                                                       \
    return run(s, work);                                                                                             \
  }                                                                                                                  \
  int ours_Unpack_external##c(const char* form, const void* in, Place size, Place* place, void* out, Count count,    \
                              MPI_Datatype type) {                                                                   \
    const auto work = [&] { return below.Unpack_external##c(form, in, size, place, out, count, type); };             \
    if (quiet()) return work();                                                                                      \
    shadows s("MPI_Unpack_external" #c, MPI_COMM_WORLD);                                                             \
    in = s.reads(in, rest_of(size, place));                                                                          \
    out = s.writes(out, of_items(count, type));                                                                      \
    return run(s, work);                                                                                             \
  }
#define GGAS_REDUCE_LOCAL(c, Count)                                                                \
  int ours_Reduce_local##c(const void* in, void* out, Count count, MPI_Datatype type, MPI_Op op) { \
    const auto work = [&] { return below.Reduce_local##c(in, out, count, type, op); };             \
    if (quiet()) return work();                                                                    \
    shadows s("MPI_Reduce_local" #c, MPI_COMM_WORLD);                                              \
    in = s.reads(in, of_items(count, type));                                                       \
    out = s.writes(out, of_items(count, type));                                                    \
    return run(s, work);                                                                           \
  }
#define GGAS_BUFFER_ATTACH(c, Count)                                                                      \
  int ours_Buffer_attach##c(void* buffer, Count size) {                                                   \
    if (!quiet() && gpu_memory(buffer))                                                                   \
      return fail(MPI_COMM_WORLD, "MPI_Buffer_attach" #c, "buffer: memory of a GPU: must be host memory", \
                  MPI_ERR_BUFFER);                                                                        \
    return below.Buffer_attach##c(buffer, size);                                                          \
  }

extern "C" {

GGAS_EXTERNAL(, int, MPI_Aint)
GGAS_REDUCE_LOCAL(, int)
GGAS_BUFFER_ATTACH(, int)
#if MPI_VERSION >= 4
GGAS_EXTERNAL(_c, MPI_Count, MPI_Count)
GGAS_REDUCE_LOCAL(_c, MPI_Count)
GGAS_BUFFER_ATTACH(_c, MPI_Count)
#endif

GGAS_MPI_LOCAL(GGAS_MPI_NAMES)
}
