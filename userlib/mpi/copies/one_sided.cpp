// SPDX-License-Identifier: Apache-2.0
// One-sided communication: data of the origin may be in memory of a GPU. The MPI below works on copies in pinned host
// memory, which are loaded when an operation begins and stored when its epoch, or its request, is complete. Windows are
// memory that the processor reaches; memory of a GPU there is an error that names call and argument.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "userlib/mpi/entries.hpp"
#include "userlib/mpi/requests.hpp"

namespace ggas::mpi {

namespace {

int refuse(MPI_Comm comm, const char* call) {
  return fail(comm, call, "base: memory of a GPU: must be host memory (copy to it, or use MPI_Send and MPI_Recv)",
              MPI_ERR_BUFFER);
}

int fail_in_window(MPI_Win win, const char* call, const std::string& text, int error_class) {
  report(call, text);
  PMPI_Win_call_errhandler(win, error_class);
  return error_class;
}

bool is_of_gpu(const void* base) { return !quiet() && gpu_memory(base) != nullptr; }

std::shared_ptr<shadows> copies_in(const char* call, MPI_Win win) {
  return std::make_shared<shadows>(
      [call, win](const std::string& text, int error_class) { return fail_in_window(win, call, text, error_class); });
}

struct operation {
  MPI_Win win;
  int target;
  std::shared_ptr<shadows> copies;
};

// Operations whose epochs have not ended.
struct open_operations {
  std::mutex lock;
  std::vector<operation> all;
  std::atomic<size_t> number{0};

  static open_operations& here() {
    static open_operations one;
    return one;
  }
  void add(operation o) {
    const std::lock_guard one_at_a_time(lock);
    all.push_back(std::move(o));
    number = all.size();
  }
  // Those that ended(operation); the others stay.
  template <class Ended>
  std::vector<operation> take(Ended ended) {
    if (number == 0) return {};
    const std::lock_guard one_at_a_time(lock);
    const auto first = std::stable_partition(all.begin(), all.end(), [&](const operation& o) { return !ended(o); });
    std::vector<operation> taken(std::make_move_iterator(first), std::make_move_iterator(all.end()));
    all.erase(first, all.end());
    number = all.size();
    return taken;
  }
};

// `work()` calls the MPI's function.
template <class Work>
int begin(const std::shared_ptr<shadows>& s, int target, MPI_Win win, Work work, MPI_Request* request = nullptr) {
  if (const int error = s->load(); error != MPI_SUCCESS) return error;
  const int error = work();
  if (error != MPI_SUCCESS || s->none()) return error;
  open_operations::here().add({win, target, s});
  if (!request) return error;
  // MPICH 4.0 completes requests of derived datatypes before their data are there.
  s->settle_by([win, target] { return below.Win_flush_local(target, win); });
  return keep_copies(*request, s, false);
}

constexpr int every_target = -1;

// Operations on a target have ended after `work()`, at least here.
template <class Work>
int end(int target, MPI_Win win, Work work) {
  if (quiet()) return work();
  const std::vector<operation> ended = open_operations::here().take(
      [&](const operation& o) { return o.win == win && (target == every_target || o.target == target); });
  int worst = work();
  for (const operation& o : ended)
    if (const int error = worst == MPI_SUCCESS ? o.copies->store() : worst; error != MPI_SUCCESS) worst = error;
  return worst;
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

#define GGAS_LIST(...) __VA_ARGS__
// MPI_name, and MPI_r_name with a request. `parameters`, `given`: of the call up to the target; `more`: those between
// the target's datatype and the window; `copies`: statements that replace addresses.
#define GGAS_OPERATION(name, r_name, Count, parameters, given, more, more_given, copies)                              \
  int ours_##name(GGAS_LIST parameters, int target, MPI_Aint at, Count target_count,                                  \
                  MPI_Datatype target_type GGAS_LIST more, MPI_Win win) {                                             \
    const auto work = [&] {                                                                                           \
      return below.name(GGAS_LIST given, target, at, target_count, target_type GGAS_LIST more_given, win);            \
    };                                                                                                                \
    if (quiet()) return work();                                                                                       \
    const std::shared_ptr<shadows> s = copies_in("MPI_" #name, win);                                                  \
    GGAS_LIST copies return begin(s, target, win, work);                                                              \
  }                                                                                                                   \
  int ours_##r_name(GGAS_LIST parameters, int target, MPI_Aint at, Count target_count,                                \
                    MPI_Datatype target_type GGAS_LIST more, MPI_Win win, MPI_Request* request) {                     \
    const auto work = [&] {                                                                                           \
      return below.r_name(GGAS_LIST given, target, at, target_count, target_type GGAS_LIST more_given, win, request); \
    };                                                                                                                \
    if (quiet()) return work();                                                                                       \
    const std::shared_ptr<shadows> s = copies_in("MPI_" #r_name, win);                                                \
    GGAS_LIST copies return begin(s, target, win, work, request);                                                     \
  }
#define GGAS_WITH_OP (, MPI_Op op), (, op)
#define GGAS_WITHOUT_OP (), ()
#define GGAS_EXPAND(macro, ...) macro(__VA_ARGS__)
#define GGAS_READS (out = s->reads(out, of_items(count, type));)
#define GGAS_OPERATIONS(c, Count)                                                                                      \
  GGAS_EXPAND(GGAS_OPERATION, Put##c, Rput##c, Count, (const void* out, Count count, MPI_Datatype type),               \
              (out, count, type), GGAS_WITHOUT_OP, GGAS_READS)                                                         \
  GGAS_EXPAND(GGAS_OPERATION, Get##c, Rget##c, Count, (void* in, Count count, MPI_Datatype type), (in, count, type),   \
              GGAS_WITHOUT_OP, (in = s->writes(in, of_items(count, type));))                                           \
  GGAS_EXPAND(GGAS_OPERATION, Accumulate##c, Raccumulate##c, Count, (const void* out, Count count, MPI_Datatype type), \
              (out, count, type), GGAS_WITH_OP, GGAS_READS)                                                            \
  GGAS_EXPAND(GGAS_OPERATION, Get_accumulate##c, Rget_accumulate##c, Count,                                            \
              (const void* out, Count count, MPI_Datatype type, void* in, Count in_count, MPI_Datatype in_type),       \
              (out, count, type, in, in_count, in_type), GGAS_WITH_OP,                                                 \
              (out = s->reads(out, of_items(count, type)); in = s->writes(in, of_items(in_count, in_type));))

extern "C" {

GGAS_OPERATIONS(, int)
#if MPI_VERSION >= 4
GGAS_OPERATIONS(_c, MPI_Count)
#endif

int ours_Fetch_and_op(const void* out, void* in, MPI_Datatype type, int target, MPI_Aint at, MPI_Op op, MPI_Win win) {
  const auto work = [&] { return below.Fetch_and_op(out, in, type, target, at, op, win); };
  if (quiet()) return work();
  const std::shared_ptr<shadows> s = copies_in("MPI_Fetch_and_op", win);
  out = s->reads(out, of_items(1, type));
  in = s->writes(in, of_items(1, type));
  return begin(s, target, win, work);
}
int ours_Compare_and_swap(const void* out, const void* compared, void* in, MPI_Datatype type, int target, MPI_Aint at,
                          MPI_Win win) {
  const auto work = [&] { return below.Compare_and_swap(out, compared, in, type, target, at, win); };
  if (quiet()) return work();
  const std::shared_ptr<shadows> s = copies_in("MPI_Compare_and_swap", win);
  out = s->reads(out, of_items(1, type));
  compared = s->reads(compared, of_items(1, type));
  in = s->writes(in, of_items(1, type));
  return begin(s, target, win, work);
}

int ours_Win_create(void* base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  if (size > 0 && is_of_gpu(base)) return refuse(comm, "MPI_Win_create");
  return below.Win_create(base, size, unit, info, comm, win);
}
#if MPI_VERSION >= 4
int ours_Win_create_c(void* base, MPI_Aint size, MPI_Aint unit, MPI_Info info, MPI_Comm comm, MPI_Win* win) {
  if (size > 0 && is_of_gpu(base)) return refuse(comm, "MPI_Win_create_c");
  return below.Win_create_c(base, size, unit, info, comm, win);
}
#endif
int ours_Win_attach(MPI_Win win, void* base, MPI_Aint size) {
  if (size > 0 && is_of_gpu(base))
    return fail_in_window(win, "MPI_Win_attach", "base: memory of a GPU: must be host memory", MPI_ERR_BUFFER);
  return below.Win_attach(win, base, size);
}

int ours_Win_fence(int assert, MPI_Win win) {
  return end(every_target, win, [&] { return below.Win_fence(assert, win); });
}
int ours_Win_complete(MPI_Win win) {
  return end(every_target, win, [&] { return below.Win_complete(win); });
}
int ours_Win_unlock(int target, MPI_Win win) {
  return end(target, win, [&] { return below.Win_unlock(target, win); });
}
int ours_Win_unlock_all(MPI_Win win) {
  return end(every_target, win, [&] { return below.Win_unlock_all(win); });
}
int ours_Win_flush(int target, MPI_Win win) {
  return end(target, win, [&] { return below.Win_flush(target, win); });
}
int ours_Win_flush_all(MPI_Win win) {
  return end(every_target, win, [&] { return below.Win_flush_all(win); });
}
int ours_Win_flush_local(int target, MPI_Win win) {
  return end(target, win, [&] { return below.Win_flush_local(target, win); });
}
int ours_Win_flush_local_all(MPI_Win win) {
  return end(every_target, win, [&] { return below.Win_flush_local_all(win); });
}
int ours_Win_free(MPI_Win* win) {
  return win ? end(every_target, *win, [&] { return below.Win_free(win); }) : below.Win_free(win);
}

GGAS_MPI_ONE_SIDED(GGAS_MPI_NAMES)
}
