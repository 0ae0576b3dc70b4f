// SPDX-License-Identifier: Apache-2.0
// What ranks inform each other after they have met, where a transport needs that: a text of each for all.
#pragma once

#include <memory>
#include <vector>

#include "ggas/job.hpp"
#include "userlib/start/blobs.hpp"

namespace ggas::library::start {

class meeting {
 public:
  virtual ~meeting() = default;
  // All ranks call it; texts of at most blobs::most_bytes, by rank.
  virtual attempt<std::vector<std::string>> tell(const std::string& name, const std::string& bytes) = 0;
};

// met: the module by which the ranks have found each other; null: they are on one computer, with the launcher's
// sockets. Waits end with the job's time-out.
attempt<std::unique_ptr<meeting>> make_meeting(const job& j, std::unique_ptr<blobs> met);

}  // namespace ggas::library::start
