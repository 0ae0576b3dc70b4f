// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/toggle_count.hpp"

#include <gtkwave/fstapi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <span>

namespace ggas::trace {

namespace {

std::string scratch_file() {
  static std::atomic<unsigned> number{0};
  std::error_code none;
  const auto folder = std::filesystem::temp_directory_path(none);
  return (folder / ("ggas-toggles." + std::to_string(getpid()) + "." + std::to_string(number++))).string();
}

// The unit of a signal in these instances is the first instance in the NIC; two units are in the RMA.
std::string unit_of(std::span<const std::string> scopes) {
  const auto nic = std::ranges::find(scopes, "i_nic");
  std::string unit = "top";
  for (auto s = nic; s != scopes.end(); ++s) {
    if (s == nic || !s->starts_with("i_")) continue;
    const std::string name = s->substr(2);
    if (unit == "top")
      unit = name;
    else if (unit == "rma" && (name == "atu" || name == "velo"))
      unit = name;
  }
  return unit;
}

// A wire between units is that one's whose output it is.
int claim_of(const std::string& unit, unsigned char direction) {
  if (unit == "top") return 0;
  return direction == FST_VD_OUTPUT ? 3 : direction == FST_VD_INPUT ? 1 : 2;
}

}  // namespace

toggle_count::toggle_count(const std::function<void(VerilatedFstC&)>& declare)
    : path_(scratch_file()), waves_(path_, declare) {}

std::expected<std::unique_ptr<toggle_count>, std::string> toggle_count::of(
    const std::function<void(VerilatedFstC&)>& declare) {
  std::unique_ptr<toggle_count> made(new toggle_count(declare));
  if (!made->read_signals()) return std::unexpected(made->path_ + ": cannot be written: names of signals go there");
  made->waves_.begin();
  return made;
}

toggle_count::~toggle_count() {
  (void)waves_.finish();
  unlink(path_.c_str());
}

bool toggle_count::read_signals() {
  void* const file = fstReaderOpen(path_.c_str());
  if (!file) return false;
  signals_.resize(size_t(fstReaderGetVarCount(file)) + 1);
  std::vector<std::string> scopes;
  for (const fstHier* h; (h = fstReaderIterateHier(file)) != nullptr;) {
    if (h->htyp == FST_HT_SCOPE) scopes.emplace_back(h->u.scope.name);
    if (h->htyp == FST_HT_UPSCOPE && !scopes.empty()) scopes.pop_back();
    if (h->htyp != FST_HT_VAR || h->u.var.handle >= signals_.size()) continue;
    signal& s = signals_[h->u.var.handle];
    const std::string name = unit_of(scopes);
    const int claim = claim_of(name, h->u.var.direction);
    s.value.assign(h->u.var.length, '\0');
    if (claim > s.claim) s = {unit(name), claim, std::move(s.value)};
  }
  fstReaderClose(file);
  return signals_.size() > 1;
}

size_t toggle_count::unit(const std::string& name) {
  const auto known = std::ranges::find(units_, name);
  if (known != units_.end()) return size_t(known - units_.begin());
  units_.push_back(name);
  toggles_.push_back(0);
  return units_.size() - 1;
}

void toggle_count::sample(uint64_t time) {
  const change_watch here(*this);
  waves_.dump(time);
}

void toggle_count::change(uint32_t signal, const char* bits) {
  auto& [unit, claim, value] = signals_[signal];
  uint64_t changed = 0;
  for (size_t i = 0; i < value.size(); ++i) changed += value[i] != '\0' && value[i] != bits[i];
  value.assign(bits, value.size());
  toggles_[unit] += changed;
}

std::map<std::string, uint64_t> toggle_count::by_unit() const {
  std::map<std::string, uint64_t> out;
  for (size_t i = 0; i < units_.size(); ++i) out[units_[i]] = toggles_[i];
  return out;
}

}  // namespace ggas::trace
