// SPDX-License-Identifier: Apache-2.0
// Trace files in Chrome's JSON format, opened by ui.perfetto.dev: slices on tracks of processes, joined by flows.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "sim/trace/whole_file.hpp"

namespace ggas::trace {

enum class flow : char { none = 0, begin = 's', step = 't', end = 'f' };

class chrome_writer {
 public:
  static std::expected<std::unique_ptr<chrome_writer>, std::string> open(const std::filesystem::path& file);

  void name_process(unsigned process, const std::string& name);
  void name_track(unsigned process, unsigned track, const std::string& name);
  // A slice from start to end; `args` is the inside of a JSON object or empty.
  void slice(unsigned process, unsigned track, const std::string& name, uint64_t start_ps, uint64_t end_ps,
             const std::string& args, flow f, uint64_t flow_id);
  // Values from this time on; `args` is the inside of a JSON object of numbers.
  void counter(unsigned process, const std::string& name, uint64_t time_ps, const std::string& args);
  // Ends the file; nothing may follow. The error says that not everything is in it (a full disk).
  std::expected<void, std::string> finish() { return file_->finish(); }

 private:
  explicit chrome_writer(std::unique_ptr<whole_file> f) : file_(std::move(f)) {}
  void event(const std::string& json);

  std::unique_ptr<whole_file> file_;
  bool first_ = true;
};

}  // namespace ggas::trace
