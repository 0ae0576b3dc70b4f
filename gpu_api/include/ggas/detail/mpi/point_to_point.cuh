// SPDX-License-Identifier: Apache-2.0
// Messages by the names of MPI, packed data. Included by mpi.cuh.
#pragma once

#include "ggas/detail/mpi/partitioned.cuh"

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

// Of good arguments. Partitioned messages of the rank move on meanwhile.
GGAS_DEVICE int send_bytes(const void* data, uint64_t bytes, uint32_t info, int dest, int tag, MPI_Comm comm) {
  const int to = peer_in(comm, dest), as = tag_in(comm, tag);
  const ggas_status s =
      first_partitioned() && send_timeout_ns != 0
          ? send_among_partitions(data, bytes, to, as, info)
          : ggas_send(rank_group{}, world(), static_cast<const char*>(data), bytes, to, as, send_timeout_ns, info);
  return s == ggas_timed_out ? no_room : error_of(s);
}
GGAS_DEVICE int receive_bytes(void* buffer, uint64_t most, uint32_t info, int source, int tag, MPI_Comm comm,
                              ggas_message& m) {
  const int from = peer_in(comm, source), as = tag_in(comm, tag);
  const ggas_status s = first_partitioned() ? receive_among_partitions(buffer, most, from, as, info, &m)
                                            : receive(buffer, most, from, as, info, &m);
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
