// SPDX-License-Identifier: Apache-2.0
// How ranks that have not met exchange a few small things: blobs by name. A module (libggas-start-<name>.so) offers
// that over TCP, an MPI communicator or PMIx, so that libggas.so links none of them. What ranks inform each other this
// way is in meet.cpp; who it is that they meet (its secret) is the module's or the launcher's.
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
  // Of this rank, for all; a name once.
  virtual attempt<> put(const std::string& name, const std::string& bytes) = 0;
  // All ranks call it. Then the others have what was put before. Fails for good.
  virtual attempt<> fence(deadline until) = 0;
  virtual attempt<std::string> get(int rank, const std::string& name, deadline until) = 0;
};

// What a module exports under the name below. communicator: of mpi, what the program gave (an MPI_Comm*), or null. Null
// with a text: this process is no part of such a job, or others did not come in time.
using maker = blobs* (*)(const void* communicator, deadline until, std::string& why);
inline constexpr const char* maker_name = "ggas_start_1";  // 1: version of this header

}  // namespace ggas::library::start
