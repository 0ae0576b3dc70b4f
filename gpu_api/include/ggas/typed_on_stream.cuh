// SPDX-License-Identifier: Apache-2.0
// Calls with datatypes on a stream, like those of ggas/on_stream.cuh: queued by the host, also into CUDA graphs.
// Datatypes: docs/datatypes.md, ggas/type.cuh; a ggas_type comes from ggas::type_space::commit.
//
// * An address is the place of displacement 0 of an item. Local data lie in the node's segment or in memory of its host
//   (cluster::host_memory). Pack and unpack on a GPU also accept other memory that it reaches: from cudaMalloc or
//   cudaMallocHost, whose first and last byte are checked. Kernels store directly into memory of the host.
// * Wrong arguments are reported at once (errc::bad_argument, naming argument and rule), and nothing has moved: a
//   datatype that is not committed, was freed or belongs to another cluster; unequal signatures; count x extent or
//   count x size beyond 64 bits; a range past the data; other memory than the above; a path that does not suit the
//   shape.
// * A graph contains boxes themselves: they may be freed. Other datatypes must exist as long as a graph that names
//   them. If an overwritten image names places outside the data, these are refused (ggas_bad_argument in the status
//   word), and no signal follows.
#pragma once

#include "ggas/committed_types.hpp"
#include "ggas/on_stream.cuh"
#include "ggas/type.cuh"

namespace ggas {

// Bytes of the packed data of all items; ggas_all_bytes: up to the end.
struct packed_range {
  uint64_t first = 0;
  uint64_t bytes = ggas_all_bytes;
};

/// ggas_pack_grid() on a stream: packed byte `range.first` is at `to`.
[[maybe_unused]] static result<> pack_on_stream(cluster& c, const stream& s, void* to, const void* from, uint64_t count,
                                                const ggas_type& type, const stream_report& report,
                                                const packed_range& range = {}, const stream_shape& shape = {});
/// ggas_unpack_grid() on a stream: packed byte `range.first` is at `from`. Gaps are not written.
[[maybe_unused]] static result<> unpack_on_stream(cluster& c, const stream& s, void* to, uint64_t count,
                                                  const ggas_type& type, const void* from, const stream_report& report,
                                                  const packed_range& range = {}, const stream_shape& shape = {});

/// ggas_put_typed_grid() on a stream. Through a NIC local data lie in the segment. Between two GPUs of one process a
/// kernel on the target's GPU may take part (typed_path::staged), so a kernel that fills that GPU must not wait for the
/// put; typed_path::direct excludes this.
[[maybe_unused]] static result<> put_typed_on_stream(cluster& c, const stream& s, global_ptr<char> remote,
                                                     uint64_t remote_count, const ggas_type& remote_type,
                                                     const void* local, uint64_t local_count,
                                                     const ggas_type& local_type, const stream_report& report,
                                                     const stream_shape& shape = {});
/// ggas_get_typed_grid() on a stream. Through a NIC local data lie in the segment.
[[maybe_unused]] static result<> get_typed_on_stream(cluster& c, const stream& s, void* local, uint64_t local_count,
                                                     const ggas_type& local_type, global_ptr<char> remote,
                                                     uint64_t remote_count, const ggas_type& remote_type,
                                                     const stream_report& report, const stream_shape& shape = {});

/// ggas_put_signal_typed_grid() on a stream, without its counter: a thread that sees the word sees the data. Kernels on
/// the target's GPU: as for put_typed_on_stream().
[[maybe_unused]] static result<> put_signal_typed_on_stream(
    cluster& c, const stream& s, global_ptr<char> remote, uint64_t remote_count, const ggas_type& remote_type,
    const void* local, uint64_t local_count, const ggas_type& local_type, global_ptr<uint64_t> signal, uint64_t value,
    ggas_signal_op op, const stream_report& report, const stream_shape& shape = {});

}  // namespace ggas

#include "ggas/detail/stream/typed_on_stream.cuh"
