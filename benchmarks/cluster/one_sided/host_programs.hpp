// SPDX-License-Identifier: Apache-2.0
// Programs of the nodes' processors: the host's side of put, get and atomics (docs/benchmarks.md).
#pragma once

#include <string>
#include <vector>

#include "ggas/cluster.hpp"

namespace ggas::bench {

// A context of the NIC that a program uses, and what the program found.
struct host_port {
  ggas_rma_context* queue = nullptr;
  std::vector<double> samples;  // ns
  uint64_t begin_ns = 0, end_ns = 0;
  std::string fault;  // empty: all went well

  void use(host& h, size_t index);
};

// One direction of a transfer, by network logical addresses.
struct host_transfer {
  ggas_rma_peer peer;  // context that learns of arrivals, and its node
  uint64_t source, target;
  uint32_t bytes;
  uint64_t rounds;  // measured ones, one more goes before
  uint64_t timeout_ns;
};

// Round trips of puts, each with a notification: node `first` begins. Samples are whole rounds.
void host_pingpong(host& h, host_port& p, const host_transfer& t, bool first);

// The same for GPUs that request transfers from their processors: the GPU increments `request`, a word of host memory;
// `flag`, a word of GPU memory, is incremented when data have arrived.
struct gpu_words {
  const uint64_t* request;
  uint64_t* flag;
  uint64_t number;  // of the first message
  bool first;
};
void host_assistant(host& h, host_port& p, const host_transfer& t, const gpu_words& w);

// Puts requested by GPU blocks, with a port for each: block i increments request[i], and flag[i] in GPU memory is
// incremented when its put has arrived. The stream ends after `rounds` puts of each block.
struct stream_words {
  const uint64_t* request;
  uint64_t* flag;
};
void host_forward_puts(host& h, std::vector<host_port>& ports, const host_transfer& t, const stream_words& w);
// Fetch-adds that a GPU asks for; the flag becomes the old value and one. The result record lies in host memory.
void host_forward_atomics(host& h, host_port& p, const host_transfer& t, const gpu_words& w, const uint64_t* record,
                          uint64_t record_nla);

// Gets, or fetch-adds (`atomic`: target is the word, source the result record), back to back.
enum class host_round { get, atomic };
void host_rounds(host& h, host_port& p, const host_transfer& t, host_round what);

// Puts or gets with `window` of them under way, on every port in turn; until the last has arrived.
void host_stream(host& h, std::vector<host_port>& ports, const host_transfer& t, bool get, unsigned window);

}  // namespace ggas::bench
