// SPDX-License-Identifier: Apache-2.0
// Files that can be read even if their writer is killed or the disk is full. Not a part of the simulator only: results
// of benchmarks use them, too.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/one_writer.hpp"

namespace ggas::trace {

// A file of pieces (events, blocks, lines). Between two writes it always contains whole pieces and the format's tail,
// also on a full disk or when the process is killed. After the first piece that does not fit nothing more is written.
// Pipes and devices get pieces and tail as they are written.
class whole_file {
 public:
  // Makes or empties the file. `head` precedes all pieces, `tail` follows the last one. The error: the file cannot be
  // opened, or has another writer. A full disk is reported by finish(), not here.
  static std::expected<std::unique_ptr<whole_file>, std::string> open(const std::filesystem::path& path,
                                                                      std::string_view head = {},
                                                                      std::string_view tail = {});
  ~whole_file();
  whole_file(const whole_file&) = delete;
  whole_file& operator=(const whole_file&) = delete;

  void add(std::string_view piece);
  // Pieces so far are in the file, or its error is known.
  void flush();
  // Closes the file; it is the last call. The error contains the number of pieces in the file and the reason why not
  // all are. A file without room for its head is removed.
  std::expected<void, std::string> finish();

 private:
  whole_file(one_writer file, std::string path, std::string_view head, std::string_view tail);
  size_t write(std::string_view bytes);
  void cut(size_t written);
  void remember(int error) {
    if (!error_) error_ = error;
  }

  one_writer file_;
  int error_ = 0;
  bool finished_ = false;
  bool regular_;        // may be cut and written again
  bool begun_ = false;  // head and tail are there
  std::string path_, tail_, buffer_;
  std::vector<size_t> ends_;  // of the pieces in the buffer
  uint64_t kept_bytes_ = 0, kept_ = 0, offered_ = 0;
};

}  // namespace ggas::trace
