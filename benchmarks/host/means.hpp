// SPDX-License-Identifier: Apache-2.0
// What the patterns are measured with: a library that moves bytes between ranks 0 and 1 and runs collectives of all.
#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace ggas::host_bench {

struct failure : std::runtime_error {
  using runtime_error::runtime_error;
};

class means {
 public:
  virtual ~means() = default;
  virtual std::string name() const = 0;      // of the library
  virtual std::string provider() const = 0;  // of its transport
  virtual unsigned rank() const = 0;
  virtual unsigned size() const = 0;

  // Messages of the other rank of the pair arrive in `in`; what this one sends is in `out`. Both have the most bytes.
  virtual std::byte* out() = 0;
  virtual std::byte* in() = 0;
  // Begins to send; the other one knows after report() that all before have arrived.
  virtual void post(size_t bytes) = 0;
  virtual void tell() = 0;
  // Waits until `out` may be changed.
  virtual void flush() = 0;
  // A single message: all of the three.
  virtual void send(size_t bytes) {
    post(bytes);
    tell();
    flush();
  }
  // Waits for messages, and until they are reported.
  virtual void receive(unsigned messages, size_t bytes) = 0;

  // False: the library has none of this kind; barrier() is there to meet.
  virtual bool has_collectives() const { return true; }
  virtual void barrier() = 0;
  virtual void sum(const double* from, double* to, size_t elements) = 0;
};

// libggas, with segments in memory of the host. Throws `failure`.
std::unique_ptr<means> make_ggas(size_t most_bytes);
// MPI, one-sided (a window, put, flush) and two-sided (send, receive, collectives). Only under `mpirun`. Throws
// `failure` if the program was built without MPI.
std::vector<std::unique_ptr<means>> make_mpi(size_t most_bytes);

}  // namespace ggas::host_bench
