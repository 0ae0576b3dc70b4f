// SPDX-License-Identifier: Apache-2.0
// Requests by the names of MPI: of one message, persistent, partitioned. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/point_to_point.cuh"

// ---- requests

namespace ggas::mpi {
// A persistent request, not begun. `kind`: 1: send, 2: receive. Of good arguments.
GGAS_DEVICE_FUNCTION int make_request(const void* buffer, int count, MPI_Datatype type, int peer, int tag,
                                      MPI_Comm comm, int kind, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  packed_items* const p = derived(type) ? new_items(buffer, static_cast<uint64_t>(count), type, kind == 2) : nullptr;
  if (derived(type) && !p) return MPI_ERR_OTHER;
  *request = {{},
              p ? p->data() : as_bytes(buffer),
              p ? p->bytes : bytes_of(count, type),
              peer_in(comm, peer),
              tag_in(comm, tag),
              p ? p->type->shape.info : info_of(type),
              kind,
              p,
              nullptr};
  return MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int start_request(MPI_Request* request) {
  if (request->peer == MPI_PROC_NULL) return MPI_SUCCESS;
  if (request->kind == 2)
    return error_of(ggas::detail::begin_receive(rank_group{}, world(), request->buffer, request->bytes, request->peer,
                                                request->tag, &request->active, request->info));
  if (request->packed) request->packed->pack();
  return error_of(ggas_isend(rank_group{}, world(), static_cast<const char*>(request->buffer), request->bytes,
                             request->peer, request->tag, &request->active, request->info));
}
GGAS_DEVICE void drop_items(MPI_Request* request) {
  if (request->packed) free_items(request->packed);
  request->packed = nullptr;
}
// A request of one message.
GGAS_DEVICE_FUNCTION int begin_request(const void* buffer, int count, MPI_Datatype type, int peer, int tag,
                                       MPI_Comm comm, int kind, MPI_Request* request) {
  int error = make_request(buffer, count, type, peer, tag, comm, kind, request);
  if (error == MPI_SUCCESS) error = start_request(request);
  request->kind = 0;
  if (request->active.number == 0) drop_items(request);
  return error;
}
}  // namespace ggas::mpi

GGAS_DEVICE int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  const int wrong = ggas::mpi::check_send(buffer, count, type, dest, tag, comm);
  return wrong != MPI_SUCCESS ? wrong : ggas::mpi::begin_request(buffer, count, type, dest, tag, comm, 1, request);
}
GGAS_DEVICE int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                          MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  const int wrong = ggas::mpi::check_receive(buffer, count, type, source, tag, comm);
  return wrong != MPI_SUCCESS ? wrong : ggas::mpi::begin_request(buffer, count, type, source, tag, comm, 2, request);
}

namespace ggas::mpi {
GGAS_DEVICE_FUNCTION int end_partitioned(MPI_Request* request, MPI_Status* status, uint64_t time, bool& ended) {
  const partitioned* const p = request->parts;
  const int error = end_partitions(request->parts, time, ended);
  if (!ended) return error;
  request->active.number = 0;
  const bool came = p->receives && p->peer != MPI_PROC_NULL;
  if (status)
    *status = {p->receives ? p->source : MPI_ANY_SOURCE, came ? p->tag : MPI_ANY_TAG, error, came ? p->offer.bytes : 0};
  return error;
}
// One that has ended is none, unless it is persistent. None has ended.
GGAS_DEVICE_FUNCTION int end_request(MPI_Request* request, MPI_Status* status, uint64_t time, bool& ended) {
  if (request->parts && request->active.number != 0) return end_partitioned(request, status, time, ended);
  ggas_message m = from_nobody();
  m.source = MPI_ANY_SOURCE;
  const bool none = request->active.number == 0;
  const ggas_status s = none ? ggas_ok : wait_for(&request->active, &m, time);
  ended = request->active.number == 0;
  const int error = error_of(s, m, request->bytes);
  if (!ended) return error;
  fill_status(status, m, error);
  if (request->packed && request->packed->receives && !none && error == MPI_SUCCESS) request->packed->unpack(m.bytes);
  if (request->kind == 0) drop_items(request);
  return error;
}
GGAS_DEVICE bool has_ended(const MPI_Request& request) {
  const uint64_t number = request.active.number;
  if (number == 0) return true;
  if (!request.parts) return detail::find_request(self(), number, message_request::ended) != detail::no_request;
  bool ended;
  (void)end_partitions(request.parts, 0, ended);
  return ended;
}
}  // namespace ggas::mpi

GGAS_DEVICE int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  bool ended;
  return ggas::mpi::end_request(request, status, ggas::mpi::timeout_ns, ended);
}
GGAS_DEVICE int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  bool ended;
  const int error = ggas::mpi::end_request(request, status, 0, ended);
  *flag = ended;
  return ended ? error : error == MPI_ERR_TIMEOUT ? MPI_SUCCESS : error;
}
GGAS_DEVICE_FUNCTION int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  int all = MPI_SUCCESS;
  for (int i = 0; i < count; ++i)
    all = ggas::mpi::first_of(all, MPI_Wait(requests + i, statuses ? statuses + i : nullptr));
  return all;
}
// Ends all requests, or none of them.
GGAS_DEVICE_FUNCTION int MPI_Testall(int count, MPI_Request* requests, int* flag, MPI_Status* statuses) {
  using namespace ggas::mpi;
  const rank_group g;
  (void)ggas_probe(g, world(), MPI_ANY_SOURCE, MPI_ANY_TAG, nullptr, 0);  // moves them on
  g.sync();
  *flag = 1;
  for (int i = 0; i < count; ++i) *flag &= has_ended(requests[i]);
  g.sync();
  return *flag ? MPI_Waitall(count, requests, statuses) : MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int MPI_Testany(int count, MPI_Request* requests, int* index, int* flag, MPI_Status* status) {
  *index = MPI_UNDEFINED;
  *flag = 1;
  for (int i = 0; i < count; ++i) {
    if (requests[i].active.number == 0) continue;
    const int error = MPI_Test(requests + i, flag, status);
    if (*flag) *index = i;
    if (*flag || error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int MPI_Waitany(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  const uint64_t begin = ggas::detail::clock_ns();
  for (;;) {
    int flag;
    const int error = MPI_Testany(count, requests, index, &flag, status);
    if (flag || error != MPI_SUCCESS) return error;
    const bool late = ggas::detail::clock_ns() - begin > ggas::mpi::timeout_ns;  // clocks of threads differ
    if (ggas::mpi::rank_group{}.join(late ? ggas_timed_out : ggas_ok) != ggas_ok) return MPI_ERR_TIMEOUT;
  }
}
GGAS_DEVICE int MPI_Cancel(MPI_Request* request) {
  if (request->parts) return MPI_ERR_REQUEST;
  const ggas_status s = ggas_cancel(ggas::mpi::rank_group{}, ggas::mpi::world(), &request->active);
  if (request->kind == 0) ggas::mpi::drop_items(request);
  return s == ggas_timed_out ? MPI_SUCCESS : ggas::mpi::error_of(s);
}

// ---- persistent requests

GGAS_DEVICE int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                              MPI_Request* request) {
  const int wrong = ggas::mpi::check_send(buffer, count, type, dest, tag, comm);
  return wrong != MPI_SUCCESS ? wrong : ggas::mpi::make_request(buffer, count, type, dest, tag, comm, 1, request);
}
GGAS_DEVICE int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                              MPI_Request* request) {
  const int wrong = ggas::mpi::check_receive(buffer, count, type, source, tag, comm);
  return wrong != MPI_SUCCESS ? wrong : ggas::mpi::make_request(buffer, count, type, source, tag, comm, 2, request);
}
GGAS_DEVICE int MPI_Start(MPI_Request* request) {
  if (request->kind == 0 || request->active.number != 0) return MPI_ERR_REQUEST;
  if (!request->parts) return ggas::mpi::start_request(request);
  ggas::mpi::start_partitions(request->parts);
  request->active.number = ggas::mpi::number_of_partitions;
  return MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int MPI_Startall(int count, MPI_Request* requests) {
  int all = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) all = ggas::mpi::first_of(all, MPI_Start(requests + i));
  return all;
}
GGAS_DEVICE_FUNCTION int MPI_Request_free(MPI_Request* request) {
  const int error = request->active.number == 0 ? MPI_SUCCESS : MPI_Wait(request, MPI_STATUS_IGNORE);
  if (request->parts && request->active.number == 0) ggas::mpi::drop_partitions(request->parts);
  ggas::mpi::drop_items(request);
  *request = MPI_REQUEST_NULL;
  return error;
}

// ---- partitioned ones

namespace ggas::mpi {
GGAS_DEVICE_FUNCTION int make_partitioned(const void* buffer, int partitions, MPI_Count count, MPI_Datatype type,
                                          int peer, int tag, MPI_Comm comm, int kind, MPI_Request* request) {
  *request = MPI_REQUEST_NULL;
  type_shape s;
  int wrong = partitions < 0 ? MPI_ERR_ARG : count < 0 ? MPI_ERR_COUNT : MPI_SUCCESS;
  if (wrong == MPI_SUCCESS) wrong = check_items(buffer, count != 0 && partitions != 0, type, comm);
  if (wrong == MPI_SUCCESS) wrong = tag > MPI_TAG_UB ? MPI_ERR_TAG : check_target(peer, tag, comm);
  if (wrong != MPI_SUCCESS || !shape_of(type, s)) return wrong;
  const int64_t items = limited_product(partitions, count);
  if (!within_limits(items) || !within_limits(limited_product(items, s.size))) return MPI_ERR_COUNT;
  partitioned* const p = new_partitioned(buffer, partitions, items, type, peer, tag, comm, kind == 2);
  if (!p) return MPI_ERR_OTHER;
  const int error = offer_partitions(p, offer_tag(comm, tag));
  if (error != MPI_SUCCESS) {
    free_partitioned(p);
    return error;
  }
  if (p->peer != MPI_PROC_NULL) enter_list(p);
  request->kind = kind;
  request->parts = p;
  return MPI_SUCCESS;
}
// The partitions of a request that has begun, and which has this one; null: it has not.
GGAS_DEVICE partitioned* begun_parts(const MPI_Request& request, int kind) {
  return request.kind == kind && request.active.number != 0 ? request.parts : nullptr;
}
}  // namespace ggas::mpi

GGAS_DEVICE int MPI_Psend_init(const void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int dest,
                               int tag, MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return ggas::mpi::make_partitioned(buffer, partitions, count, type, dest, tag, comm, 1, request);
}
GGAS_DEVICE int MPI_Precv_init(void* buffer, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag,
                               MPI_Comm comm, MPI_Info, MPI_Request* request) {
  return ggas::mpi::make_partitioned(buffer, partitions, count, type, source, tag, comm, 2, request);
}
GGAS_DEVICE_FUNCTION int MPI_Pready(int partition, MPI_Request request) {
  using namespace ggas::mpi;
  const rank_group g;
  partitioned* const p = begun_parts(request, 1);
  if (!p) return MPI_ERR_REQUEST;
  if (partition < 0 || partition >= p->partitions) return MPI_ERR_ARG;
  if (p->peer == MPI_PROC_NULL) return MPI_SUCCESS;
  if (p->words()[partition] != partitioned::waits) return MPI_ERR_ARG;
  const uint64_t part = p->own_part();
  if (p->packed) p->packed->pack_part(static_cast<unsigned>(partition) * part, part);
  g.sync();
  if (g.leads()) p->words()[partition] = partitioned::ready;
  g.sync();
  const ggas_status s = move_sent(p, partition, 0);
  return s == ggas_timed_out ? MPI_SUCCESS : error_of(s);
}
GGAS_DEVICE_FUNCTION int MPI_Pready_range(int first, int last, MPI_Request request) {
  int all = MPI_SUCCESS;
  for (int i = first; i <= last; ++i) all = ggas::mpi::first_of(all, MPI_Pready(i, request));
  return all;
}
GGAS_DEVICE_FUNCTION int MPI_Pready_list(int count, const int* partitions, MPI_Request request) {
  int all = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) all = ggas::mpi::first_of(all, MPI_Pready(partitions[i], request));
  return all;
}
// True as well for a request that has not begun, or has ended.
GGAS_DEVICE_FUNCTION int MPI_Parrived(MPI_Request request, int partition, int* flag) {
  using namespace ggas::mpi;
  *flag = 1;
  if (request.active.number == 0 && (request.kind == 0 || request.parts)) return MPI_SUCCESS;
  partitioned* const p = begun_parts(request, 2);
  if (!p) return MPI_ERR_REQUEST;
  if (partition < 0 || partition >= p->partitions) return MPI_ERR_ARG;
  bool ended;
  const int error = end_partitions(p, 0, ended);
  *flag = ended || (p->offering.number == 0 && p->words()[partition] == p->own_part());
  rank_group{}.sync();
  return error == MPI_ERR_TIMEOUT ? MPI_SUCCESS : error;
}

// ---- both at once

GGAS_DEVICE_FUNCTION int MPI_Sendrecv(const void* send_buffer, int send_count, MPI_Datatype send_type, int dest,
                                      int send_tag, void* buffer, int count, MPI_Datatype type, int source, int tag,
                                      MPI_Comm comm, MPI_Status* status) {
  MPI_Request sent;
  const int wrong = ggas::mpi::check_receive(buffer, count, type, source, tag, comm);
  if (wrong != MPI_SUCCESS) return wrong;
  int error = MPI_Isend(send_buffer, send_count, send_type, dest, send_tag, comm, &sent);
  if (error != MPI_SUCCESS) return error;
  error = MPI_Recv(buffer, count, type, source, tag, comm, status);
  const int other = MPI_Wait(&sent, MPI_STATUS_IGNORE);
  if (other == MPI_ERR_TIMEOUT) (void)MPI_Cancel(&sent);
  return ggas::mpi::first_of(error, other);
}

// For messages that fit into a record (short_bytes): the buffer is free when the send returns, and no other memory is
// needed. MPI_ERR_COUNT: the message is longer.
GGAS_DEVICE_FUNCTION int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int dest, int send_tag,
                                              int source, int tag, MPI_Comm comm, MPI_Status* status) {
  using namespace ggas::mpi;
  type_shape s;
  const int wrong = first_of(check_send(buffer, count, type, dest, send_tag, comm),
                             check_receive(buffer, count, type, source, tag, comm));
  if (wrong != MPI_SUCCESS || !shape_of(type, s)) return wrong;
  if (limited_product(count, s.size) > world().short_bytes) return MPI_ERR_COUNT;
  const int error = MPI_Send(buffer, count, type, dest, send_tag, comm);
  return error == MPI_SUCCESS ? MPI_Recv(buffer, count, type, source, tag, comm, status) : error;
}
