// SPDX-License-Identifier: Apache-2.0
// Results have one writer: a second run, or a second option, that names the same file or folder is refused.
#pragma once

#include <expected>
#include <filesystem>
#include <string>

namespace ggas::trace {

// An open file or folder that belongs to its owner until it is closed, also when the process is killed.
class one_writer {
 public:
  one_writer() = default;
  // Makes or empties the file. The error names the path and the rule. Pipes and devices have any number of writers.
  static std::expected<one_writer, std::string> of_file(const std::filesystem::path& path);
  // The folder must be there.
  static std::expected<one_writer, std::string> of_folder(const std::filesystem::path& path);
  ~one_writer() { (void)close(); }
  one_writer(one_writer&& other) noexcept;
  one_writer& operator=(one_writer&& other) noexcept;

  int descriptor() const { return fd_; }
  bool is_regular() const;
  // errno of a write that fails only now; 0: all is well.
  int close();

 private:
  explicit one_writer(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace ggas::trace
