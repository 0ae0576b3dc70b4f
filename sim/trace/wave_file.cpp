// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/wave_file.hpp"

#include <unistd.h>
#include <verilated_fst_c.h>

#include <cstring>
#include <filesystem>
#include <utility>

#include "sim/trace/fst_writer.hpp"

namespace ggas::trace {

namespace {
// The number of dumps between two checkpoints; there are two dumps a cycle. Changes after the last checkpoint are lost
// when the disk is full; a checkpoint contains the values of all signals.
constexpr uint64_t dumps_of_a_checkpoint = 8192;
}  // namespace

wave_file::wave_file(std::string path, const std::function<void(VerilatedFstC&)>& declare)
    : path_(std::move(path)), fst_(std::make_unique<VerilatedFstC>()) {
  declare(*fst_);
  open();
  close();
  if (!error_) frame_ = read_fst_frame(path_);
}

wave_file::~wave_file() { (void)finish(); }

void wave_file::open() {
  fst_watch watch(error_);
  fst_->open(path_.c_str());
  watch.settle();
  open_ = true;
}

void wave_file::close() {
  if (!open_) return;
  open_ = dumping_ = false;
  // The writer maps its temporary files; after an error pages of them may be missing, and closing would touch these.
  if (error_ && dumps_ == 0) {
    (void)fst_.release();
    return;
  }
  fst_watch watch(error_);
  fst_->close();
}

void wave_file::begin() {
  if (error_ || open_) return;
  open();
  dumping_ = !error_;
}

void wave_file::dump(uint64_t time) {
  last_ = time;
  if (!dumping_) return;
  {
    fst_watch watch(error_);
    fst_->dump(time);
  }
  dumping_ = !error_;
  std::error_code ignored;
  if (std::exchange(flushing_, false) && !error_) good_ = std::filesystem::file_size(path_, ignored);
  // The writer does it at the next change of time.
  if (++dumps_ % dumps_of_a_checkpoint == 0 && !error_) {
    fst_->flush();
    flushing_ = true;
  }
}

std::expected<void, std::string> wave_file::finish() {
  if (finished_) return {};
  finished_ = true;
  close();
  if (!error_) return {};
  const std::string why = std::strerror(error_);
  const auto end = end_fst_early(path_, good_, frame_);
  if (end)
    return std::unexpected(path_ + ": cut short, holds the cycles up to " + std::to_string(*end / 2) + " of " +
                           std::to_string(last_ / 2) + ": " + why);
  unlink(path_.c_str());
  unlink((path_ + ".hier").c_str());
  return std::unexpected(path_ + ": removed, " + end.error() + ": " + why);
}

}  // namespace ggas::trace
