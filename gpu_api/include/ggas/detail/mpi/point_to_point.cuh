// SPDX-License-Identifier: Apache-2.0
// Messages by the names of MPI, requests, packed data. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/packed_items.cuh"

namespace ggas::mpi {
GGAS_DEVICE int check_items(const void* buffer, int count, MPI_Datatype type, MPI_Comm comm) {
  const derived_type* const t = derived(type);
  return t ? check_items(buffer, count, *t, comm) : check_data(buffer, count, type, comm);
}
GGAS_DEVICE int check_send(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  const int wrong = check_items(buffer, count, type, comm);
  return wrong != MPI_SUCCESS ? wrong : check_target(dest, tag, comm);
}
GGAS_DEVICE int check_receive(const void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm) {
  const int wrong = check_items(buffer, count, type, comm);
  return wrong != MPI_SUCCESS ? wrong : check_source(source, tag, comm);
}

// Of good arguments.
GGAS_DEVICE int send_bytes(const void* data, uint64_t bytes, uint32_t info, int dest, int tag, MPI_Comm comm) {
  const ggas_status s = ggas_send(rank_group{}, world(), static_cast<const char*>(data), bytes, peer_in(comm, dest),
                                  tag_in(comm, tag), send_timeout_ns, info);
  return s == ggas_timed_out ? no_room : error_of(s);
}
GGAS_DEVICE int receive_bytes(void* buffer, uint64_t most, uint32_t info, int source, int tag, MPI_Comm comm,
                              ggas_message& m) {
  const ggas_status s = ggas::detail::receive_message(rank_group{}, world(), buffer, most, peer_in(comm, source),
                                                      tag_in(comm, tag), &m, timeout_ns, info);
  return error_of(s, m, most);
}
GGAS_DEVICE_FUNCTION int send_items(const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                                    MPI_Comm comm) {
  packed_items* const p = new_items(buffer, static_cast<uint64_t>(count), type, false);
  if (!p) return MPI_ERR_OTHER;
  p->pack();
  const int error = send_bytes(p->data(), p->bytes, p->type->shape.info, dest, tag, comm);
  free_items(p);
  return error;
}
GGAS_DEVICE_FUNCTION int receive_items(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                       ggas_message& m) {
  packed_items* const p = new_items(buffer, static_cast<uint64_t>(count), type, true);
  if (!p) return MPI_ERR_OTHER;
  const int error = receive_bytes(p->data(), p->bytes, p->type->shape.info, source, tag, comm, m);
  if (error == MPI_SUCCESS) p->unpack(m.bytes);
  free_items(p);
  return error;
}
}  // namespace ggas::mpi

// ---- calls that wait

GGAS_DEVICE int MPI_Send(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  using namespace ggas::mpi;
  const int wrong = check_send(buffer, count, type, dest, tag, comm);
  if (wrong != MPI_SUCCESS || dest == MPI_PROC_NULL) return wrong;
  return derived(type) ? send_items(buffer, count, type, dest, tag, comm)
                       : send_bytes(buffer, bytes_of(count, type), info_of(type), dest, tag, comm);
}

GGAS_DEVICE int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Status* status) {
  using namespace ggas::mpi;
  int error = check_receive(buffer, count, type, source, tag, comm);
  if (error != MPI_SUCCESS) return error;
  ggas_message m = from_nobody();
  if (source != MPI_PROC_NULL)
    error = derived(type) ? receive_items(buffer, count, type, source, tag, comm, m)
                          : receive_bytes(buffer, bytes_of(count, type), info_of(type), source, tag, comm, m);
  fill_status(status, m, error);
  return error;
}

// Elements of what was received; MPI_UNDEFINED: no whole number.
GGAS_DEVICE int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  ggas::mpi::type_shape s;
  if (!ggas::mpi::shape_of(type, s)) return MPI_ERR_TYPE;
  const auto size = static_cast<uint64_t>(s.size);
  const bool whole = size == 0 ? status->recv_bytes == 0 : status->recv_bytes % size == 0;
  *count = !whole ? MPI_UNDEFINED : size == 0 ? 0 : static_cast<int>(status->recv_bytes / size);
  return MPI_SUCCESS;
}

GGAS_DEVICE_FUNCTION int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  using namespace ggas::mpi;
  const int wrong = comm_good(comm) ? check_source(source, tag, comm) : MPI_ERR_COMM;
  if (wrong != MPI_SUCCESS) return wrong;
  ggas_message m = from_nobody();
  const ggas_status s = source == MPI_PROC_NULL ? ggas_ok
                                                : ggas_probe(rank_group{}, world(), peer_in(comm, source),
                                                             tag_in(comm, tag), &m, timeout_ns);
  fill_status(status, m, error_of(s));
  return error_of(s);
}
GGAS_DEVICE_FUNCTION int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  using namespace ggas::mpi;
  const int wrong = comm_good(comm) ? check_source(source, tag, comm) : MPI_ERR_COMM;
  if (wrong != MPI_SUCCESS) return wrong;
  ggas_message m = from_nobody();
  const ggas_status s = source == MPI_PROC_NULL
                            ? ggas_ok
                            : ggas_probe(rank_group{}, world(), peer_in(comm, source), tag_in(comm, tag), &m, 0);
  *flag = s == ggas_ok;
  if (*flag) fill_status(status, m, MPI_SUCCESS);
  return s == ggas_timed_out ? MPI_SUCCESS : error_of(s);
}

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
              p};
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
// One that has ended is none, unless it is persistent. None has ended.
GGAS_DEVICE_FUNCTION int end_request(MPI_Request* request, MPI_Status* status, uint64_t time, bool& ended) {
  ggas_message m = from_nobody();
  m.source = MPI_ANY_SOURCE;
  const bool none = request->active.number == 0;
  const ggas_status s = none ? ggas_ok : ggas_wait(rank_group{}, world(), &request->active, &m, time);
  ended = request->active.number == 0;
  const int error = error_of(s, m, request->bytes);
  if (!ended) return error;
  fill_status(status, m, error);
  if (request->packed && request->packed->receives && !none && error == MPI_SUCCESS) request->packed->unpack(m.bytes);
  if (request->kind == 0) drop_items(request);
  return error;
}
GGAS_DEVICE bool has_ended(uint64_t number) {
  return number == 0 || detail::find_request(self(), number, message_request::ended) != detail::no_request;
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
  for (int i = 0; i < count; ++i) *flag &= has_ended(requests[i].active.number);
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
  return ggas::mpi::start_request(request);
}
GGAS_DEVICE_FUNCTION int MPI_Startall(int count, MPI_Request* requests) {
  int all = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) all = ggas::mpi::first_of(all, MPI_Start(requests + i));
  return all;
}
GGAS_DEVICE_FUNCTION int MPI_Request_free(MPI_Request* request) {
  const int error = request->active.number == 0 ? MPI_SUCCESS : MPI_Wait(request, MPI_STATUS_IGNORE);
  ggas::mpi::drop_items(request);
  *request = MPI_REQUEST_NULL;
  return error;
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

// ---- packed data: elements in sequence

namespace ggas::mpi {
// By all threads of the rank, between its own places.
GGAS_DEVICE void copy_own_bytes(void* to, const void* from, uint64_t bytes) {
  const rank_group g;
  g.sync();
  for (uint64_t i = g.rank(); i < bytes; i += g.size()) static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
  g.sync();
}
// Packs elements, or unpacks them, at a position that then moves on.
GGAS_DEVICE_FUNCTION int pack_items(const void* items, int count, MPI_Datatype type, const void* packed, int size,
                                    int* position, MPI_Comm comm, item_move how) {
  type_shape s;
  const int wrong = check_items(items, count, type, comm), at = *position;
  if (wrong != MPI_SUCCESS || !shape_of(type, s)) return wrong;
  const int64_t bytes = limited_product(count, s.size);
  if (at < 0 || at > size || bytes > size - at) return MPI_ERR_TRUNCATE;
  const auto n = static_cast<uint64_t>(bytes);
  if (const derived_type* const t = derived(type))
    move_items(*t, as_bytes(items), as_bytes(packed) + at, 0, n, how);
  else if (how == item_move::pack)
    copy_own_bytes(as_bytes(packed) + at, items, n);
  else
    copy_own_bytes(as_bytes(items), as_bytes(packed) + at, n);
  *position = at + static_cast<int>(bytes);
  return MPI_SUCCESS;
}
}  // namespace ggas::mpi

GGAS_DEVICE_FUNCTION int MPI_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int* size) {
  using namespace ggas::mpi;
  type_shape s;
  const int wrong = check_items(size, count, type, comm);
  if (wrong != MPI_SUCCESS || !shape_of(type, s)) return wrong;
  *size = static_cast<int>(limited_product(count, s.size));
  return MPI_SUCCESS;
}
GGAS_DEVICE int MPI_Pack(const void* from, int count, MPI_Datatype type, void* packed, int size, int* position,
                         MPI_Comm comm) {
  return ggas::mpi::pack_items(from, count, type, packed, size, position, comm, ggas::mpi::item_move::pack);
}
GGAS_DEVICE int MPI_Unpack(const void* packed, int size, int* position, void* to, int count, MPI_Datatype type,
                           MPI_Comm comm) {
  return ggas::mpi::pack_items(to, count, type, packed, size, position, comm, ggas::mpi::item_move::unpack);
}
