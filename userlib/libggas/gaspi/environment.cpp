// SPDX-License-Identifier: Apache-2.0
// GASPI: processes, groups, texts, time.
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <utility>
#include <vector>

#include "userlib/libggas/base/fail.hpp"
#include "userlib/libggas/base/limit.hpp"
#include "userlib/libggas/gaspi/self.hpp"

namespace ggas::library::gaspi {

namespace {
std::atomic<ggas_process*> process{nullptr};
std::mutex starting;
}  // namespace

ggas_process* self() { return process.load(std::memory_order_acquire); }

namespace {
thread_local gaspi_return_t last_code = GASPI_ERROR;  // the one that the text of the last error belongs to
}

gaspi_return_t refuse(const char* text, gaspi_return_t code) {
  fail_with(GGAS_ERR_ARGUMENT, text);
  return last_code = code;
}

gaspi_return_t error_code(ggas_rc rc) {
  static constexpr std::pair<ggas_rc, gaspi_return_t> codes[] = {
      {GGAS_ERR_RANK, GASPI_ERR_INV_RANK},   {GGAS_ERR_SEGMENT, GASPI_ERR_INV_SEG},
      {GGAS_ERR_QUEUE, GASPI_ERR_INV_QUEUE}, {GGAS_ERR_NOTIFICATION, GASPI_ERR_INV_NOTIF_ID},
      {GGAS_ERR_GROUP, GASPI_ERR_INV_GROUP}, {GGAS_ERR_MEMORY, GASPI_ERR_MEMALLOC},
  };
  for (const auto& [from, to] : codes)
    if (rc == from) return last_code = to;
  return last_code = self() ? GASPI_ERROR : GASPI_ERR_NOINIT;
}

namespace {

uint64_t time_ns() {
  uint64_t now = 0;
  return ggas_process_time(self(), &now) == GGAS_OK ? now : computer_ns() - program_began_ns;
}

unsigned ranks() {
  uint32_t n = 0;
  ggas_process_size(self(), &n);
  return n;
}

// The states of all ranks; empty: there is no process.
std::vector<ggas_state> states() {
  std::vector<ggas_state> all(ranks());
  if (!all.empty() && ggas_process_states(self(), all.data(), all.size()) != GGAS_OK) all.clear();
  return all;
}

// left_is_well: a rank that has called gaspi_proc_term is as good as one that lives.
gaspi_return_t alive(gaspi_rank_t rank, bool left_is_well = false) {
  const std::vector<ggas_state> all = states();
  if (all.empty()) return refuse("gaspi_proc_init has not been called", GASPI_ERR_NOINIT);
  if (rank >= all.size()) return refuse("no such rank", GASPI_ERR_INV_RANK);
  if (all[rank] == GGAS_STATE_LOST) return refuse("the rank has ended without gaspi_proc_term");
  return all[rank] == GGAS_STATE_HEALTHY || left_is_well ? GASPI_SUCCESS : refuse("the rank has left the job");
}

// Makes the configured number of queues in place of the first ones.
void make_queues(ggas_process* p, unsigned count) {
  uint32_t made;
  for (unsigned q = GGAS_QUEUES_AT_START; q < count; ++q) ggas_queue_create(p, &made);
  for (unsigned q = count; q < GGAS_QUEUES_AT_START; ++q) ggas_queue_delete(p, q);
}

}  // namespace

}  // namespace ggas::library::gaspi

using namespace ggas::library::gaspi;

gaspi_return_t gaspi_proc_init(gaspi_timeout_t timeout_ms) {
  const std::lock_guard held(starting);
  if (self()) return GASPI_SUCCESS;
  ggas_process* p = nullptr;
  const ggas_rc rc = ggas_process_start(&p, nanoseconds(timeout_ms));
  if (rc != GGAS_OK) return as_gaspi(rc);
  fix_limits();
  make_queues(p, limits().queue_num);
  forget_counts();
  for (unsigned q = 0; q < GGAS_QUEUES; ++q) forget_requests(static_cast<gaspi_queue_id_t>(q));
  process.store(p, std::memory_order_release);
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_proc_term(gaspi_timeout_t) {
  const std::lock_guard held(starting);
  ggas_process* const p = process.exchange(nullptr);
  if (!p) return refuse("gaspi_proc_init has not been called", GASPI_ERR_NOINIT);
  ggas_process_stop(p);
  return GASPI_SUCCESS;
}

gaspi_return_t gaspi_initialized(gaspi_number_t* initialized) { return give(initialized, self() ? 1 : 0); }

gaspi_return_t gaspi_proc_rank(gaspi_rank_t* rank) {
  uint32_t r = 0;
  const ggas_rc rc = ggas_process_rank(self(), &r);
  return rc == GGAS_OK ? give(rank, r) : as_gaspi(rc);
}

gaspi_return_t gaspi_proc_num(gaspi_rank_t* proc_num) {
  uint32_t n = 0;
  const ggas_rc rc = ggas_process_size(self(), &n);
  return rc == GGAS_OK ? give(proc_num, n) : as_gaspi(rc);
}

// All ranks are on this computer.
gaspi_return_t gaspi_proc_local_rank(gaspi_rank_t* local_rank) { return gaspi_proc_rank(local_rank); }
gaspi_return_t gaspi_proc_local_num(gaspi_rank_t* local_num) { return gaspi_proc_num(local_num); }

gaspi_return_t gaspi_proc_kill(gaspi_rank_t rank, gaspi_timeout_t) { return as_gaspi(ggas_process_kill(self(), rank)); }
gaspi_return_t gaspi_proc_ping(gaspi_rank_t rank, gaspi_timeout_t) { return alive(rank); }
gaspi_return_t gaspi_connect(gaspi_rank_t rank, gaspi_timeout_t) { return alive(rank); }
gaspi_return_t gaspi_disconnect(gaspi_rank_t rank, gaspi_timeout_t) { return alive(rank, true); }

gaspi_return_t gaspi_proc_mem_usage(gaspi_size_t* bytes) {
  gaspi_size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return give(bytes, resident * gaspi_size_t(sysconf(_SC_PAGESIZE)));
}

gaspi_return_t gaspi_version(float* version) { return give(version, 17.1f); }

gaspi_return_t gaspi_state_vec_get(gaspi_state_vector_t state_vector) {
  const std::vector<ggas_state> all = states();
  if (all.empty() || !state_vector) return refuse("gaspi_state_vec_get: no process, or a null pointer");
  for (size_t r = 0; r < all.size(); ++r)
    state_vector[r] = all[r] == GGAS_STATE_LOST ? GASPI_STATE_CORRUPT : GASPI_STATE_HEALTHY;
  return GASPI_SUCCESS;
}

namespace {
// Texts of the codes that only programs of GPI-2 name, from GASPI_ERR_EMFILE on.
constexpr const char* code_texts[] = {
    "too many open files",
    "the environment of the job is incomplete",
    "the port is in use",
    "a value of the configuration is out of range",
    "gaspi_proc_init has not been called",
    "gaspi_proc_init has been called already",
    "a pointer is null",
    "no valid size of a segment",
    "no such segment",
    "no such group",
    "no such rank",
    "no such queue",
    "the local offset lies outside of the segment",
    "the remote offset lies outside of the segment",
    "no valid number of bytes",
    "no valid value of a notification",
    "no such notification",
    "no valid number of elements",
    "no valid size of an element",
    "too many segments",
    "too many groups",
    "the queue is full",
    "the offset is not aligned",
    "another collective of the group is active",
    "the network device failed",
    "the internal network failed",
    "no memory",
};
static_assert(std::size(code_texts) == GASPI_ERR_MEMALLOC - GASPI_ERR_EMFILE + 1);
}  // namespace

gaspi_string_t gaspi_error_str(gaspi_return_t code) {
  static char ok[] = "success", late[] = "time-out", unknown[] = "unknown return code";
  if (code == GASPI_SUCCESS) return ok;
  if (code == GASPI_TIMEOUT) return late;
  if (code == GASPI_ERROR || code == last_code) return const_cast<char*>(ggas_error_text());
  const int place = code - GASPI_ERR_EMFILE;
  return place >= 0 && place < int(std::size(code_texts)) ? const_cast<char*>(code_texts[place]) : unknown;
}

gaspi_return_t gaspi_error_message(gaspi_return_t code, gaspi_string_t* message) {
  return give(message, gaspi_error_str(code));
}
gaspi_return_t gaspi_print_error(gaspi_return_t code, gaspi_string_t* message) {
  return message ? give(message, strdup(gaspi_error_str(code))) : refuse("error_message is null", GASPI_ERR_NULLPTR);
}

namespace {
void print(const char* format, va_list values) {
  char text[4096];
  gaspi_rank_t rank = 0;
  gaspi_proc_rank(&rank);
  const int head = std::snprintf(text, sizeof text, "[%u] ", unsigned(rank));
  std::vsnprintf(text + head, sizeof text - size_t(head), format, values);
  std::fputs(text, stdout);
  std::fflush(stdout);
}
}  // namespace

void gaspi_printf(const char* format, ...) {
  va_list values;
  va_start(values, format);
  print(format, values);
  va_end(values);
}

void gaspi_printf_to(gaspi_rank_t, const char* format, ...) {
  va_list values;
  va_start(values, format);
  print(format, values);
  va_end(values);
}

gaspi_return_t gaspi_time_get(gaspi_time_t* wtime) { return give(wtime, static_cast<float>(double(time_ns()) * 1e-6)); }
gaspi_return_t gaspi_cpu_frequency(gaspi_float* cpu_mhz) { return give(cpu_mhz, 1000); }
gaspi_return_t gaspi_time_ticks(gaspi_cycles_t* ticks) { return give(ticks, time_ns()); }

gaspi_return_t gaspi_group_create(gaspi_group_t* group) {
  uint32_t g = 0;
  gaspi_number_t there = 0;
  if (!group) return refuse("group is null", GASPI_ERR_NULLPTR);
  if (const gaspi_return_t rc = gaspi_group_num(&there); rc != GASPI_SUCCESS) return rc;
  if (there >= limits().group_max)
    return refuse("there are as many groups as the configuration allows", GASPI_ERR_MANY_GRP);
  const ggas_rc rc = ggas_group_create(self(), &g);
  return rc == GGAS_OK ? give(group, g) : as_gaspi(rc);
}
gaspi_return_t gaspi_group_delete(gaspi_group_t group) { return as_gaspi(ggas_group_delete(self(), group)); }
gaspi_return_t gaspi_group_add(gaspi_group_t group, gaspi_rank_t rank) {
  return as_gaspi(ggas_group_add(self(), group, rank));
}
gaspi_return_t gaspi_group_commit(gaspi_group_t group, gaspi_timeout_t timeout_ms) {
  if (group == GASPI_GROUP_ALL && self()) return GASPI_SUCCESS;  // by the standard; it is from the start
  return as_gaspi(ggas_group_commit(self(), group, nanoseconds(timeout_ms)));
}

gaspi_return_t gaspi_group_num(gaspi_number_t* group_num) {
  if (!self()) return refuse("gaspi_proc_init has not been called", GASPI_ERR_NOINIT);
  unsigned n = 0;
  uint32_t size;
  for (uint32_t g = 0; g < GGAS_GROUPS; ++g) n += ggas_group_size(self(), g, &size) == GGAS_OK;
  return give(group_num, n);
}

gaspi_return_t gaspi_group_size(gaspi_group_t group, gaspi_number_t* group_size) {
  uint32_t n = 0;
  const ggas_rc rc = ggas_group_size(self(), group, &n);
  return rc == GGAS_OK ? give(group_size, n) : as_gaspi(rc);
}

gaspi_return_t gaspi_group_ranks(gaspi_group_t group, gaspi_rank_t* group_ranks) {
  uint32_t n = 0;
  if (!group_ranks) return refuse("group_ranks is null", GASPI_ERR_NULLPTR);
  if (const ggas_rc rc = ggas_group_size(self(), group, &n); rc != GGAS_OK) return as_gaspi(rc);
  std::vector<uint32_t> all(n + 1);
  const ggas_rc rc = ggas_group_ranks(self(), group, all.data(), n);
  for (uint32_t i = 0; rc == GGAS_OK && i < n; ++i) group_ranks[i] = static_cast<gaspi_rank_t>(all[i]);
  return as_gaspi(rc);
}
