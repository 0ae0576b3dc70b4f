// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/partitions.hpp"

#include <map>
#include <shared_mutex>

#include "userlib/mpi/entries.hpp"
#include "userlib/mpi/requests.hpp"

namespace ggas::mpi {

std::shared_ptr<partitions> partitions::of(typed_data all, int n, std::string& why) {
  const uint64_t bytes = all.bytes();
  staging packed = all.mover->stage(bytes);
  if (packed) return std::shared_ptr<partitions>(new partitions(std::move(all), n, std::move(packed)));
  why = "no memory for " + std::to_string(bytes) + " bytes of packed data";
  return nullptr;
}

items partitions::items_of(int partition) const {
  const uint64_t count = all_.data.count / n_;
  const uint64_t places = count * static_cast<uint64_t>(partition) * static_cast<uint64_t>(all_.of->handle().extent);
  return {all_.data.of, reinterpret_cast<char*>(reinterpret_cast<uintptr_t>(all_.data.at) + places), count};
}

namespace {

// The communicator of a request may be freed: errors go to the handler of all processes.
int reported(const char* call, const std::string& wrong) {
  return wrong.empty() ? MPI_SUCCESS : fail(MPI_COMM_WORLD, call, wrong, MPI_ERR_OTHER);
}

}  // namespace

int partitions::pack(int partition) {
  if (!is_one(partition)) return MPI_SUCCESS;  // an error of the MPI below
  count_moved();
  return reported("MPI_Pready", all_.mover->pack(items_of(partition), bytes(), place_of(partition)));
}

int partitions::unpack(int partition) {
  const std::lock_guard one_at_a_time(lock_);
  if (!is_one(partition) || unpacked_[static_cast<size_t>(partition)]) return MPI_SUCCESS;
  unpacked_[static_cast<size_t>(partition)] = true;
  count_moved();
  return reported("MPI_Parrived", all_.mover->unpack(items_of(partition), bytes(), place_of(partition)));
}

int partitions::arrive() {
  int worst = MPI_SUCCESS;
  for (int p = 0; p < static_cast<int>(n_); ++p)
    if (const int error = unpack(p); worst == MPI_SUCCESS) worst = error;
  return worst;
}

void partitions::restart() {
  const std::lock_guard one_at_a_time(lock_);
  unpacked_.assign(n_, false);
}

#if MPI_VERSION >= 4
namespace {

// By request, for calls that concern one partition: other threads may wait for the request at the same time.
struct registry {
  std::shared_mutex lock;
  std::map<MPI_Request, std::weak_ptr<partitions>> all;

  static registry& here() {
    static registry one;
    return one;
  }
  std::shared_ptr<partitions> of(MPI_Request request) {
    const std::shared_lock reads(lock);
    const auto found = all.find(request);
    return found == all.end() ? nullptr : found->second.lock();
  }
  void add(MPI_Request request, const std::shared_ptr<partitions>& parts) {
    const std::lock_guard alone(lock);
    std::erase_if(all, [](const auto& known) { return known.second.expired(); });
    all[request] = parts;
  }
};

// `work(buffer, count, type)` calls the MPI's function.
template <class Work>
int begin(const char* call, const arguments& one, int n, int peer, MPI_Comm comm, MPI_Request* request, bool receives,
          Work work) {
  const auto alone = [&] { return work(const_cast<void*>(one.buffer), one.count, one.type); };
  MPI_Count items = 0;
  if (quiet() || peer == MPI_PROC_NULL || n <= 0 || __builtin_mul_overflow(one.count, MPI_Count{n}, &items))
    return alone();
  recognised r = recognise({one.buffer, items, one.type}, comm);
  if (r.code != MPI_SUCCESS) return r.code;
  if (!r.error.empty()) return fail(comm, call, r.error, MPI_ERR_TYPE);
  if (!r.found) return alone();
  std::string why;
  const std::shared_ptr<partitions> parts = partitions::of(std::move(r.found), n, why);
  if (!parts) return fail(comm, call, why, MPI_ERR_NO_MEM);
  const int error = work(parts->packed(), static_cast<MPI_Count>(parts->bytes()), MPI_BYTE);
  if (error != MPI_SUCCESS) return error;
  begun rest{nullptr, receives, {}, {}};
  rest.parts = parts;
  rest.persists = true;
  rest.active = false;
  keep(*request, std::move(rest));
  registry::here().add(*request, parts);
  return error;
}

// Packs partitions, and has the MPI below send them by `work()`. `number(i)`: of the i-th of `n`.
template <class Number, class Work>
int ready(MPI_Request request, int n, Number number, Work work) {
  const std::shared_ptr<partitions> parts = quiet() ? nullptr : registry::here().of(request);
  for (int i = 0; parts && i < n; ++i)
    if (const int error = parts->pack(number(i)); error != MPI_SUCCESS) return error;
  return work();
}

}  // namespace
#endif

}  // namespace ggas::mpi

#if MPI_VERSION >= 4
using namespace ggas::mpi;

extern "C" {

int ours_Psend_init(const void* buffer, int n, MPI_Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                    MPI_Info info, MPI_Request* request) {
  return begin(
      "MPI_Psend_init", {buffer, count, type}, n, to, comm, request, false,
      [&](void* b, MPI_Count c, MPI_Datatype t) { return below.Psend_init(b, n, c, t, to, tag, comm, info, request); });
}
int ours_Precv_init(void* buffer, int n, MPI_Count count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                    MPI_Info info, MPI_Request* request) {
  return begin("MPI_Precv_init", {buffer, count, type}, n, from, comm, request, true,
               [&](void* b, MPI_Count c, MPI_Datatype t) {
                 return below.Precv_init(b, n, c, t, from, tag, comm, info, request);
               });
}

int ours_Pready(int partition, MPI_Request request) {
  return ready(
      request, 1, [&](int) { return partition; }, [&] { return below.Pready(partition, request); });
}
int ours_Pready_range(int first, int last, MPI_Request request) {
  return ready(
      request, last - first + 1, [&](int i) { return first + i; },
      [&] { return below.Pready_range(first, last, request); });
}
int ours_Pready_list(int n, int list[], MPI_Request request) {
  return ready(
      request, n, [&](int i) { return list[i]; }, [&] { return below.Pready_list(n, list, request); });
}
int ours_Parrived(MPI_Request request, int partition, int* there) {
  const int error = below.Parrived(request, partition, there);
  if (error != MPI_SUCCESS || !*there || quiet()) return error;
  const std::shared_ptr<partitions> parts = registry::here().of(request);
  return parts ? parts->unpack(partition) : error;
}

GGAS_MPI_PARTITIONED(GGAS_MPI_NAMES)
}
#endif
