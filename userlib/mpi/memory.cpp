// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/memory.hpp"

#include <cstdlib>

namespace ggas::mpi {

namespace {

class processor final : public memory {
 public:
  staging stage(uint64_t bytes) override { return {std::malloc(bytes), std::free}; }
  std::string pack(const items& from, uint64_t bytes, void* to) override {
    pack_on_host(from, bytes, to);
    return {};
  }
  std::string unpack(const items& to, uint64_t bytes, const void* from) override {
    unpack_on_host(to, bytes, from);
    return {};
  }
  bool apart() const override { return false; }
};

const std::string& setting() {
  static const char* const text = std::getenv("GGAS_MPI_TYPES");
  static const std::string value = text ? text : "";
  return value;
}

}  // namespace

memory& host_memory() {
  static processor one;
  return one;
}

bool moves_host_memory() {
  static const bool moves = setting() == "host";
  return moves;
}

std::string setting_error() {
  if (setting().empty() || setting() == "host") return {};
  return "GGAS_MPI_TYPES = " + setting() + ": must be host, or not set";
}

}  // namespace ggas::mpi
