// SPDX-License-Identifier: Apache-2.0
// Every call of one-sided communication, so that nvcc checks all of it. Compiled, never run.
#include "ggas/ggas.cuh"

struct alignas(16) vec16 {
  float v[4];
};

template <class T>
__device__ __noinline__ int transfer_all(T* remote, T* local, size_t n) {
  const uint64_t t = 1000;
  const ggas_queue q = ggas_queue_of(0, ggas_exclusive);
  int s = ggas_put(remote, local, n, t) + ggas_put_warp(remote, local, n, t) + ggas_put_block(remote, local, n, t) +
          ggas_put_nbi(remote, local, n, t, q) + ggas_put_nbi_warp(remote, local, n, t, q) +
          ggas_put_nbi_block(remote, local, n, t, q) + ggas_put_nbi_grid(remote, local, n, t, q);
  s += ggas_get(local, remote, n, t) + ggas_get_warp(local, remote, n, t) + ggas_get_block(local, remote, n, t) +
       ggas_get_nbi(local, remote, n, t, q) + ggas_get_nbi_warp(local, remote, n, t, q) +
       ggas_get_nbi_block(local, remote, n, t, q) + ggas_get_nbi_grid(local, remote, n, t, q);
  auto* signal = reinterpret_cast<uint64_t*>(remote);
  s += ggas_put_signal(remote, local, n, signal, 1, ggas_signal_set, t) +
       ggas_put_signal_nbi(remote, local, n, signal, 1, ggas_signal_add, t, q) +
       ggas_put_signal_nbi_warp(remote, local, n, signal, 1, ggas_signal_add, t, q) +
       ggas_put_signal_nbi_block(remote, local, n, signal, 1, ggas_signal_add, t, q);
  auto* lines = reinterpret_cast<ggas_tagged*>(remote);
  s += ggas_put_tagged(lines, local, n, 1) + ggas_put_tagged_warp(lines, local, n, 1) +
       ggas_put_tagged_block(lines, local, n, 1) + ggas_take_tagged(local, lines, n, 1, t) +
       ggas_take_tagged_warp(local, lines, n, 1, t) + ggas_take_tagged_block(local, lines, n, 1, t);
  return s + ggas_put_notify(remote, local, n, 7, 0, t) + ggas_put_notify_warp(remote, local, n, 7, 0, t, q);
}

template <class T>
__device__ __noinline__ int strided_all(T* remote, T* local, size_t n) {
  const uint64_t t = 1000;
  return ggas_put_value(remote, T(1), t) + ggas_put_value_nbi(remote, T(1), t) +
         ggas_put_value_nbi_warp(remote, T(1), t) + ggas_put_value_notify(remote, T(1), 5, 0, t) +
         ggas_put_value_notify_warp(remote, T(1), 5, 0, t) + ggas_iput_nbi(remote, local, 2, -1, n, t) +
         ggas_iput_nbi_warp(remote, local, 2, 1, n, t) + ggas_iget_nbi(local, remote, 1, 2, n, t) +
         ggas_iget_nbi_warp(local, remote, 1, 2, n, t);
}

template <class T>
__device__ __noinline__ int atomics_all(T* remote, T* old) {
  const uint64_t t = 1000;
  int s = ggas_fetch_add(remote, T(1), old, t) + ggas_fetch_swap(remote, T(1), old, t) +
          ggas_compare_swap(remote, T(1), T(2), old, t) + ggas_add(remote, T(1), t);
  for (int what = ggas_atomic_add; what <= ggas_atomic_max; ++what) {
    s += ggas_atomic_fetch(static_cast<ggas_atomic>(what), remote, T(1), T(2), old, t) +
         ggas_atomic_fetch_warp(static_cast<ggas_atomic>(what), remote, T(1), T(2), old, t) +
         ggas_atomic_post(static_cast<ggas_atomic>(what), remote, T(1), T(2), t);
  }
  return s;
}

template <class T>
__device__ __noinline__ int flags_all(const T* flags, size_t n) {
  size_t found[4], count = 0;
  return ggas_wait_until_any(flags, n, ggas_eq, T(1), found, 1000) +
         ggas_wait_until_some(flags, n, ggas_eq, T(1), found, &count, 1000) +
         ggas_wait_until_all(flags, n, ggas_eq, T(1), 1000) + ggas_wait_until_all_warp(flags, n, ggas_eq, T(1), 1000) +
         ggas_wait_until_all_block(flags, n, ggas_eq, T(1), 1000) + ggas_test_any(flags, n, ggas_eq, T(1), found) +
         ggas_test_all(flags, n, ggas_eq, T(1));
}

__device__ __noinline__ int queues_all(uint64_t* signal) {
  const ggas_queue q = ggas_default_queue();
  ggas_notification notes[2];
  size_t taken = 0;
  uint64_t seen = 0;
  int s = ggas_notify(1, 5, 0, 1000) + ggas_notify_warp(1, 5, 0, 1000, q) + ggas_notification_wait(notes, 1000, q) +
          ggas_notification_wait_warp(notes, 1000, q) + ggas_notification_wait_some(notes, 2, &taken, 1000, q) +
          ggas_notification_wait_all(notes, 2, &taken, 1000, q);
  s += ggas_signal_wait_until(signal, ggas_ge, 1, &seen, 1000) + ggas_quiet(q, 1000) + ggas_quiet_warp(q, 1000) +
       ggas_quiet_block(q, 1000) + ggas_quiet_local(q, 1000) + ggas_quiet_local_warp(q, 1000) + ggas_fence(q, 1000);
  ggas_queue_forgive(q);
  return s + static_cast<int>(ggas_queue_error(q).count) + ggas_queues() + q.index();
}

__global__ void one_sided(int* result, size_t n) {
  char* to = ggas_pointer_of_node(1, ggas_reserved_bytes());
  char* from = ggas_pointer_of_node(ggas_node(), ggas_segment_bytes() / 2);
  int s = transfer_all(to, from, n) + transfer_all(reinterpret_cast<vec16*>(to), reinterpret_cast<vec16*>(from), n);
  s += strided_all(to, from, n) + strided_all(reinterpret_cast<double*>(to), reinterpret_cast<double*>(from), n);
  s += atomics_all(reinterpret_cast<int*>(to), reinterpret_cast<int*>(from)) +
       atomics_all(reinterpret_cast<uint64_t*>(to), reinterpret_cast<uint64_t*>(from));
  s += flags_all(reinterpret_cast<const int*>(from), n) + flags_all(reinterpret_cast<const uint64_t*>(from), n);
  *result = s + queues_all(reinterpret_cast<uint64_t*>(from));
}
