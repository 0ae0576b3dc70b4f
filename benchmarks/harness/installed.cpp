// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/harness/installed.hpp"

namespace ggas::bench {

std::filesystem::path program_folder() {
  std::error_code none;
  return std::filesystem::read_symlink("/proc/self/exe", none).parent_path();
}

std::filesystem::path installed_folder(const std::string& name) {
  std::error_code none;
  const auto folder = program_folder() / GGAS_DATA_FROM_PROGRAM / name;
  return std::filesystem::is_directory(folder, none) ? std::filesystem::canonical(folder, none) : "";
}

}  // namespace ggas::bench
