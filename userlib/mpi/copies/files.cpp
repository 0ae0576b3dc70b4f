// SPDX-License-Identifier: Apache-2.0
// Files: data may be in memory of a GPU. The MPI below reads and writes copies in pinned host memory (shadow.hpp).
#include <map>
#include <mutex>

#include "userlib/mpi/entries.hpp"
#include "userlib/mpi/requests.hpp"

namespace ggas::mpi {

namespace {

std::shared_ptr<shadows> copies_in(const char* call, MPI_File file) {
  return std::make_shared<shadows>([call, file](const std::string& text, int error_class) {
    report(call, text);
    PMPI_File_call_errhandler(file, error_class);
    return error_class;
  });
}

// Collective calls that have begun: a file has one at a time.
struct halves {
  std::mutex lock;
  std::map<MPI_File, std::shared_ptr<shadows>> begun;

  static halves& here() {
    static halves one;
    return one;
  }
  void add(MPI_File file, std::shared_ptr<shadows> copies) {
    const std::lock_guard one_at_a_time(lock);
    begun[file] = std::move(copies);
  }
  std::shared_ptr<shadows> take(MPI_File file) {
    const std::lock_guard one_at_a_time(lock);
    auto found = begun.extract(file);
    return found ? std::move(found.mapped()) : nullptr;
  }
};

template <class Work>
int begin_half(std::shared_ptr<shadows> copies, MPI_File file, Work work) {
  if (const int error = copies->load(); error != MPI_SUCCESS) return error;
  const int error = work();
  if (error == MPI_SUCCESS && !copies->none()) halves::here().add(file, std::move(copies));
  return error;
}

// `work()` ends it.
template <class Work>
int end_half(MPI_File file, Work work) {
  const int error = work();
  if (quiet()) return error;
  const std::shared_ptr<shadows> copies = halves::here().take(file);
  return copies && error == MPI_SUCCESS ? copies->store() : error;
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

#define GGAS_LIST(...) __VA_ARGS__
// `place`, `at`: a parameter for the place in the file, and its name; `last`, `given`: those after the datatype;
// `use`: what the call does with its buffer; `done`: what it returns.
#define GGAS_FILE(name, Count, Buffer, use, place, at, last, given, done)                                              \
  int ours_File_##name(MPI_File file GGAS_LIST place, Buffer* buffer, Count count, MPI_Datatype type GGAS_LIST last) { \
    const auto work = [&] { return below.File_##name(file GGAS_LIST at, buffer, count, type GGAS_LIST given); };       \
    if (quiet()) return work();                                                                                        \
    const attention to_given_up;                                                                                       \
    const std::shared_ptr<shadows> s = copies_in("MPI_File_" #name, file);                                             \
    buffer = s->use(buffer, of_items(count, type));                                                                    \
    return done;                                                                                                       \
  }
#define GGAS_HERE (), ()
#define GGAS_AT (, MPI_Offset at), (, at)
#define GGAS_NOW (, MPI_Status * status), (, status), run(*s, work)
#define GGAS_LATER (, MPI_Request * request), (, request), begin_on(s, request, false, work)
#define GGAS_HALF (), (), begin_half(s, file, work)
#define GGAS_EXPAND(macro, ...) macro(__VA_ARGS__)
// Reading from a file and writing to it.
#define GGAS_BOTH(before, after, Count, place, how)                            \
  GGAS_EXPAND(GGAS_FILE, before##read##after, Count, void, writes, place, how) \
  GGAS_EXPAND(GGAS_FILE, before##write##after, Count, const void, reads, place, how)
#define GGAS_FILES(c, Count)                                  \
  GGAS_BOTH(, c, Count, GGAS_HERE, GGAS_NOW)                  \
  GGAS_BOTH(, _all##c, Count, GGAS_HERE, GGAS_NOW)            \
  GGAS_BOTH(, _shared##c, Count, GGAS_HERE, GGAS_NOW)         \
  GGAS_BOTH(, _ordered##c, Count, GGAS_HERE, GGAS_NOW)        \
  GGAS_BOTH(, _at##c, Count, GGAS_AT, GGAS_NOW)               \
  GGAS_BOTH(, _at_all##c, Count, GGAS_AT, GGAS_NOW)           \
  GGAS_BOTH(i, c, Count, GGAS_HERE, GGAS_LATER)               \
  GGAS_BOTH(i, _all##c, Count, GGAS_HERE, GGAS_LATER)         \
  GGAS_BOTH(i, _shared##c, Count, GGAS_HERE, GGAS_LATER)      \
  GGAS_BOTH(i, _at##c, Count, GGAS_AT, GGAS_LATER)            \
  GGAS_BOTH(i, _at_all##c, Count, GGAS_AT, GGAS_LATER)        \
  GGAS_BOTH(, _all_begin##c, Count, GGAS_HERE, GGAS_HALF)     \
  GGAS_BOTH(, _ordered_begin##c, Count, GGAS_HERE, GGAS_HALF) \
  GGAS_BOTH(, _at_all_begin##c, Count, GGAS_AT, GGAS_HALF)
// The MPIs do not look at the address.
#define GGAS_END(name, Buffer)                                                      \
  int ours_File_##name(MPI_File file, Buffer* buffer, MPI_Status* status) {         \
    return end_half(file, [&] { return below.File_##name(file, buffer, status); }); \
  }

extern "C" {

GGAS_FILES(, int)
#if MPI_VERSION >= 4
GGAS_FILES(_c, MPI_Count)
#endif
GGAS_END(read_all_end, void)
GGAS_END(read_at_all_end, void)
GGAS_END(read_ordered_end, void)
GGAS_END(write_all_end, const void)
GGAS_END(write_at_all_end, const void)
GGAS_END(write_ordered_end, const void)

GGAS_MPI_FILES(GGAS_MPI_NAMES)
}
