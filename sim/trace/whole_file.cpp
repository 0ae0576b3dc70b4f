// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/whole_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ggas::trace {

namespace {

constexpr size_t buffer_bytes = 1u << 16;

}  // namespace

std::expected<std::unique_ptr<whole_file>, std::string> whole_file::open(const std::filesystem::path& path,
                                                                         std::string_view head, std::string_view tail) {
  auto file = one_writer::of_file(path);
  if (!file) return std::unexpected(file.error());
  std::unique_ptr<whole_file> f(new whole_file(std::move(*file), path.string(), head, tail));
  if (f->regular_) f->flush();
  return f;
}

whole_file::whole_file(one_writer file, std::string path, std::string_view head, std::string_view tail)
    : file_(std::move(file)), regular_(file_.is_regular()), path_(std::move(path)), tail_(tail), buffer_(head) {}

whole_file::~whole_file() { (void)finish(); }

void whole_file::add(std::string_view piece) {
  ++offered_;
  if (error_ || finished_) return;
  buffer_ += piece;
  ends_.push_back(buffer_.size());
  if (buffer_.size() >= buffer_bytes) flush();
}

// The tail goes with every write, and the next one begins over it.
void whole_file::flush() {
  if (error_) return;
  const size_t written = write(regular_ ? buffer_ + tail_ : buffer_);
  if (error_) {
    cut(written);
  } else {
    begun_ = true;
    kept_bytes_ += buffer_.size();
    kept_ += ends_.size();
  }
  buffer_.clear();
  ends_.clear();
}

// How many bytes the system took; all, or there is an error.
size_t whole_file::write(std::string_view bytes) {
  size_t done = 0;
  while (done < bytes.size()) {
    const char* const from = bytes.data() + done;
    const size_t left = bytes.size() - done;
    const auto at = static_cast<off_t>(kept_bytes_ + done);
    const ssize_t n = regular_ ? pwrite(file_.descriptor(), from, left, at) : ::write(file_.descriptor(), from, left);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      remember(n < 0 ? errno : ENOSPC);
      break;
    }
    done += static_cast<size_t>(n);
  }
  return done;
}

// Back to the last piece that fits together with the tail. There is room for the tail: something has been there.
void whole_file::cut(size_t written) {
  size_t end = 0;
  for (const size_t e : ends_) {
    if (e + tail_.size() > written) break;
    end = e;
    ++kept_;
  }
  if (!regular_) return;
  kept_bytes_ += end;
  if (begun_) (void)write(tail_);
  if (ftruncate(file_.descriptor(), static_cast<off_t>(begun_ ? kept_bytes_ + tail_.size() : 0)) != 0) remember(errno);
}

std::expected<void, std::string> whole_file::finish() {
  if (std::exchange(finished_, true)) return {};
  flush();
  if (!regular_ && !error_) (void)write(tail_);
  if (const int error = file_.close()) remember(error);
  if (!error_) return {};
  const std::string why = std::strerror(error_);
  if (regular_ && !begun_) {
    unlink(path_.c_str());
    return std::unexpected(path_ + ": removed, not even its beginning could be written: " + why);
  }
  return std::unexpected(path_ + ": cut short, holds " + std::to_string(kept_) + " of " + std::to_string(offered_) +
                         " entries: " + why);
}

}  // namespace ggas::trace
