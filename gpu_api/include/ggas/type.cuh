// SPDX-License-Identifier: Apache-2.0
// Datatypes in kernels: noncontiguous data are packed, put and got without a buffer. A ggas_type comes from
// ggas::type_space::commit (ggas/committed_types.hpp) and is the same value on every node. Guide: docs/datatypes.md.
//
// * An address is the place of displacement 0 of an item, before or after its data. All data of `count` items
//   lie in the own segment, or, in a put or get, in one segment.
// * Both sides of a put or get have the same signature: the same primitives in the same order. Layouts may differ.
// * ggas_bad_argument, and nothing has moved: a type that is not committed, was freed or belongs to another cluster;
//   unequal signatures; count x extent beyond 64 bits; a range past the data; data outside a segment. An image that was
//   overwritten gives ggas_bad_argument too; then some data may have moved, but nothing outside the segment's data was
//   read or written.
// * Calls without suffix are made by one thread, _warp, _block, _grid by all threads of one, with the same arguments.
// * All transfers are ordered as by ggas_put and ggas_get of that form: complete when the call returns. A grid's blocks
//   are not synchronised: each block has completed its share.
#pragma once

#include "ggas/detail/type/type_handle.hpp"
#include "ggas/ggas.cuh"

constexpr uint64_t ggas_all_bytes = ~0ull;

/// Packs data of `count` items at `from`: bytes `first` ... `first` + `bytes` - 1 of their packed data, the primitives
/// in sequence, go to `to`. ggas_all_bytes: up to the end.
/// Order: as ggas_put() in own memory: the group sees the data on return.
/// Cost: for a piece of up to 16 bytes of a box a division for each dimension; of other types a step for each nested
/// record, and log2 n loads in a list of n blocks.
/// Errors: ggas_bad_argument.
GGAS_DEVICE ggas_status ggas_pack(void* to, const void* from, uint64_t count, const ggas_type& type, uint64_t first = 0,
                                  uint64_t bytes = ggas_all_bytes);
/// ggas_pack() by all threads of a warp, with equal arguments.
GGAS_DEVICE ggas_status ggas_pack_warp(void* to, const void* from, uint64_t count, const ggas_type& type,
                                       uint64_t first = 0, uint64_t bytes = ggas_all_bytes);
/// ggas_pack() by all threads of a block, with equal arguments.
GGAS_DEVICE ggas_status ggas_pack_block(void* to, const void* from, uint64_t count, const ggas_type& type,
                                        uint64_t first = 0, uint64_t bytes = ggas_all_bytes);
/// ggas_pack() by all blocks of a grid, with equal arguments.
GGAS_DEVICE ggas_status ggas_pack_grid(void* to, const void* from, uint64_t count, const ggas_type& type,
                                       uint64_t first = 0, uint64_t bytes = ggas_all_bytes);

/// Unpacks bytes `first` ... `first` + `bytes` - 1 of the packed data of `count` items from `from` to the items at
/// `to`. Gaps are not written.
/// Order: as ggas_pack().
/// Cost: as ggas_pack().
/// Errors: ggas_bad_argument.
GGAS_DEVICE ggas_status ggas_unpack(void* to, uint64_t count, const ggas_type& type, const void* from,
                                    uint64_t first = 0, uint64_t bytes = ggas_all_bytes);
/// ggas_unpack() by all threads of a warp, with equal arguments.
GGAS_DEVICE ggas_status ggas_unpack_warp(void* to, uint64_t count, const ggas_type& type, const void* from,
                                         uint64_t first = 0, uint64_t bytes = ggas_all_bytes);
/// ggas_unpack() by all threads of a block, with equal arguments.
GGAS_DEVICE ggas_status ggas_unpack_block(void* to, uint64_t count, const ggas_type& type, const void* from,
                                          uint64_t first = 0, uint64_t bytes = ggas_all_bytes);
/// ggas_unpack() by all blocks of a grid, with equal arguments.
GGAS_DEVICE ggas_status ggas_unpack_grid(void* to, uint64_t count, const ggas_type& type, const void* from,
                                         uint64_t first = 0, uint64_t bytes = ggas_all_bytes);

/// Copies items of one layout in own memory to items of another layout at a node. The time-out is that of the whole
/// call.
/// Order: complete on return, as ggas_put().
/// Cost: where peers are memory, accesses straight from layout to layout and a fence; through a NIC a descriptor for
/// each run that both sides have in common; for a grid its first block posts them.
/// Errors: ggas_bad_argument; through a NIC also ggas_timed_out, ggas_peer_error.
GGAS_DEVICE ggas_status ggas_put_typed(void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                       const void* local, uint64_t local_count, const ggas_type& local_type,
                                       uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
/// ggas_put_typed() by all threads of a warp, with equal arguments.
GGAS_DEVICE ggas_status ggas_put_typed_warp(void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                            const void* local, uint64_t local_count, const ggas_type& local_type,
                                            uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
/// ggas_put_typed() by all threads of a block, with equal arguments.
GGAS_DEVICE ggas_status ggas_put_typed_block(void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                             const void* local, uint64_t local_count, const ggas_type& local_type,
                                             uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
/// ggas_put_typed() by all blocks of a grid, with equal arguments.
GGAS_DEVICE ggas_status ggas_put_typed_grid(void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                            const void* local, uint64_t local_count, const ggas_type& local_type,
                                            uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());

/// Copies items of one layout at a node to items of another layout in own memory. The time-out is that of the whole
/// call.
/// Order: complete on return, as ggas_get().
/// Cost: as ggas_put_typed(), with loads.
/// Errors: ggas_bad_argument; through a NIC also ggas_timed_out, ggas_peer_error.
GGAS_DEVICE ggas_status ggas_get_typed(void* local, uint64_t local_count, const ggas_type& local_type,
                                       const void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                       uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
/// ggas_get_typed() by all threads of a warp, with equal arguments.
GGAS_DEVICE ggas_status ggas_get_typed_warp(void* local, uint64_t local_count, const ggas_type& local_type,
                                            const void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                            uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
/// ggas_get_typed() by all threads of a block, with equal arguments.
GGAS_DEVICE ggas_status ggas_get_typed_block(void* local, uint64_t local_count, const ggas_type& local_type,
                                             const void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                             uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
/// ggas_get_typed() by all blocks of a grid, with equal arguments.
GGAS_DEVICE ggas_status ggas_get_typed_grid(void* local, uint64_t local_count, const ggas_type& local_type,
                                            const void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                            uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());

/// ggas_put_typed(), and then a word at the same node is set or added to.
/// Order: a thread that sees the word sees the data; complete on return.
/// Cost: as ggas_put_typed(), a fence and a hop.
/// Errors: ggas_bad_argument; through a NIC also ggas_timed_out, ggas_peer_error.
GGAS_DEVICE ggas_status ggas_put_signal_typed(void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                              const void* local, uint64_t local_count, const ggas_type& local_type,
                                              uint64_t* signal, uint64_t value, ggas_signal_op op, uint64_t timeout_ns,
                                              const ggas_queue& q = ggas_queue::of_block());
/// ggas_put_signal_typed() by all threads of a warp, with equal arguments.
GGAS_DEVICE ggas_status ggas_put_signal_typed_warp(void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                                   const void* local, uint64_t local_count, const ggas_type& local_type,
                                                   uint64_t* signal, uint64_t value, ggas_signal_op op,
                                                   uint64_t timeout_ns, const ggas_queue& q = ggas_queue::of_block());
/// ggas_put_signal_typed() by all threads of a block, with equal arguments.
GGAS_DEVICE ggas_status ggas_put_signal_typed_block(void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                                    const void* local, uint64_t local_count,
                                                    const ggas_type& local_type, uint64_t* signal, uint64_t value,
                                                    ggas_signal_op op, uint64_t timeout_ns,
                                                    const ggas_queue& q = ggas_queue::of_block());
/// ggas_put_signal_typed() by all blocks of a grid. The last block to finish sends the signal. It finds out by
/// `*arrived` that it is the last one: a word of the own segment that is zero before and after the call, and that no
/// other call uses in the meantime.
GGAS_DEVICE ggas_status ggas_put_signal_typed_grid(void* remote, uint64_t remote_count, const ggas_type& remote_type,
                                                   const void* local, uint64_t local_count, const ggas_type& local_type,
                                                   uint64_t* signal, uint64_t value, ggas_signal_op op,
                                                   uint64_t* arrived, uint64_t timeout_ns,
                                                   const ggas_queue& q = ggas_queue::of_block());

#include "ggas/detail/type/typed.cuh"
