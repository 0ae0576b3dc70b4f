// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/chrome.hpp"

#include <fmt/format.h>

namespace ggas::trace {

namespace {
// Microseconds with all picoseconds.
std::string us(uint64_t ps) { return fmt::format("{}.{:06}", ps / 1'000'000, ps % 1'000'000); }
}  // namespace

std::expected<std::unique_ptr<chrome_writer>, std::string> chrome_writer::open(const std::filesystem::path& file) {
  auto f = whole_file::open(file, R"({"displayTimeUnit":"ns","traceEvents":[)", "\n]}\n");
  if (!f) return std::unexpected(f.error());
  return std::unique_ptr<chrome_writer>(new chrome_writer(std::move(*f)));
}

void chrome_writer::event(const std::string& json) {
  file_->add((first_ ? "\n" : ",\n") + json);
  first_ = false;
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

void chrome_writer::counter(unsigned p, const std::string& name, uint64_t time_ps, const std::string& args) {
  event(fmt::format(R"({{"ph":"C","name":"{}","pid":{},"ts":{},"args":{{{}}}}})", name, p, us(time_ps), args));
}

}  // namespace ggas::trace
