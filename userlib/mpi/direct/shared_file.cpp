// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/direct/shared_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace ggas::mpi::direct {

namespace {

constexpr const char* folder = "/dev/shm";  // where shm_open has its names

bool lock(int file, int how) { return flock(file, how | LOCK_NB) == 0; }

// Whether the name still means this file: who had its lock may have taken the name away.
bool has_name(int file, const std::string& name) {
  struct stat mine {
  }, named{};
  return fstat(file, &mine) == 0 && stat((folder + name).c_str(), &named) == 0 && mine.st_ino == named.st_ino &&
         mine.st_dev == named.st_dev;
}

// If no other process has the file open, empties it, because its contents belong to a dead job. Then takes a shared
// lock. Returns false if that is not possible now.
bool attach(int file, const std::string& name, size_t bytes) {
  if (lock(file, LOCK_EX) && ftruncate(file, 0) != 0) return false;
  return lock(file, LOCK_SH) && has_name(file, name) && ftruncate(file, static_cast<off_t>(bytes)) == 0;
}

// Closed on a failure.
int open_locked(const std::string& name, size_t bytes) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  do {
    const int file = shm_open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0) return -1;
    if (attach(file, name, bytes)) return file;
    close(file);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // others look, and go on
  } while (std::chrono::steady_clock::now() < end);
  return -1;
}

void remove_unheld(const std::string& name) {
  const int file = shm_open(name.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return;
  struct stat s {};
  const bool ours = fstat(file, &s) == 0 && s.st_uid == geteuid() && S_ISREG(s.st_mode);
  if (ours && lock(file, LOCK_EX) && has_name(file, name)) shm_unlink(name.c_str());
  close(file);
}

}  // namespace

std::unique_ptr<shared_file> shared_file::open(const std::string& name, size_t bytes) {
  const int file = open_locked(name, bytes);
  if (file < 0) return nullptr;
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at != MAP_FAILED) return std::unique_ptr<shared_file>(new shared_file(name, file, bytes, static_cast<char*>(at)));
  close(file);
  return nullptr;
}

// The last one takes the name away.
shared_file::~shared_file() {
  munmap(memory_, bytes_);
  if (!name_.empty() && lock(file_, LOCK_EX) && has_name(file_, name_)) shm_unlink(name_.c_str());
  close(file_);
}

void shared_file::forget_name() {
  if (!name_.empty() && has_name(file_, name_)) shm_unlink(name_.c_str());
  name_.clear();
}

void sweep_names(const std::string& prefix) {
  DIR* const all = opendir(folder);
  if (!all) return;
  while (const dirent* const one = readdir(all)) {
    const std::string name = std::string("/") + one->d_name;
    if (name.rfind(prefix, 0) == 0) remove_unheld(name);
  }
  closedir(all);
}

}  // namespace ggas::mpi::direct
