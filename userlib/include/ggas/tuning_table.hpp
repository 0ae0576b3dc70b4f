// SPDX-License-Identifier: Apache-2.0
// Tuning of collectives (ggas/detail/platform/tuning.hpp) from a table in TOML that ggas-tune writes: an entry for each
// number of nodes that was measured. Format: docs/collectives.md.
#pragma once

#include <string>
#include <string_view>

#include "ggas/detail/platform/tuning.hpp"
#include "ggas/result.hpp"

namespace ggas {

// Reads the file that the environment variable GGAS_TUNING names (at most 1 MiB), or else the built-in table, which was
// measured on H200 GPUs. Returns the entry for `nodes`, else the entry for the next smaller number, else the smallest
// entry. If two entries have the same number, the later one counts. All entries are checked.
// The error, no_file or bad_argument, names file, line and rule. Any thread may call this while no thread changes the
// environment.
result<tuning> tuning_for(int nodes);
// The same from a text; `name` appears in errors.
result<tuning> read_tuning(std::string_view text, std::string_view name, int nodes);

// One entry of the table as text, which read_tuning reads. The methods must be some that a table may name.
std::string tuning_text(const tuning& t, int nodes);

}  // namespace ggas
