// SPDX-License-Identifier: Apache-2.0
// GASPI: segments, transfers, queues, passive messages, atomics, collectives.
#include <GASPI_GPU.h>

#include <array>
#include <vector>

#include "userlib/libggas/base/fail.hpp"
#include "userlib/libggas/core/process.hpp"
#include "userlib/libggas/gaspi/self.hpp"

using namespace ggas::library::gaspi;

namespace {

// The parts of a list; empty: an array is null.
std::vector<ggas_part> parts(gaspi_number_t num, const gaspi_segment_id_t* here, const gaspi_offset_t* offset_here,
                             const gaspi_segment_id_t* there, const gaspi_offset_t* offset_there,
                             const gaspi_size_t* size) {
  std::vector<ggas_part> all;
  if (!here || !offset_here || !there || !offset_there || !size) return all;
  for (gaspi_number_t i = 0; i < num; ++i) all.push_back({here[i], there[i], offset_here[i], offset_there[i], size[i]});
  return all;
}

// Whether another request may be posted.
gaspi_return_t has_room(gaspi_queue_id_t queue) {
  uint64_t posted = 0;
  if (const ggas_rc rc = ggas_queue_posted(self(), queue, &posted); rc != GGAS_OK) return as_gaspi(rc);
  return posted < limits().queue_size_max ? GASPI_SUCCESS : GASPI_QUEUE_FULL;
}

gaspi_return_t check_size(gaspi_size_t size) {
  return size <= limits().transfer_size_max ? GASPI_SUCCESS
                                            : refuse("size: more than gaspi_transfer_size_max", GASPI_ERR_INV_COMMSIZE);
}

// A transfer of no bytes: what it names has to be there all the same.
gaspi_return_t check_empty(const ggas_part& p, gaspi_rank_t rank) {
  uint64_t here = 0, there = 0;
  gaspi_rank_t own = 0;
  if (const gaspi_return_t rc = gaspi_proc_rank(&own); rc != GASPI_SUCCESS) return rc;
  if (const ggas_rc rc = ggas_segment_size(self(), p.local_segment, own, &here); rc != GGAS_OK) return as_gaspi(rc);
  if (const ggas_rc rc = ggas_segment_size(self(), p.remote_segment, rank, &there); rc != GGAS_OK) return as_gaspi(rc);
  if (p.local_offset > here || p.remote_offset > there) return refuse("offset: lies outside of the segment");
  return GASPI_SUCCESS;
}

using one_mover = decltype(ggas_queue_write);

gaspi_return_t move_one(one_mover* how, const ggas_part& part, gaspi_rank_t rank, gaspi_queue_id_t queue,
                        gaspi_timeout_t timeout_ms) {
  const gaspi_return_t rc = check_transfer(part, rank, queue);
  if (rc != GASPI_SUCCESS || part.bytes == 0) return rc;
  return as_gaspi(how(self(), &part, rank, queue, nanoseconds(timeout_ms)));
}

using mover = decltype(ggas_queue_write_list);

// all: without parts of no bytes afterwards.
gaspi_return_t move(mover* how, std::vector<ggas_part>& all, gaspi_rank_t rank, gaspi_queue_id_t queue,
                    gaspi_timeout_t timeout_ms) {
  if (const gaspi_return_t rc = has_room(queue); rc != GASPI_SUCCESS) return rc;
  if (all.size() > limits().rw_list_elem_max) return refuse("num: more than gaspi_rw_list_elem_max", GASPI_ERR_INV_NUM);
  for (const ggas_part& p : all)
    if (const gaspi_return_t rc = p.bytes ? check_size(p.bytes) : check_empty(p, rank); rc != GASPI_SUCCESS) return rc;
  const bool some_empty = std::erase_if(all, [](const ggas_part& p) { return p.bytes == 0; }) != 0;
  if (some_empty && all.empty()) return GASPI_SUCCESS;
  return as_gaspi(how(self(), all.data(), all.size(), rank, queue, nanoseconds(timeout_ms)));
}

// Moves, then notifies: the target after a write, this rank after a read.
gaspi_return_t move_and_notify(mover* how, std::vector<ggas_part> all, gaspi_rank_t rank, gaspi_segment_id_t segment,
                               gaspi_notification_id_t slot, gaspi_notification_t value, gaspi_queue_id_t queue,
                               gaspi_timeout_t timeout_ms) {
  if (const gaspi_return_t rc = check_notification(slot, value); rc != GASPI_SUCCESS) return rc;
  gaspi_rank_t notified = rank;
  const gaspi_return_t own = how == ggas_queue_read_list ? gaspi_proc_rank(&notified) : GASPI_SUCCESS;
  if (own != GASPI_SUCCESS) return own;
  uint64_t bytes;
  if (const ggas_rc rc = ggas_segment_size(self(), segment, notified, &bytes); rc != GGAS_OK) return as_gaspi(rc);
  if (const gaspi_return_t rc = move(how, all, rank, queue, timeout_ms); rc != GASPI_SUCCESS) return rc;
  return notify(segment, notified, slot, value, queue, timeout_ms, !all.empty());
}

// Room for a segment, unless the call goes on with one that is there.
gaspi_return_t check_room(gaspi_segment_id_t id) {
  gaspi_number_t there = 0;
  void* at;
  if (const gaspi_return_t rc = gaspi_segment_num(&there); rc != GASPI_SUCCESS) return rc;
  if (there < limits().segment_max || ggas_segment_pointer(self(), id, &at) == GGAS_OK) return GASPI_SUCCESS;
  return refuse("there are as many segments as the configuration allows", GASPI_ERR_MANY_SEG);
}

gaspi_return_t check_description(gaspi_memory_description_t d) {
  if (d == 0 || d == GASPI_MEMORY_GPU) return GASPI_SUCCESS;
  return refuse("memory_description: 0 is memory of the host, GASPI_MEMORY_GPU that of a GPU");
}

// Not now: the segment is there already.
gaspi_return_t of_segment(ggas_rc rc) { return rc == GGAS_ERR_STATE ? as_gaspi(GGAS_ERR_SEGMENT) : as_gaspi(rc); }

struct user_operation {
  gaspi_reduce_operation_t operation;
  gaspi_reduce_state_t state;
};
// One for each group: its address stays the same when a call that timed out is made again.
std::array<user_operation, 256> operations;

int apply(const void* one, const void* two, void* result, void* state, size_t n, size_t bytes, uint64_t ns) {
  const auto* const u = static_cast<const user_operation*>(state);
  const gaspi_timeout_t ms = ns == UINT64_MAX ? GASPI_BLOCK : ns / 1'000'000;
  const gaspi_return_t rc = u->operation(const_cast<void*>(one), const_cast<void*>(two), result, u->state,
                                         static_cast<gaspi_number_t>(n), bytes, ms);
  return rc == GASPI_SUCCESS ? 0 : GGAS_ERR_ARGUMENT;
}

}  // namespace

namespace ggas::library::gaspi {

gaspi_return_t check_transfer(const ggas_part& part, gaspi_rank_t rank, gaspi_queue_id_t queue) {
  if (const gaspi_return_t rc = has_room(queue); rc != GASPI_SUCCESS) return rc;
  return part.bytes ? check_size(part.bytes) : check_empty(part, rank);
}

gaspi_return_t check_notification(gaspi_notification_id_t slot, gaspi_notification_t value) {
  if (value == 0) return refuse("notification_value 0: is an empty slot", GASPI_ERR_INV_NOTIF_VAL);
  return slot < limits().notification_num
             ? GASPI_SUCCESS
             : refuse("notification_id: not below gaspi_notification_num", GASPI_ERR_INV_NOTIF_ID);
}

gaspi_return_t notify(gaspi_segment_id_t segment, gaspi_rank_t rank, gaspi_notification_id_t slot,
                      gaspi_notification_t value, gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms, bool moved) {
  return as_gaspi(library::notify(self(), {rank, segment, slot}, value, queue, nanoseconds(timeout_ms), moved));
}

}  // namespace ggas::library::gaspi

gaspi_return_t gaspi_segment_alloc(gaspi_segment_id_t id, gaspi_size_t size, gaspi_alloc_t policy) {
  if (const gaspi_return_t rc = check_room(id); rc != GASPI_SUCCESS) return rc;
  return of_segment((policy & GASPI_MEM_GPU ? ggas_gpu_segment_allocate : ggas_segment_allocate)(self(), id, size));
}
gaspi_return_t gaspi_segment_register(gaspi_segment_id_t id, gaspi_rank_t rank, gaspi_timeout_t) {
  return as_gaspi(ggas_segment_permit(self(), id, rank));
}
gaspi_return_t gaspi_segment_create(gaspi_segment_id_t id, gaspi_size_t size, gaspi_group_t group,
                                    gaspi_timeout_t timeout_ms, gaspi_alloc_t policy) {
  if (const gaspi_return_t rc = check_room(id); rc != GASPI_SUCCESS) return rc;
  const auto create = policy & GASPI_MEM_GPU ? ggas_gpu_segment_create : ggas_segment_create;
  return of_segment(create(self(), id, size, group, nanoseconds(timeout_ms)));
}
gaspi_return_t gaspi_segment_bind(gaspi_segment_id_t id, gaspi_pointer_t pointer, gaspi_size_t size,
                                  gaspi_memory_description_t description) {
  if (const gaspi_return_t rc = check_description(description); rc != GASPI_SUCCESS) return rc;
  if (const gaspi_return_t rc = check_room(id); rc != GASPI_SUCCESS) return rc;
  return of_segment((description ? ggas_gpu_segment_bind : ggas_segment_bind)(self(), id, pointer, size));
}
gaspi_return_t gaspi_segment_use(gaspi_segment_id_t id, gaspi_pointer_t pointer, gaspi_size_t size, gaspi_group_t group,
                                 gaspi_timeout_t timeout_ms, gaspi_memory_description_t description) {
  if (const gaspi_return_t rc = check_description(description); rc != GASPI_SUCCESS) return rc;
  if (const gaspi_return_t rc = check_room(id); rc != GASPI_SUCCESS) return rc;
  const auto use = description ? ggas_gpu_segment_use : ggas_segment_use;
  return of_segment(use(self(), id, pointer, size, group, nanoseconds(timeout_ms)));
}
gaspi_return_t gaspi_segment_delete(gaspi_segment_id_t id) { return as_gaspi(ggas_segment_delete(self(), id)); }
gaspi_return_t gaspi_segment_ptr(gaspi_segment_id_t id, gaspi_pointer_t* pointer) {
  return as_gaspi(ggas_segment_pointer(self(), id, pointer));
}
gaspi_return_t gaspi_segment_size(gaspi_segment_id_t id, gaspi_rank_t rank, gaspi_size_t* size) {
  uint64_t bytes = 0;
  const ggas_rc rc = ggas_segment_size(self(), id, rank, &bytes);
  return rc == GGAS_OK ? give(size, bytes) : as_gaspi(rc);
}

gaspi_return_t gaspi_segment_num(gaspi_number_t* segment_num) {
  if (!self()) return refuse("gaspi_proc_init has not been called", GASPI_ERR_NOINIT);
  unsigned n = 0;
  void* at;
  for (uint32_t s = 0; s < GGAS_SEGMENTS; ++s) n += ggas_segment_pointer(self(), s, &at) == GGAS_OK;
  return give(segment_num, n);
}

gaspi_return_t gaspi_segment_avail_local(gaspi_segment_id_t* id) {
  if (!self()) return refuse("gaspi_proc_init has not been called", GASPI_ERR_NOINIT);
  void* at;
  for (uint32_t s = 0; s < limits().segment_max; ++s)
    if (ggas_segment_pointer(self(), s, &at) != GGAS_OK) return give(id, s);
  return refuse("no segment is left", GASPI_ERR_MANY_SEG);
}

gaspi_return_t gaspi_segment_list(gaspi_number_t num, gaspi_segment_id_t* ids) {
  if (!self() || !ids) return refuse("gaspi_segment_list: no process, or a null pointer");
  void* at;
  gaspi_number_t n = 0;
  for (uint32_t s = 0; s < GGAS_SEGMENTS && n < num; ++s)
    if (ggas_segment_pointer(self(), s, &at) == GGAS_OK) ids[n++] = static_cast<gaspi_segment_id_t>(s);
  return n == num ? GASPI_SUCCESS : refuse("num: there are fewer segments");
}

gaspi_return_t gaspi_write(gaspi_segment_id_t here, gaspi_offset_t offset_here, gaspi_rank_t rank,
                           gaspi_segment_id_t there, gaspi_offset_t offset_there, gaspi_size_t size,
                           gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms) {
  return move_one(ggas_queue_write, {here, there, offset_here, offset_there, size}, rank, queue, timeout_ms);
}
gaspi_return_t gaspi_read(gaspi_segment_id_t here, gaspi_offset_t offset_here, gaspi_rank_t rank,
                          gaspi_segment_id_t there, gaspi_offset_t offset_there, gaspi_size_t size,
                          gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms) {
  return move_one(ggas_queue_read, {here, there, offset_here, offset_there, size}, rank, queue, timeout_ms);
}
gaspi_return_t gaspi_write_list(gaspi_number_t num, gaspi_segment_id_t* here, gaspi_offset_t* offset_here,
                                gaspi_rank_t rank, gaspi_segment_id_t* there, gaspi_offset_t* offset_there,
                                gaspi_size_t* size, gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms) {
  std::vector<ggas_part> all = parts(num, here, offset_here, there, offset_there, size);
  return move(ggas_queue_write_list, all, rank, queue, timeout_ms);
}
gaspi_return_t gaspi_read_list(gaspi_number_t num, gaspi_segment_id_t* here, gaspi_offset_t* offset_here,
                               gaspi_rank_t rank, gaspi_segment_id_t* there, gaspi_offset_t* offset_there,
                               gaspi_size_t* size, gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms) {
  std::vector<ggas_part> all = parts(num, here, offset_here, there, offset_there, size);
  return move(ggas_queue_read_list, all, rank, queue, timeout_ms);
}

gaspi_return_t gaspi_notify(gaspi_segment_id_t segment, gaspi_rank_t rank, gaspi_notification_id_t slot,
                            gaspi_notification_t value, gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms) {
  if (const gaspi_return_t rc = has_room(queue); rc != GASPI_SUCCESS) return rc;
  if (const gaspi_return_t rc = check_notification(slot, value); rc != GASPI_SUCCESS) return rc;
  return notify(segment, rank, slot, value, queue, timeout_ms, false);
}
gaspi_return_t gaspi_notify_waitsome(gaspi_segment_id_t segment, gaspi_notification_id_t begin, gaspi_number_t num,
                                     gaspi_notification_id_t* first_id, gaspi_timeout_t timeout_ms) {
  if (!first_id) return refuse("first_id is null", GASPI_ERR_NULLPTR);
  if (num == 0) return GASPI_SUCCESS;  // by the standard: nothing to wait for
  if (self() && (begin >= limits().notification_num || num > limits().notification_num - begin))
    return refuse("notification_begin, num: not below gaspi_notification_num", GASPI_ERR_INV_NOTIF_ID);
  uint32_t found = 0;
  const ggas_rc rc = ggas_notification_waitsome(self(), segment, begin, num, &found, nanoseconds(timeout_ms));
  return rc == GGAS_OK ? give(first_id, found) : as_gaspi(rc);
}
gaspi_return_t gaspi_notify_reset(gaspi_segment_id_t segment, gaspi_notification_id_t slot,
                                  gaspi_notification_t* old_value) {
  uint32_t value = 0;
  const ggas_rc rc = ggas_notification_reset(self(), segment, slot, &value);
  if (rc != GGAS_OK || !old_value) return as_gaspi(rc);
  *old_value = value;
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_write_notify(gaspi_segment_id_t here, gaspi_offset_t offset_here, gaspi_rank_t rank,
                                  gaspi_segment_id_t there, gaspi_offset_t offset_there, gaspi_size_t size,
                                  gaspi_notification_id_t slot, gaspi_notification_t value, gaspi_queue_id_t queue,
                                  gaspi_timeout_t timeout_ms) {
  if (const gaspi_return_t rc = check_notification(slot, value); rc != GASPI_SUCCESS) return rc;
  const gaspi_return_t rc = gaspi_write(here, offset_here, rank, there, offset_there, size, queue, timeout_ms);
  return rc == GASPI_SUCCESS ? notify(there, rank, slot, value, queue, timeout_ms, size != 0) : rc;
}
gaspi_return_t gaspi_write_list_notify(gaspi_number_t num, gaspi_segment_id_t* here, gaspi_offset_t* offset_here,
                                       gaspi_rank_t rank, gaspi_segment_id_t* there, gaspi_offset_t* offset_there,
                                       gaspi_size_t* size, gaspi_segment_id_t segment, gaspi_notification_id_t slot,
                                       gaspi_notification_t value, gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms) {
  return move_and_notify(ggas_queue_write_list, parts(num, here, offset_here, there, offset_there, size), rank, segment,
                         slot, value, queue, timeout_ms);
}
gaspi_return_t gaspi_read_notify(gaspi_segment_id_t here, gaspi_offset_t offset_here, gaspi_rank_t rank,
                                 gaspi_segment_id_t there, gaspi_offset_t offset_there, gaspi_size_t size,
                                 gaspi_notification_id_t slot, gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms) {
  return move_and_notify(ggas_queue_read_list, {{here, there, offset_here, offset_there, size}}, rank, here, slot, 1,
                         queue, timeout_ms);
}
gaspi_return_t gaspi_read_list_notify(gaspi_number_t num, gaspi_segment_id_t* here, gaspi_offset_t* offset_here,
                                      gaspi_rank_t rank, gaspi_segment_id_t* there, gaspi_offset_t* offset_there,
                                      gaspi_size_t* size, gaspi_segment_id_t segment, gaspi_notification_id_t slot,
                                      gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms) {
  return move_and_notify(ggas_queue_read_list, parts(num, here, offset_here, there, offset_there, size), rank, segment,
                         slot, 1, queue, timeout_ms);
}
gaspi_return_t gaspi_wait(gaspi_queue_id_t queue, gaspi_timeout_t timeout_ms) {
  return as_gaspi(ggas_queue_wait(self(), queue, nanoseconds(timeout_ms)));
}

gaspi_return_t gaspi_queue_create(gaspi_queue_id_t* queue, gaspi_timeout_t) {
  uint32_t q = 0;
  if (!queue) return refuse("queue is null", GASPI_ERR_NULLPTR);
  const ggas_rc rc = ggas_queue_create(self(), &q);
  return rc == GGAS_OK ? give(queue, q) : as_gaspi(rc);
}
gaspi_return_t gaspi_queue_delete(gaspi_queue_id_t queue) {
  const ggas_rc rc = ggas_queue_delete(self(), queue);
  if (rc == GGAS_OK) forget_requests(queue);
  return as_gaspi(rc);
}
gaspi_return_t gaspi_queue_num(gaspi_number_t* queue_num) {
  if (!self()) return refuse("gaspi_proc_init has not been called", GASPI_ERR_NOINIT);
  unsigned n = 0;
  uint64_t posted;
  for (uint32_t q = 0; q < GGAS_QUEUES; ++q) n += ggas_queue_posted(self(), q, &posted) == GGAS_OK;
  return give(queue_num, n);
}
gaspi_return_t gaspi_queue_size(gaspi_queue_id_t queue, gaspi_number_t* queue_size) {
  uint64_t posted = 0;
  const ggas_rc rc = ggas_queue_posted(self(), queue, &posted);
  return rc == GGAS_OK ? give(queue_size, posted) : as_gaspi(rc);
}
gaspi_return_t gaspi_queue_purge(gaspi_queue_id_t queue, gaspi_timeout_t) {
  const ggas_rc rc = ggas_queue_purge(self(), queue);
  if (rc == GGAS_OK) forget_requests(queue);
  return as_gaspi(rc);
}

gaspi_return_t gaspi_passive_send(gaspi_segment_id_t segment, gaspi_offset_t offset, gaspi_rank_t rank,
                                  gaspi_size_t size, gaspi_timeout_t timeout_ms) {
  if (size > limits().passive_transfer_size_max)
    return refuse("size: more than gaspi_passive_transfer_size_max", GASPI_ERR_INV_COMMSIZE);
  return as_gaspi(ggas_passive_send(self(), segment, offset, rank, size, nanoseconds(timeout_ms)));
}
gaspi_return_t gaspi_passive_receive(gaspi_segment_id_t segment, gaspi_offset_t offset, gaspi_rank_t* rank,
                                     gaspi_size_t size, gaspi_timeout_t timeout_ms) {
  uint32_t from = 0;
  if (!rank) return refuse("rank is null", GASPI_ERR_NULLPTR);
  const ggas_rc rc = ggas_passive_receive(self(), segment, offset, &from, size, nanoseconds(timeout_ms));
  return rc == GGAS_OK ? give(rank, from) : as_gaspi(rc);
}
gaspi_return_t gaspi_passive_queue_purge(gaspi_timeout_t) {
  return self() ? GASPI_SUCCESS : refuse("gaspi_proc_init has not been called", GASPI_ERR_NOINIT);
}

gaspi_return_t gaspi_atomic_fetch_add(gaspi_segment_id_t segment, gaspi_offset_t offset, gaspi_rank_t rank,
                                      gaspi_atomic_value_t add, gaspi_atomic_value_t* old, gaspi_timeout_t timeout_ms) {
  if (!old) return refuse("value_old is null", GASPI_ERR_NULLPTR);
  return as_gaspi(ggas_segment_fetch_add(self(), segment, offset, rank, add, old, nanoseconds(timeout_ms)));
}
gaspi_return_t gaspi_atomic_compare_swap(gaspi_segment_id_t segment, gaspi_offset_t offset, gaspi_rank_t rank,
                                         gaspi_atomic_value_t comparator, gaspi_atomic_value_t value,
                                         gaspi_atomic_value_t* old, gaspi_timeout_t timeout_ms) {
  if (!old) return refuse("value_old is null", GASPI_ERR_NULLPTR);
  return as_gaspi(
      ggas_segment_compare_swap(self(), segment, offset, rank, comparator, value, old, nanoseconds(timeout_ms)));
}

gaspi_return_t gaspi_barrier(gaspi_group_t group, gaspi_timeout_t timeout_ms) {
  return as_gaspi(ggas_group_barrier(self(), group, nanoseconds(timeout_ms)));
}
gaspi_return_t gaspi_allreduce(const void* from, gaspi_pointer_t to, gaspi_number_t num, gaspi_operation_t operation,
                               gaspi_datatype_t datatype, gaspi_group_t group, gaspi_timeout_t timeout_ms) {
  constexpr ggas_element types[] = {GGAS_ELEMENT_INT32,  GGAS_ELEMENT_UINT32, GGAS_ELEMENT_FLOAT,
                                    GGAS_ELEMENT_DOUBLE, GGAS_ELEMENT_INT64,  GGAS_ELEMENT_UINT64};
  constexpr ggas_operation known[] = {GGAS_OP_MIN, GGAS_OP_MAX, GGAS_OP_SUM};
  if (num > limits().allreduce_elem_max) return refuse("num: more than gaspi_allreduce_elem_max", GASPI_ERR_INV_NUM);
  if (ggas::library::enum_number(datatype) >= std::size(types))
    return refuse("datatype: must be one of gaspi_datatype_t");
  if (ggas::library::enum_number(operation) >= std::size(known))
    return refuse("operation: must be one of gaspi_operation_t");
  return as_gaspi(
      ggas_group_allreduce(self(), from, to, num, types[datatype], known[operation], group, nanoseconds(timeout_ms)));
}
gaspi_return_t gaspi_allreduce_user(const void* from, gaspi_pointer_t to, gaspi_number_t num, gaspi_size_t element_size,
                                    gaspi_reduce_operation_t operation, gaspi_reduce_state_t state, gaspi_group_t group,
                                    gaspi_timeout_t timeout_ms) {
  if (!operation) return refuse("reduce_operation is null", GASPI_ERR_NULLPTR);
  if (num > limits().allreduce_elem_max) return refuse("num: more than gaspi_allreduce_elem_max", GASPI_ERR_INV_NUM);
  if (element_size && num > limits().allreduce_buf_size / element_size)
    return refuse("num, element_size: more than gaspi_allreduce_buf_size");
  operations[group] = {operation, state};
  return as_gaspi(ggas_group_allreduce_user(self(), from, to, num, element_size, apply, &operations[group], group,
                                            nanoseconds(timeout_ms)));
}
