// SPDX-License-Identifier: Apache-2.0
// Counts the changed bits of a Verilated NIC's signals by unit, from the waves that it would write (docs/energy.md).
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/trace/fst_writer.hpp"
#include "sim/trace/wave_file.hpp"

namespace ggas::trace {

class toggle_count final : public change_sink {
 public:
  // `declare` hands the writer of waves to the model. The error names what is missing.
  static std::expected<std::unique_ptr<toggle_count>, std::string> of(
      const std::function<void(VerilatedFstC&)>& declare);
  ~toggle_count() override;

  // Compares with the last sample; the first one has nothing to compare with. Times grow.
  void sample(uint64_t time);
  std::map<std::string, uint64_t> by_unit() const;

 private:
  struct signal {
    size_t unit = 0;  // in units_
    int claim = -1;   // of that unit: signals are known by several names
    std::string value;
  };
  explicit toggle_count(const std::function<void(VerilatedFstC&)>& declare);
  bool read_signals();
  size_t unit(const std::string& name);
  void change(uint32_t signal, const char* bits) override;

  std::string path_;  // of waves without changes
  wave_file waves_;
  std::vector<signal> signals_;  // by number in the file, from 1 on
  std::vector<std::string> units_;
  std::vector<uint64_t> toggles_;  // by unit
};

}  // namespace ggas::trace
