// SPDX-License-Identifier: Apache-2.0
// Waves of a Verilated model in an FST file that can be read however the run ends.
#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "sim/trace/fst_frame.hpp"

class VerilatedFstC;

namespace ggas::trace {

class wave_file {
 public:
  // A file with all signals and no changes yet; `declare` passes the writer to the model. A full disk is reported by
  // finish(), not here.
  wave_file(std::string path, const std::function<void(VerilatedFstC&)>& declare);
  ~wave_file();
  wave_file(const wave_file&) = delete;
  wave_file& operator=(const wave_file&) = delete;

  // Changes follow from here on.
  void begin();
  // What has changed at a time; times grow.
  void dump(uint64_t time);
  // Ends the file; nothing may follow. The error says up to when it holds changes, and why no further.
  std::expected<void, std::string> finish();

 private:
  void open();
  void close();

  std::string path_;
  std::unique_ptr<VerilatedFstC> fst_;
  fst_frame frame_;
  bool open_ = false, dumping_ = false, flushing_ = false, finished_ = false;
  int error_ = 0;      // errno of the first
  uint64_t good_ = 0;  // bytes of the file that were written without one
  uint64_t dumps_ = 0, last_ = 0;
};

}  // namespace ggas::trace
