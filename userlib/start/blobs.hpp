// SPDX-License-Identifier: Apache-2.0
// Exchange of a few small blobs by name between ranks that are not connected yet. A module (libggas-start-<name>.so)
// implements it over TCP, an MPI communicator or PMIx, so that libggas.so links none of them. meet.cpp defines the
// blobs; the module or the launcher provides the secret by which ranks recognise each other.
#pragma once

#include <string>

#include "userlib/start/attempt.hpp"
#include "userlib/start/message.hpp"

namespace ggas::library::start {

using userlib::attempt;
using userlib::deadline;

class blobs {
 public:
  static constexpr size_t most_name = 32, most_bytes = 2048, most_blobs = 4;  // of a rank, before a fence

  virtual ~blobs() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  // Publishes bytes of this rank for all; a name only once.
  virtual attempt<> put(const std::string& name, const std::string& bytes) = 0;
  // All ranks call it. Then the others have what was put before. Fails for good.
  virtual attempt<> fence(deadline until) = 0;
  virtual attempt<std::string> get(int rank, const std::string& name, deadline until) = 0;
};

// The function that a module exports under the name below. communicator: for mpi, the program's MPI_Comm*, or null. It
// returns null with a text if this process is no part of such a job, or if others did not arrive in time.
using maker = blobs* (*)(const void* communicator, deadline until, std::string& why);
inline constexpr const char* maker_name = "ggas_start_1";  // 1: version of this header

}  // namespace ggas::library::start
