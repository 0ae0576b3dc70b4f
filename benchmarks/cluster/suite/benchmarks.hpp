// SPDX-License-Identifier: Apache-2.0
// The benchmarks, one function each; the files of the same names hold them, where no other is named.
#pragma once

#include "benchmarks/cluster/runner.hpp"

namespace ggas::bench {

result<> run_nic_cycles(session& s);
result<> run_store_latency(session& s);
result<> run_load_latency(session& s);
result<> run_store_bandwidth(session& s);
result<> run_load_bandwidth(session& s);
result<> run_coalescing(session& s);
result<> run_barrier(session& s);
result<> run_reduce(session& s);
result<> run_allreduce(session& s);
result<> run_broadcast(session& s);  // exchange.cpp
result<> run_allgather(session& s);  // exchange.cpp
result<> run_alltoall(session& s);   // exchange.cpp
result<> run_gather(session& s);     // exchange.cpp
result<> run_scatter(session& s);    // exchange.cpp
result<> run_permute(session& s);    // exchange.cpp
result<> run_scan(session& s);       // exchange.cpp
result<> run_upc(session& s);
result<> run_upc_cases(session& s);
result<> run_message(session& s);
result<> run_pi(session& s);
result<> run_virtualization(session& s);
result<> run_himeno(session& s);
result<> run_global_reduction(session& s);
result<> run_pack(session& s);       // typed.cpp
result<> run_typed_put(session& s);  // typed.cpp
result<> run_random_access(session& s);
result<> run_random_stores(session& s);
result<> run_put_latency(session& s);
result<> run_get_latency(session& s);
result<> run_put_bandwidth(session& s);
result<> run_get_bandwidth(session& s);
result<> run_message_rate(session& s);
result<> run_atomic_latency(session& s);
result<> run_transfer_path(session& s);
result<> run_staged_path(session& s);  // a part of it
result<> run_overhead(session& s);
result<> run_trace(session& s);  // options::schedule is set

// Single calls: what they take of a GPU, and of a processor.
result<> run_post_and_poll(session& s);
result<> run_launching(session& s);

}  // namespace ggas::bench
