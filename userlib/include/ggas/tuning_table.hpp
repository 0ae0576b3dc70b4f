// SPDX-License-Identifier: Apache-2.0
// Tuning of collectives (ggas/detail/tuning.hpp) from a table in TOML that ggas-tune writes: an entry for each number
// of nodes that was measured. Format: docs/collectives.md.
#pragma once

#include <expected>
#include <string>
#include <string_view>

#include "ggas/detail/tuning.hpp"

namespace ggas {

// From the file that the environment variable GGAS_TUNING names, else from the table measured on H200 GPUs that is
// built in. The entry for `nodes`, else that of the next smaller number, else the smallest. The error names the file,
// the place and the rule.
std::expected<tuning, std::string> tuning_for(int nodes);
// The same from a text; `name` stands in errors.
std::expected<tuning, std::string> read_tuning(std::string_view text, std::string_view name, int nodes);

// An entry of the table, without what else the file says.
std::string tuning_text(const tuning& t, int nodes);

}  // namespace ggas
