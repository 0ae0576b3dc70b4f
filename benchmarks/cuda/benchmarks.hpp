// SPDX-License-Identifier: Apache-2.0
// The benchmarks on real GPUs, or parts of them, one function each.
#pragma once

#include "benchmarks/cuda/session.hpp"

namespace ggas::bench {

fault run_store_latency(gpu_session& s);    // latency.cu
fault run_load_latency(gpu_session& s);     // latency.cu
fault run_put_latency(gpu_session& s);      // latency.cu
fault run_atomic_latency(gpu_session& s);   // latency.cu
fault run_notification(gpu_session& s);     // latency.cu
fault run_store_bandwidth(gpu_session& s);  // bandwidth.cu
fault run_load_bandwidth(gpu_session& s);   // bandwidth.cu
fault run_put_bandwidth(gpu_session& s);    // bandwidth.cu
fault run_get_bandwidth(gpu_session& s);    // bandwidth.cu
fault run_message_rate(gpu_session& s);     // bandwidth.cu
fault run_put_on_stream(gpu_session& s);    // put_on_stream.cu
fault run_barrier(gpu_session& s);          // collectives.cu
fault run_broadcast(gpu_session& s);        // collectives.cu
fault run_allgather(gpu_session& s);        // collectives.cu
fault run_alltoall(gpu_session& s);         // collectives.cu
fault run_reduce(gpu_session& s);           // collectives.cu
fault run_reducescatter(gpu_session& s);    // collectives.cu
fault run_gather(gpu_session& s);           // collectives.cu
fault run_permute(gpu_session& s);          // collectives.cu
fault run_scan(gpu_session& s);             // collectives.cu
fault run_scatter(gpu_session& s);          // collectives.cu
fault run_allreduce(gpu_session& s);        // allreduce.cu
fault run_barrier_graph(gpu_session& s);    // graph.cu
fault run_broadcast_graph(gpu_session& s);  // graph.cu
fault run_allgather_graph(gpu_session& s);  // graph.cu
fault run_gather_graph(gpu_session& s);     // graph.cu
fault run_scatter_graph(gpu_session& s);    // graph.cu
fault run_permute_graph(gpu_session& s);    // graph.cu
fault run_scan_graph(gpu_session& s);       // graph.cu
fault run_reducescatter_graph(gpu_session& s);
fault run_alltoall_graph(gpu_session& s);     // graph.cu
fault run_reduce_graph(gpu_session& s);       // graph.cu
fault run_allreduce_graph(gpu_session& s);    // graph.cu
fault run_upc(gpu_session& s);                // ranks.cu
fault run_upc_barrier(gpu_session& s);        // ranks.cu
fault run_upc_cases(gpu_session& s);          // upc_cases.cu
fault run_barrier_of_blocks(gpu_session& s);  // ranks.cu
fault run_message(gpu_session& s);            // message.cu
fault run_message_on_stream(gpu_session& s);  // message_on_stream.cu
fault run_pi(gpu_session& s);                 // pi.cu
fault run_virtualization(gpu_session& s);     // virtualization.cu
fault run_himeno(gpu_session& s);             // himeno.cu
fault run_jacobi(gpu_session& s);             // jacobi.cu
fault run_ring(gpu_session& s);               // ring.cu
fault run_global_reduction(gpu_session& s);   // global_reduction.cu
fault run_pack(gpu_session& s);               // pack.cu
fault run_typed_put(gpu_session& s);          // typed_put.cu
fault run_contention(gpu_session& s);         // contention.cu
fault run_random_access(gpu_session& s);      // random_access.cu
fault run_energy(gpu_session& s);             // energy.cpp

}  // namespace ggas::bench
