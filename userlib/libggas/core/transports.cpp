// SPDX-License-Identifier: Apache-2.0
// Which way to other ranks a process takes.
#include <cstdlib>
#include <string_view>

#include "userlib/libggas/base/fail.hpp"
#include "userlib/libggas/nic/access.hpp"

namespace ggas::library {

ggas_rc make_transport(const job& j, std::unique_ptr<start::blobs> met, std::unique_ptr<transport>& made) {
  const char* const wanted = std::getenv("GGAS_TRANSPORT");
  const std::string_view name = wanted ? wanted : "shm";
  if (name == "shm") return make_shm(j, made);
  if (name != "sim" && name != "hw")
    return fail(GGAS_ERR_ARGUMENT, "GGAS_TRANSPORT = '", name, "': must be shm, sim or hw");
  std::unique_ptr<nic::access> to;
  const ggas_rc rc = name == "sim" ? nic::make_sim_access(j, to) : nic::make_hw_access(j, std::move(met), to);
  return rc == GGAS_OK ? nic::make_nic(std::move(to), made) : rc;
}

}  // namespace ggas::library
