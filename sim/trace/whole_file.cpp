// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/whole_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ggas::trace {

namespace {

constexpr size_t buffer_bytes = 1u << 16;

bool is_regular(int fd) {
  struct stat s {};
  return fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
}

}  // namespace

std::expected<std::unique_ptr<whole_file>, std::string> whole_file::open(const std::filesystem::path& path,
                                                                         std::string_view head, std::string_view tail) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return std::unexpected(path.string() + ": cannot be written: " + std::strerror(errno));
  std::unique_ptr<whole_file> f(new whole_file(fd, path.string(), head, tail));
  if (f->regular_) f->flush();
  return f;
}

whole_file::whole_file(int fd, std::string path, std::string_view head, std::string_view tail)
    : fd_(fd), regular_(is_regular(fd)), path_(std::move(path)), tail_(tail), buffer_(head) {}

whole_file::~whole_file() { (void)finish(); }

void whole_file::add(std::string_view piece) {
  ++offered_;
  if (error_ || fd_ < 0) return;
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
    const ssize_t n = regular_ ? pwrite(fd_, from, left, at) : ::write(fd_, from, left);
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
  if (ftruncate(fd_, static_cast<off_t>(begun_ ? kept_bytes_ + tail_.size() : 0)) != 0) remember(errno);
}

std::expected<void, std::string> whole_file::finish() {
  if (fd_ < 0) return {};
  flush();
  if (!regular_ && !error_) (void)write(tail_);
  if (close(std::exchange(fd_, -1)) != 0) remember(errno);
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
