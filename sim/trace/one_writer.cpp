// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/one_writer.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace ggas::trace {

namespace {

constexpr const char* taken =
    ": is being written by another run, or by another option of this one; wait for its end or name another";

// At most one descriptor of a file, over all processes, has the lock. On file systems without locks all have it.
bool lock(int fd) { return flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK; }

std::string cannot_write(const std::filesystem::path& path) {
  return path.string() + ": cannot be written: " + std::strerror(errno);
}

}  // namespace

std::expected<one_writer, std::string> one_writer::of_file(const std::filesystem::path& path) {
  one_writer it(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (it.fd_ < 0) return std::unexpected(cannot_write(path));
  if (!it.is_regular()) return it;
  if (!lock(it.fd_)) return std::unexpected(path.string() + taken);
  if (ftruncate(it.fd_, 0) != 0) return std::unexpected(cannot_write(path));
  return it;
}

std::expected<one_writer, std::string> one_writer::of_folder(const std::filesystem::path& path) {
  one_writer it(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (it.fd_ < 0) return std::unexpected(cannot_write(path));
  if (!lock(it.fd_)) return std::unexpected(path.string() + taken);
  return it;
}

one_writer::one_writer(one_writer&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

one_writer& one_writer::operator=(one_writer&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

bool one_writer::is_regular() const {
  struct stat s {};
  return fstat(fd_, &s) == 0 && S_ISREG(s.st_mode);
}

int one_writer::close() { return fd_ >= 0 && ::close(std::exchange(fd_, -1)) != 0 ? errno : 0; }

}  // namespace ggas::trace
