// SPDX-License-Identifier: Apache-2.0
// Arguments that are wrong, waits that cost nothing, symbols.
#include <dlfcn.h>
#include <sys/resource.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <vector>

#include "tests/userlib/libggas/rig.hpp"

namespace ggas::library_test {
namespace {

int nothing(const void*, const void*, void*, void*, size_t, size_t, uint64_t) { return 0; }

// Every function with every parameter wrong, the others right.
TEST(library_rules, wrong_arguments_get_the_documented_error) {
  run(2, [](const rank& r) -> std::string {
    MUST(r.create(0, 4096), GGAS_OK);
    ggas_process* const p = r.p;
    const uint64_t t = GGAS_TEST;
    uint32_t n = 0, old = 0, group = 0;
    uint64_t word = 0;
    int32_t a = 1, b = 0;
    void* at = nullptr;
    ggas_state states[2];
    ggas_statistics statistics;
    ggas_process* other = nullptr;
    MUST(ggas_group_create(p, &group), GGAS_OK);
    const ggas_part good{0, 0, 0, 0, 8}, bad_here{1, 0, 0, 0, 8}, bad_there{0, 1, 0, 0, 8}, none{0, 0, 0, 0, 0},
        far_here{0, 0, 4089, 0, 8}, far_there{0, 0, 0, UINT64_MAX, 8}, big_here{300, 0, 0, 0, 8},
        big_there{0, 300, 0, 0, 8};
    struct {
      int line;
      ggas_rc got, wanted;
    } const table[] = {
#define ROW(call, wanted) {__LINE__, call, wanted}
        ROW(ggas_process_start(nullptr, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_process_rank(nullptr, &n), GGAS_ERR_ARGUMENT),
        ROW(ggas_process_rank(p, nullptr), GGAS_ERR_ARGUMENT),
        ROW(ggas_process_size(nullptr, &n), GGAS_ERR_ARGUMENT),
        ROW(ggas_process_size(p, nullptr), GGAS_ERR_ARGUMENT),
        ROW(ggas_process_states(nullptr, states, 2), GGAS_ERR_ARGUMENT),
        ROW(ggas_process_states(p, nullptr, 2), GGAS_ERR_ARGUMENT),
        ROW(ggas_process_states(p, states, 1), GGAS_ERR_SIZE),
        ROW(ggas_process_kill(nullptr, 1), GGAS_ERR_ARGUMENT),
        ROW(ggas_process_kill(p, 2), GGAS_ERR_RANK),
        ROW(ggas_process_kill(p, r.me), GGAS_ERR_RANK),
        ROW(ggas_process_time(nullptr, &word), GGAS_ERR_ARGUMENT),
        ROW(ggas_process_time(p, nullptr), GGAS_ERR_ARGUMENT),
        ROW(ggas_process_statistics(nullptr, &statistics), GGAS_ERR_ARGUMENT),
        ROW(ggas_process_statistics(p, nullptr), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_allocate(nullptr, 1, 8), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_allocate(p, 256, 8), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_allocate(p, 0, 8), GGAS_ERR_STATE),
        ROW(ggas_segment_allocate(p, 1, 0), GGAS_ERR_SIZE),
        ROW(ggas_segment_allocate(p, 1, UINT64_MAX), GGAS_ERR_MEMORY),
        ROW(ggas_segment_bind(nullptr, 1, &a, 4), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_bind(p, 256, &a, 4), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_bind(p, 1, nullptr, 4), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_bind(p, 1, &a, 0), GGAS_ERR_SIZE),
        ROW(ggas_segment_bind_dmabuf(nullptr, 1, 0, 0, 4), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_bind_dmabuf(p, 256, 0, 0, 4), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_bind_dmabuf(p, 1, -1, 0, 4), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_bind_dmabuf(p, 1, 9999, 0, 4), GGAS_ERR_SYSTEM),
        ROW(ggas_segment_bind_dmabuf(p, 1, 0, 1, 4), GGAS_ERR_RANGE),
        ROW(ggas_segment_bind_dmabuf(p, 1, 0, 0, 0), GGAS_ERR_SIZE),
        ROW(ggas_segment_permit(nullptr, 0, 1), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_permit(p, 1, 1), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_permit(p, 256, 1), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_permit(p, 0, 2), GGAS_ERR_RANK),
        ROW(ggas_segment_create(nullptr, 1, 8, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_create(p, 256, 8, 0, t), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_create(p, 0, 8, 0, t), GGAS_ERR_STATE),
        ROW(ggas_segment_create(p, 1, 0, 0, t), GGAS_ERR_SIZE),
        ROW(ggas_segment_create(p, 1, 8, 9, t), GGAS_ERR_GROUP),
        ROW(ggas_segment_create(p, 1, 8, group, t), GGAS_ERR_GROUP),
        ROW(ggas_segment_use(nullptr, 1, &a, 4, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_use(p, 1, nullptr, 4, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_use(p, 1, &a, 4, 64, t), GGAS_ERR_GROUP),
        ROW(ggas_segment_use_dmabuf(nullptr, 1, 0, 0, 4, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_use_dmabuf(p, 256, 0, 0, 4, 0, t), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_use_dmabuf(p, 1, 9999, 0, 4, 0, t), GGAS_ERR_SYSTEM),
        ROW(ggas_segment_use_dmabuf(p, 1, 0, 0, 4, 64, t), GGAS_ERR_GROUP),
        ROW(ggas_segment_delete(nullptr, 0), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_delete(p, 1), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_delete(p, 256), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_pointer(nullptr, 0, &at), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_pointer(p, 1, &at), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_pointer(p, 256, &at), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_pointer(p, 0, nullptr), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_size(nullptr, 0, 1, &word), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_size(p, 1, 1, &word), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_size(p, 256, 1, &word), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_size(p, 0, 2, &word), GGAS_ERR_RANK),
        ROW(ggas_segment_size(p, 0, 1, nullptr), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_fetch_add(nullptr, 0, 0, 1, 1, &word, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_fetch_add(p, 1, 0, 1, 1, &word, t), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_fetch_add(p, 0, 4, 1, 1, &word, t), GGAS_ERR_RANGE),
        ROW(ggas_segment_fetch_add(p, 0, 4096, 1, 1, &word, t), GGAS_ERR_RANGE),
        ROW(ggas_segment_fetch_add(p, 0, 0, 2, 1, &word, t), GGAS_ERR_RANK),
        ROW(ggas_segment_compare_swap(nullptr, 0, 0, 1, 1, 1, &word, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_segment_compare_swap(p, 256, 0, 1, 1, 1, &word, t), GGAS_ERR_SEGMENT),
        ROW(ggas_segment_compare_swap(p, 0, 1, 1, 1, 1, &word, t), GGAS_ERR_RANGE),
        ROW(ggas_segment_compare_swap(p, 0, UINT64_MAX - 7, 1, 1, 1, &word, t), GGAS_ERR_RANGE),
        ROW(ggas_segment_compare_swap(p, 0, 0, 2, 1, 1, &word, t), GGAS_ERR_RANK),
        ROW(ggas_queue_create(nullptr, &n), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_create(p, nullptr), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_delete(nullptr, 0), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_delete(p, 8), GGAS_ERR_QUEUE),
        ROW(ggas_queue_posted(nullptr, 0, &word), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_posted(p, 64, &word), GGAS_ERR_QUEUE),
        ROW(ggas_queue_posted(p, 0, nullptr), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_write(nullptr, &good, 1, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_write(p, nullptr, 1, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_write(p, &bad_here, 1, 0, t), GGAS_ERR_SEGMENT),
        ROW(ggas_queue_write(p, &bad_there, 1, 0, t), GGAS_ERR_SEGMENT),
        ROW(ggas_queue_write(p, &big_here, 1, 0, t), GGAS_ERR_SEGMENT),
        ROW(ggas_queue_write(p, &big_there, 1, 0, t), GGAS_ERR_SEGMENT),
        ROW(ggas_queue_write(p, &none, 1, 0, t), GGAS_ERR_SIZE),
        ROW(ggas_queue_write(p, &far_here, 1, 0, t), GGAS_ERR_RANGE),
        ROW(ggas_queue_write(p, &far_there, 1, 0, t), GGAS_ERR_RANGE),
        ROW(ggas_queue_write(p, &good, 2, 0, t), GGAS_ERR_RANK),
        ROW(ggas_queue_write(p, &good, 1, 8, t), GGAS_ERR_QUEUE),
        ROW(ggas_queue_read(nullptr, &good, 1, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_read(p, nullptr, 1, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_read(p, &far_there, 1, 0, t), GGAS_ERR_RANGE),
        ROW(ggas_queue_read(p, &good, UINT32_MAX, 0, t), GGAS_ERR_RANK),
        ROW(ggas_queue_read(p, &good, 1, UINT32_MAX, t), GGAS_ERR_QUEUE),
        ROW(ggas_queue_write_list(nullptr, &good, 1, 1, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_write_list(p, nullptr, 1, 1, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_write_list(p, &good, 0, 1, 0, t), GGAS_ERR_SIZE),
        ROW(ggas_queue_write_list(p, &good, 1, 2, 0, t), GGAS_ERR_RANK),
        ROW(ggas_queue_read_list(nullptr, &good, 1, 1, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_read_list(p, &good, 0, 1, 0, t), GGAS_ERR_SIZE),
        ROW(ggas_queue_read_list(p, &good, 1, 1, 64, t), GGAS_ERR_QUEUE),
        ROW(ggas_queue_notify(nullptr, 0, 1, 0, 1, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_notify(p, 1, 1, 0, 1, 0, t), GGAS_ERR_SEGMENT),
        ROW(ggas_queue_notify(p, 256, 1, 0, 1, 0, t), GGAS_ERR_SEGMENT),
        ROW(ggas_queue_notify(p, 0, 2, 0, 1, 0, t), GGAS_ERR_RANK),
        ROW(ggas_queue_notify(p, 0, 1, 65'536, 1, 0, t), GGAS_ERR_NOTIFICATION),
        ROW(ggas_queue_notify(p, 0, 1, 0, 0, 0, t), GGAS_ERR_NOTIFICATION),
        ROW(ggas_queue_notify(p, 0, 1, 0, 1, 8, t), GGAS_ERR_QUEUE),
        ROW(ggas_queue_wait(nullptr, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_wait(p, 8, t), GGAS_ERR_QUEUE),
        ROW(ggas_queue_purge(nullptr, 0), GGAS_ERR_ARGUMENT),
        ROW(ggas_queue_purge(p, 64), GGAS_ERR_QUEUE),
        ROW(ggas_notification_waitsome(nullptr, 0, 0, 1, &n, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_notification_waitsome(p, 1, 0, 1, &n, t), GGAS_ERR_SEGMENT),
        ROW(ggas_notification_waitsome(p, 0, 65'536, 1, &n, t), GGAS_ERR_NOTIFICATION),
        ROW(ggas_notification_waitsome(p, 0, 0, 0, &n, t), GGAS_ERR_NOTIFICATION),
        ROW(ggas_notification_waitsome(p, 0, 1, 65'536, &n, t), GGAS_ERR_NOTIFICATION),
        ROW(ggas_notification_waitsome(p, 0, 0, 1, nullptr, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_notification_reset(nullptr, 0, 0, &old), GGAS_ERR_ARGUMENT),
        ROW(ggas_notification_reset(p, 1, 0, &old), GGAS_ERR_SEGMENT),
        ROW(ggas_notification_reset(p, 0, 65'536, &old), GGAS_ERR_NOTIFICATION),
        ROW(ggas_notification_reset(p, 0, 0, nullptr), GGAS_ERR_ARGUMENT),
        ROW(ggas_passive_send(nullptr, 0, 0, 1, 8, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_passive_send(p, 1, 0, 1, 8, t), GGAS_ERR_SEGMENT),
        ROW(ggas_passive_send(p, 0, 4096, 1, 8, t), GGAS_ERR_RANGE),
        ROW(ggas_passive_send(p, 0, 0, 2, 8, t), GGAS_ERR_RANK),
        ROW(ggas_passive_send(p, 0, 0, 1, 0, t), GGAS_ERR_SIZE),
        ROW(ggas_passive_send(p, 0, 0, 1, 65'537, t), GGAS_ERR_SIZE),
        ROW(ggas_passive_receive(nullptr, 0, 0, &n, 8, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_passive_receive(p, 1, 0, &n, 8, t), GGAS_ERR_SEGMENT),
        ROW(ggas_passive_receive(p, 0, 4090, &n, 8, t), GGAS_ERR_RANGE),
        ROW(ggas_passive_receive(p, 0, 0, nullptr, 8, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_passive_receive(p, 0, 0, &n, 0, t), GGAS_ERR_SIZE),
        ROW(ggas_group_create(nullptr, &n), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_create(p, nullptr), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_add(nullptr, group, 1), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_add(p, 0, 1), GGAS_ERR_STATE),
        ROW(ggas_group_add(p, 64, 1), GGAS_ERR_GROUP),
        ROW(ggas_group_add(p, group, 2), GGAS_ERR_RANK),
        ROW(ggas_group_commit(nullptr, group, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_commit(p, group, t), GGAS_ERR_GROUP),  // empty
        ROW(ggas_group_commit(p, 0, t), GGAS_ERR_STATE),
        ROW(ggas_group_delete(nullptr, group), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_delete(p, 0), GGAS_ERR_GROUP),
        ROW(ggas_group_delete(p, 63), GGAS_ERR_GROUP),
        ROW(ggas_group_size(nullptr, 0, &n), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_size(p, 63, &n), GGAS_ERR_GROUP),
        ROW(ggas_group_size(p, 0, nullptr), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_ranks(nullptr, 0, &n, 2), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_ranks(p, 63, &n, 2), GGAS_ERR_GROUP),
        ROW(ggas_group_ranks(p, 0, nullptr, 2), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_ranks(p, 0, &n, 1), GGAS_ERR_SIZE),
        ROW(ggas_group_barrier(nullptr, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_barrier(p, group, t), GGAS_ERR_GROUP),
        ROW(ggas_group_allreduce(nullptr, &a, &b, 1, GGAS_ELEMENT_INT32, GGAS_OP_SUM, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_allreduce(p, nullptr, &b, 1, GGAS_ELEMENT_INT32, GGAS_OP_SUM, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_allreduce(p, &a, nullptr, 1, GGAS_ELEMENT_INT32, GGAS_OP_SUM, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_allreduce(p, &a, &b, 0, GGAS_ELEMENT_INT32, GGAS_OP_SUM, 0, t), GGAS_ERR_SIZE),
        ROW(ggas_group_allreduce(p, &a, &b, SIZE_MAX, GGAS_ELEMENT_INT32, GGAS_OP_SUM, 0, t), GGAS_ERR_SIZE),
        ROW(ggas_group_allreduce(p, &a, &b, 1, ggas_element(6), GGAS_OP_SUM, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_allreduce(p, &a, &b, 1, GGAS_ELEMENT_INT32, ggas_operation(4), 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_allreduce(p, &a, &b, 1, GGAS_ELEMENT_INT32, GGAS_OP_SUM, 64, t), GGAS_ERR_GROUP),
        ROW(ggas_group_allreduce_user(nullptr, &a, &b, 1, 4, nothing, nullptr, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_allreduce_user(p, &a, &b, 1, 4, nullptr, nullptr, 0, t), GGAS_ERR_ARGUMENT),
        ROW(ggas_group_allreduce_user(p, &a, &b, 1, 0, nothing, nullptr, 0, t), GGAS_ERR_SIZE),
        ROW(ggas_group_allreduce_user(p, &a, &b, 1, 4097, nothing, nullptr, 0, t), GGAS_ERR_SIZE),
        ROW(ggas_group_allreduce_user(p, &a, &b, 1, 4, nothing, nullptr, 63, t), GGAS_ERR_GROUP),
#undef ROW
    };
    for (const auto& row : table)
      if (row.got != row.wanted)
        return "line " + std::to_string(row.line) + ": " + std::to_string(row.got) + " for " +
               std::to_string(row.wanted);
    MUST_HOLD(other == nullptr);
    MUST(r.barrier(), GGAS_OK);  // nothing of it broke anything
    return "ok";
  });
}

TEST(library_rules, an_error_has_a_text_that_names_value_and_rule) {
  run(1, [](const rank& r) -> std::string {
    MUST(ggas_queue_wait(r.p, 77, GGAS_TEST), GGAS_ERR_QUEUE);
    MUST_HOLD(std::string(ggas_error_text()) == "queue 77: does not exist");
    for (int c = GGAS_ERR_SYSTEM; c <= GGAS_TIMEOUT; ++c)
      MUST_HOLD(std::string(ggas_rc_text(ggas_rc(c))) != ggas_rc_text(ggas_rc(77)));
    return "ok";
  });
}

double processor_seconds() {
  rusage u{};
  getrusage(RUSAGE_SELF, &u);
  return double(u.ru_utime.tv_sec + u.ru_stime.tv_sec) + double(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
}

// Ranks that wait take no more than 2 % of a core.
TEST(library_rules, a_rank_that_waits_sleeps) {
  run(4, [](const rank& r) -> std::string {
    MUST(r.create(0, 4096), GGAS_OK);
    uint32_t n = 0;
    const double before = processor_seconds();
    constexpr uint64_t time = 500 * ms;
    if (r.me == 0) MUST(ggas_notification_waitsome(r.p, 0, 0, 100, &n, time), GGAS_TIMEOUT);
    if (r.me == 1) MUST(ggas_passive_receive(r.p, 0, 0, &n, 100, time), GGAS_TIMEOUT);
    if (r.me > 1) MUST(r.barrier(), GGAS_OK);  // until the others come
    const double share = (processor_seconds() - before) / (double(time) * 1e-9);
    if (share > 0.02) return "a wait took " + std::to_string(share) + " of a core";
    if (r.me < 2) MUST(r.barrier(), GGAS_OK);
    return "ok";
  });
}

TEST(library_rules, every_function_of_the_headers_is_exported) {
  const std::regex function(R"(^(?:ggas_rc|gaspi_return_t|gaspi_string_t|void|const char\*) (g\w+)\()",
                            std::regex::multiline);
  std::set<std::string> names;
  for (const char* file : {"ggas/ggas.h", "GASPI.h", "GASPI_Ext.h"}) {
    std::ifstream in(std::string(GGAS_SOURCE) + "/userlib/include/" + file);
    std::stringstream text;
    text << in.rdbuf();
    const std::string header = text.str();
    for (std::sregex_iterator i(header.begin(), header.end(), function), end; i != end; ++i) names.insert((*i)[1]);
  }
  EXPECT_TRUE(names.contains("ggas_group_allreduce_user") && names.contains("gaspi_error_str"));
  EXPECT_GE(names.size(), 110u);
  for (const std::string& name : names) {
    EXPECT_TRUE(dlsym(RTLD_DEFAULT, name.c_str())) << name;
    const std::string second = (name.starts_with("gaspi_") ? "p" : "") + name;  // of the profiling interface
    EXPECT_TRUE(dlsym(RTLD_DEFAULT, second.c_str())) << second;
  }
}

}  // namespace
}  // namespace ggas::library_test
