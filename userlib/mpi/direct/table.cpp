// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/direct/table.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace ggas::mpi::direct {

namespace {

table* only = nullptr;

uint64_t hash(const std::string& text, uint64_t h) {
  for (const char c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h;
}

// When a process began, in ticks: with its id the name of one process only.
std::string start_of(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/stat");
  std::string text((std::istreambuf_iterator<char>(file)), {});
  size_t at = text.rfind(')');
  for (int field = 2; field < 22 && at != std::string::npos; ++field) at = text.find(' ', at + 1);
  return at == std::string::npos ? "" : text.substr(at + 1, text.find(' ', at + 1) - at - 1);
}

// A key that is the same in all processes that one launcher started on this host for one job. It is not exchanged by a
// message, because an MPI process without this library would not answer.
std::string key_of_job(int size) {
  const char* const name = std::getenv("PMIX_NAMESPACE");
  const std::string job = name ? name : std::to_string(getppid()) + "." + start_of(getppid());
  return job + " " + std::to_string(size) + " " + std::to_string(getuid());
}

struct header {
  std::atomic<uint32_t> attached, greetings;
};

constexpr uint64_t none = ~uint64_t{0};

// A number of at most 15 digits; `none`: it is not one.
uint64_t number(const char* text) {
  const size_t n = std::strlen(text);
  return n > 0 && n <= 15 && std::strspn(text, "0123456789") == n ? std::strtoull(text, nullptr, 10) : none;
}

const char* setting(const char* name) {
  const char* const text = std::getenv(name);
  return text && *text ? text : nullptr;
}

// Processes of the job on this host, as its launcher says; 0: it says nothing.
uint64_t processes_here() {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"})
    if (const char* const text = setting(name)) return number(text) == none ? 0 : number(text);
  return 0;
}

constexpr const char* names_begin = "/ggas-mpi-";

bool is_off() {
  const char* const text = setting("GGAS_MPI_DIRECT");
  return text && std::strcmp(text, "off") == 0;
}

}  // namespace

uint64_t least_bytes() {
  static const char* const text = setting("GGAS_MPI_DIRECT");
  static const uint64_t least = is_off() ? none : text ? number(text) : 4096;
  return least > longest_ticket ? least : longest_ticket + 1;  // who has no room for a ticket has none for the message
}

uint64_t timeout_ns() {
  static const char* const text = setting("GGAS_MPI_DIRECT_US");
  static const uint64_t us = text ? number(text) : 50;
  return us * 1000;
}

std::string setting_error() {
  const char *const from = setting("GGAS_MPI_DIRECT"), *const us = setting("GGAS_MPI_DIRECT_US");
  if (from && !is_off() && number(from) == none)
    return "GGAS_MPI_DIRECT = " + std::string(from) + ": must be off, or a number of bytes of at most 15 digits";
  if (us && number(us) == none)
    return "GGAS_MPI_DIRECT_US = " + std::string(us) + ": must be a number of microseconds of at most 15 digits";
  return {};
}

table* table::here() { return only; }

void table::begin(int rank, int size) {
  if (only || size < 2 || least_bytes() == none) return;
  sweep_names(names_begin);
  auto* const made = new table(rank, size, key_of_job(size));
  if (made->file_)
    only = made;
  else
    delete made;
}

void table::end() {
  delete only;
  only = nullptr;
}

size_t table::page_bytes() const { return (sizeof(page) + static_cast<size_t>(size_) + 4095) / 4096 * 4096; }

table::table(int rank, int size, const std::string& key)
    : me_(rank), size_(size), job_{hash(key, 0xcbf29ce484222325u), hash(key, 0x9ae16a3b2f90404fu)} {
  char text[64];
  std::snprintf(text, sizeof text, "%s%016llx%016llx", names_begin, static_cast<unsigned long long>(job_[0]),
                static_cast<unsigned long long>(job_[1]));
  file_ = shared_file::open(text, offset(size));
  if (!file_) return;
  of(me_).process.store(getpid(), std::memory_order_release);
  // No other process will come: what has no name is gone with the last process, however that ends.
  if (++reinterpret_cast<header*>(file_->at())->attached == processes_here()) file_->forget_name();
}

table::~table() {
  if (file_) of(me_).process = 0;
}

bool table::lives(int process) {
  const int32_t id = of(process).process.load(std::memory_order_acquire);
  return id != 0 && (kill(id, 0) == 0 || errno == EPERM);
}

std::atomic<uint8_t>& table::reaches(int process, int other) {
  return reinterpret_cast<std::atomic<uint8_t>*>(&of(process) + 1)[other];
}

std::atomic<uint32_t>& table::greetings() { return reinterpret_cast<header*>(file_->at())->greetings; }

}  // namespace ggas::mpi::direct
