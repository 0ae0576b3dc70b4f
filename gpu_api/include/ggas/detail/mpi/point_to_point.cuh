// SPDX-License-Identifier: Apache-2.0
// Messages by the names of MPI, requests, packed data. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/world.cuh"

namespace ggas::mpi {
GGAS_DEVICE int check_send(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  const int wrong = check_data(buffer, count, type, comm);
  return wrong != MPI_SUCCESS ? wrong : check_target(dest, tag, comm);
}
GGAS_DEVICE int check_receive(const void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm) {
  const int wrong = check_data(buffer, count, type, comm);
  return wrong != MPI_SUCCESS ? wrong : check_source(source, tag, comm);
}
}  // namespace ggas::mpi

// ---- calls that wait

GGAS_DEVICE int MPI_Send(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm) {
  using namespace ggas::mpi;
  const int wrong = check_send(buffer, count, type, dest, tag, comm);
  if (wrong != MPI_SUCCESS || dest == MPI_PROC_NULL) return wrong;
  const ggas_status s = ggas_send(rank_group{}, world(), static_cast<const char*>(buffer), bytes_of(count, type),
                                  peer_in(comm, dest), tag_in(comm, tag), send_timeout_ns, info_of(type));
  return s == ggas_timed_out ? no_room : error_of(s);
}

GGAS_DEVICE int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Status* status) {
  using namespace ggas::mpi;
  const int wrong = check_receive(buffer, count, type, source, tag, comm);
  if (wrong != MPI_SUCCESS) return wrong;
  if (source == MPI_PROC_NULL) {
    fill_status(status, from_nobody(), MPI_SUCCESS);
    return MPI_SUCCESS;
  }
  ggas_message m;
  const uint64_t most = bytes_of(count, type);
  const ggas_status s = ggas::detail::receive_message(rank_group{}, world(), buffer, most, peer_in(comm, source),
                                                      tag_in(comm, tag), &m, timeout_ns, info_of(type));
  const int error = error_of(s, m, most);
  fill_status(status, m, error);
  return error;
}

// Elements of what was received; MPI_UNDEFINED: no whole number.
GGAS_DEVICE int MPI_Get_count(const MPI_Status* status, MPI_Datatype type, int* count) {
  if (!ggas::mpi::type_good(type)) return MPI_ERR_TYPE;
  const auto size = static_cast<uint64_t>(TYPE_SIZE(type));
  *count = status->recv_bytes % size == 0 ? static_cast<int>(status->recv_bytes / size) : MPI_UNDEFINED;
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

GGAS_DEVICE_FUNCTION int MPI_Isend(const void* buffer, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
                                   MPI_Request* request) {
  using namespace ggas::mpi;
  *request = MPI_REQUEST_NULL;
  const int wrong = check_send(buffer, count, type, dest, tag, comm);
  if (wrong != MPI_SUCCESS || dest == MPI_PROC_NULL) return wrong;
  return error_of(ggas_isend(rank_group{}, world(), static_cast<const char*>(buffer), bytes_of(count, type),
                             peer_in(comm, dest), tag_in(comm, tag), &request->active, info_of(type)));
}
GGAS_DEVICE_FUNCTION int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                   MPI_Request* request) {
  using namespace ggas::mpi;
  *request = MPI_REQUEST_NULL;
  const int wrong = check_receive(buffer, count, type, source, tag, comm);
  if (wrong != MPI_SUCCESS || source == MPI_PROC_NULL) return wrong;
  const uint64_t most = bytes_of(count, type);
  request->bytes = static_cast<int>(most);
  return error_of(ggas::detail::begin_receive(rank_group{}, world(), buffer, most, peer_in(comm, source),
                                              tag_in(comm, tag), &request->active, info_of(type)));
}

namespace ggas::mpi {
// One that has ended is none, unless it is persistent. None has ended.
GGAS_DEVICE_FUNCTION int end_request(MPI_Request* request, MPI_Status* status, uint64_t time, bool& ended) {
  ggas_message m = from_nobody();
  m.source = MPI_ANY_SOURCE;
  const bool none = request->active.number == 0;
  const ggas_status s = none ? ggas_ok : ggas_wait(rank_group{}, world(), &request->active, &m, time);
  ended = request->active.number == 0;
  const int error = error_of(s, m, static_cast<uint64_t>(request->bytes));
  if (ended) fill_status(status, m, error);
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
  return s == ggas_timed_out ? MPI_SUCCESS : ggas::mpi::error_of(s);
}

// ---- persistent requests

GGAS_DEVICE_FUNCTION int MPI_Send_init(const void* buffer, int count, MPI_Datatype type, int dest, int tag,
                                       MPI_Comm comm, MPI_Request* request) {
  using namespace ggas::mpi;
  const int wrong = check_send(buffer, count, type, dest, tag, comm);
  if (wrong != MPI_SUCCESS) return wrong;
  *request = {{},
              const_cast<void*>(buffer),
              static_cast<int>(bytes_of(count, type)),
              peer_in(comm, dest),
              tag_in(comm, tag),
              info_of(type),
              1};
  return MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                                       MPI_Request* request) {
  using namespace ggas::mpi;
  const int wrong = check_receive(buffer, count, type, source, tag, comm);
  if (wrong != MPI_SUCCESS) return wrong;
  *request = {
      {}, buffer, static_cast<int>(bytes_of(count, type)), peer_in(comm, source), tag_in(comm, tag), info_of(type), 2};
  return MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int MPI_Start(MPI_Request* request) {
  using namespace ggas::mpi;
  if (request->kind == 0 || request->active.number != 0) return MPI_ERR_REQUEST;
  if (request->peer == MPI_PROC_NULL) return MPI_SUCCESS;
  const auto bytes = static_cast<uint64_t>(request->bytes);
  if (request->kind == 1)
    return error_of(ggas_isend(rank_group{}, world(), static_cast<const char*>(request->buffer), bytes, request->peer,
                               request->tag, &request->active, request->info));
  return error_of(ggas::detail::begin_receive(rank_group{}, world(), request->buffer, bytes, request->peer,
                                              request->tag, &request->active, request->info));
}
GGAS_DEVICE_FUNCTION int MPI_Startall(int count, MPI_Request* requests) {
  int all = MPI_SUCCESS;
  for (int i = 0; i < count; ++i) all = ggas::mpi::first_of(all, MPI_Start(requests + i));
  return all;
}
GGAS_DEVICE_FUNCTION int MPI_Request_free(MPI_Request* request) {
  const int error = request->active.number == 0 ? MPI_SUCCESS : MPI_Wait(request, MPI_STATUS_IGNORE);
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
  const int wrong = first_of(check_send(buffer, count, type, dest, send_tag, comm),
                             check_receive(buffer, count, type, source, tag, comm));
  if (wrong != MPI_SUCCESS) return wrong;
  if (bytes_of(count, type) > world().short_bytes) return MPI_ERR_COUNT;
  const int error = MPI_Send(buffer, count, type, dest, send_tag, comm);
  return error == MPI_SUCCESS ? MPI_Recv(buffer, count, type, source, tag, comm, status) : error;
}

// ---- packed data: elements in sequence

GGAS_DEVICE int MPI_Pack_size(int count, MPI_Datatype type, MPI_Comm comm, int* size) {
  const int wrong = ggas::mpi::check_data(size, count, type, comm);
  if (wrong == MPI_SUCCESS) *size = static_cast<int>(ggas::mpi::bytes_of(count, type));
  return wrong;
}
namespace ggas::mpi {
// By all threads of the rank, between its own places.
GGAS_DEVICE void copy_own_bytes(void* to, const void* from, uint64_t bytes) {
  const rank_group g;
  g.sync();
  for (uint64_t i = g.rank(); i < bytes; i += g.size()) static_cast<char*>(to)[i] = static_cast<const char*>(from)[i];
  g.sync();
}
}  // namespace ggas::mpi
GGAS_DEVICE_FUNCTION int MPI_Pack(const void* from, int count, MPI_Datatype type, void* packed, int size, int* position,
                                  MPI_Comm comm) {
  using namespace ggas::mpi;
  const int wrong = check_data(from, count, type, comm);
  if (wrong != MPI_SUCCESS) return wrong;
  const uint64_t bytes = bytes_of(count, type);
  const int at = *position;
  if (at < 0 || at > size || bytes > static_cast<uint64_t>(size - at)) return MPI_ERR_TRUNCATE;
  copy_own_bytes(static_cast<char*>(packed) + at, from, bytes);
  *position = at + static_cast<int>(bytes);
  return MPI_SUCCESS;
}
GGAS_DEVICE_FUNCTION int MPI_Unpack(const void* packed, int size, int* position, void* to, int count, MPI_Datatype type,
                                    MPI_Comm comm) {
  using namespace ggas::mpi;
  const int wrong = check_data(to, count, type, comm);
  if (wrong != MPI_SUCCESS) return wrong;
  const uint64_t bytes = bytes_of(count, type);
  const int at = *position;
  if (at < 0 || at > size || bytes > static_cast<uint64_t>(size - at)) return MPI_ERR_TRUNCATE;
  copy_own_bytes(to, static_cast<const char*>(packed) + at, bytes);
  *position = at + static_cast<int>(bytes);
  return MPI_SUCCESS;
}
