// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/chrome.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace ggas::trace {

namespace {
// Microseconds with all picoseconds.
std::string us(uint64_t ps) { return fmt::format("{}.{:06}", ps / 1'000'000, ps % 1'000'000); }
}  // namespace

std::expected<std::unique_ptr<chrome_writer>, std::string> chrome_writer::open(const std::filesystem::path& file) {
  std::FILE* f = std::fopen(file.c_str(), "w");
  if (!f) return std::unexpected(fmt::format("{}: cannot be written: {}", file.string(), std::strerror(errno)));
  std::fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", f);
  return std::unique_ptr<chrome_writer>(new chrome_writer(f, file.string()));
}

chrome_writer::~chrome_writer() { finish(); }

std::expected<void, std::string> chrome_writer::finish() {
  if (!file_) return {};
  std::fputs("\n]}\n", file_.get());
  const bool whole = std::fflush(file_.get()) == 0 && !std::ferror(file_.get());
  const int why = errno;
  file_.reset();
  if (!whole) return std::unexpected(fmt::format("{}: could not be written whole: {}", name_, std::strerror(why)));
  return {};
}

void chrome_writer::event(const std::string& json) {
  std::fputs(first_ ? "\n" : ",\n", file_.get());
  first_ = false;
  std::fwrite(json.data(), 1, json.size(), file_.get());
}

void chrome_writer::name_process(unsigned p, const std::string& name) {
  event(fmt::format(R"({{"ph":"M","name":"process_name","pid":{},"args":{{"name":"{}"}}}})", p, name));
}

void chrome_writer::name_track(unsigned p, unsigned t, const std::string& name) {
  event(fmt::format(R"({{"ph":"M","name":"thread_name","pid":{},"tid":{},"args":{{"name":"{}"}}}})", p, t, name));
}

void chrome_writer::slice(unsigned p, unsigned t, const std::string& name, uint64_t start_ps, uint64_t end_ps,
                          const std::string& args, flow f, uint64_t id) {
  event(fmt::format(R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{},"dur":{},"args":{{{}}}}})", name, p, t,
                    us(start_ps), us(end_ps - start_ps), args));
  if (f == flow::none) return;
  event(fmt::format(R"({{"ph":"{}","cat":"message","name":"message","id":{},"pid":{},"tid":{},"ts":{},"bp":"e"}})",
                    char(f), id, p, t, us(start_ps)));
}

}  // namespace ggas::trace
