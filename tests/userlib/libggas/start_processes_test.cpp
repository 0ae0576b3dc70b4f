// SPDX-License-Identifier: Apache-2.0
// Start-up of processes by modules: what cannot work is reported, and never hangs.
#include "tests/userlib/libggas/start_rig.hpp"

namespace ggas::library_test {
namespace {

// A rank of a job over TCP, with more variables ("NAME=value"), that meets the others in a barrier.
processes::body over_tcp(int size, const std::string& root, std::vector<std::string> more = {},
                         uint64_t timeout_ns = timeout) {
  return [=](int rank, const voice& parent) {
    be(rank, size, "none");
    setenv("GGAS_BOOTSTRAP", "tcp", 1);
    setenv("GGAS_ROOT", root.c_str(), 1);
    unsetenv("GGAS_TRANSPORT");
    for (const std::string& m : more) setenv(m.substr(0, m.find('=')).c_str(), m.substr(m.find('=') + 1).c_str(), 1);
    ggas_process* p = nullptr;
    ggas_rc rc = ggas_process_start(&p, timeout_ns);
    if (rc == GGAS_OK) rc = ggas_group_barrier(p, GGAS_GROUP_ALL, timeout_ns);
    parent.say(rc == GGAS_OK ? "ok" : std::to_string(rc) + " " + ggas_error_text());
    ggas_process_stop(p);
  };
}

TEST(library_start, processes_start_by_tcp) {
  for (const int size : {1, 2, 4}) {
    processes all;
    all.start_all(size, over_tcp(size, "127.0.0.1:" + free_port()));
    for (int r = 0; r < size; ++r) EXPECT_EQ(all.next(r, soon), "ok");
    for (int r = 0; r < size; ++r) EXPECT_EQ(all.ending(r, soon), "0");
  }
}

// No NIC leads to the other computer: all are reported at the start, at once.
TEST(library_start, ranks_of_two_computers_are_reported) {
  processes all;
  const std::string root = "127.0.0.1:" + free_port();
  for (const int r : {0, 1, 2}) all.start(r, over_tcp(3, root, {"GGAS_COMPUTER=number " + std::to_string(r / 2)}));
  for (const int r : {0, 1, 2}) {
    const std::string text = all.next(r, soon);
    EXPECT_TRUE(has(text, "-13 start by 'tcp': no way to other computers: rank 2 is not where rank 0 is"));
    EXPECT_TRUE(has(text, "there is no NIC"));
  }
}

// With NICs it does not matter where they are; one that has none ends the start of all.
TEST(library_start, ranks_of_two_computers_without_nics_are_reported) {
  processes all;
  const std::string root = "127.0.0.1:" + free_port();
  for (const int r : {0, 1}) {
    const std::string device = "GGAS_DEVICE=/dev/" + std::string(r ? "ggas_none" : "null");
    all.start(r, over_tcp(2, root, {"GGAS_COMPUTER=number " + std::to_string(r), "GGAS_TRANSPORT=hw", device}));
  }
  EXPECT_TRUE(has(all.next(0, soon), "-13 NIC '/dev/null': is no NIC of GGAS"));
  EXPECT_TRUE(has(all.next(1, soon), "-13 NIC '/dev/ggas_none': does not exist"));
}

TEST(library_start, a_killed_rank_ends_the_start) {
  processes all;
  const std::string root = "127.0.0.1:" + free_port();
  for (const int r : {0, 1, 2}) all.start(r, over_tcp(4, root));
  std::this_thread::sleep_for(milliseconds(500));
  all.kill(2);
  for (const int r : {0, 1}) EXPECT_TRUE(has(all.next(r, soon), "ended while others were still missing"));
}

TEST(library_start, a_missing_rank_is_a_time_out) {
  processes all;
  all.start(0, over_tcp(2, "127.0.0.1:" + free_port(), {}, 200 * ms));
  EXPECT_TRUE(has(all.next(0, soon), "1 start by 'tcp': of 2 ranks rank 1 did not arrive in time"));
}

TEST(library_start, bad_settings_are_reported) {
  struct row {
    std::string setting, text;
  };
  const std::string root = "': must be ADDRESS:PORT";
  for (const row& r :
       std::initializer_list<row>{{"GGAS_BOOTSTRAP=smoke", "GGAS_BOOTSTRAP = 'smoke': must be unix, tcp, mpi or pmix"},
                                  {"GGAS_BOOTSTRAP=../tcp", "must be unix, tcp, mpi or pmix"},
                                  {"GGAS_TRANSPORT=sim", "with GGAS_TRANSPORT = 'sim': must be shm or hw"},
                                  {"GGAS_ROOT=", root},
                                  {"GGAS_ROOT=127.0.0.1", root},
                                  {"GGAS_ROOT=:80", root},
                                  {"GGAS_ROOT=127.0.0.1:0", root},
                                  {"GGAS_ROOT=127.0.0.1:65536", root},
                                  {"GGAS_ROOT=127.0.0.1:8x", root},
                                  {"GGAS_ROOT=192.0.2.1:80", "rank 0 cannot listen at 192.0.2.1 port 80"},
                                  {"GGAS_SECRET=", "GGAS_SECRET: must be set to 32 hexadecimal digits"},
                                  {"GGAS_SECRET=12", "GGAS_SECRET: must be set to 32 hexadecimal digits"},
                                  {"GGAS_RANK=", "GGAS_RANK and GGAS_SIZE are not set"},
#ifdef GGAS_HAVE_START_PMIX
                                  {"GGAS_BOOTSTRAP=pmix", "PMIX_NAMESPACE is not set"},
#else
                                  {"GGAS_BOOTSTRAP=pmix", "module 'pmix'"},
#endif
#ifdef GGAS_HAVE_START_MPI
                                  {"GGAS_BOOTSTRAP=mpi", "MPI is not initialized"},
#else
                                  {"GGAS_BOOTSTRAP=mpi", "module 'mpi'"},
#endif
                                  {"GGAS_RANK=7", "GGAS_RANK = '7': must be a number from 0 to 1"}}) {
    processes all;
    all.start(0, over_tcp(2, "127.0.0.1:" + free_port(), {r.setting}));
    EXPECT_TRUE(has(all.next(0, soon), r.text)) << r.setting;
    EXPECT_EQ(all.ending(0, soon), "0");
  }
}

TEST(library_start, bad_arguments_are_reported) {
  ggas_process* p = nullptr;
  int no_communicator = 0;
  EXPECT_EQ(ggas_process_start_by(nullptr, "unix", nullptr, 0), GGAS_ERR_ARGUMENT);
  EXPECT_EQ(ggas_process_start_by(&p, "smoke", nullptr, 0), GGAS_ERR_ARGUMENT);
  EXPECT_EQ(ggas_process_start_by(&p, "unix", &no_communicator, 0), GGAS_ERR_ARGUMENT);
  EXPECT_TRUE(has(ggas_error_text(), "communicator"));
  EXPECT_EQ(ggas_process_start_by(&p, "tcp", &no_communicator, second), GGAS_ERR_ARGUMENT);
  EXPECT_TRUE(has(ggas_error_text(), "communicator"));
}

}  // namespace
}  // namespace ggas::library_test
