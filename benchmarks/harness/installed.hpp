// SPDX-License-Identifier: Apache-2.0
// What the programs find next to themselves when they are not run from the build folder (cmake/install.cmake).
#pragma once

#include <filesystem>
#include <string>

namespace ggas::bench {

// Folder of the running program. Empty: the system does not say.
std::filesystem::path program_folder();
// Folder `name` of the installation's data. Empty: the program is not installed, or without that folder.
std::filesystem::path installed_folder(const std::string& name);

}  // namespace ggas::bench
