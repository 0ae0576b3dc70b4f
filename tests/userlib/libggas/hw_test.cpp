// SPDX-License-Identifier: Apache-2.0
// NICs through the driver, as far as this is possible without one: the errors without a NIC, the exchange between
// ranks, mappings that are revoked. With NICs: kernel.vm (tests/kernel/library.c).
#include <sys/mman.h>

#include <random>

#include "tests/userlib/libggas/rig.hpp"
#include "userlib/libggas/hw/card.hpp"
#include "userlib/libggas/hw/faults.hpp"

namespace ggas::library_test {

namespace {

using library::hw::card;

bool has(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

// What a rank says that starts with these variables ("NAME=value").
std::string start_with(const std::vector<std::string>& variables) {
  processes one;
  one.start(0, [&](int, const voice& parent) {
    for (const char* name : {"GGAS_RANK", "GGAS_DEVICE", "GGAS_DOMAIN", "GGAS_BOOTSTRAP"}) unsetenv(name);
    setenv("GGAS_TRANSPORT", "hw", 1);
    for (const std::string& v : variables)
      setenv(v.substr(0, v.find('=')).c_str(), v.substr(v.find('=') + 1).c_str(), 1);
    ggas_process* p = nullptr;
    const ggas_rc rc = ggas_process_start(&p, timeout);
    parent.say(std::to_string(rc) + " " + (rc == GGAS_OK ? "" : ggas_error_text()));
    ggas_process_stop(p);
  });
  return one.next(0, soon);
}

TEST(library_hw, without_a_nic_the_start_says_why) {
  struct row {
    std::vector<std::string> variables;
    std::string text;
  };
  const std::string domain = "': must be 1 ... 65535";
  for (const row& r :
       std::initializer_list<row>{{{"GGAS_DEVICE=/dev/ggas_none"},
                                   "-13 NIC '/dev/ggas_none': does not exist: no NIC, or no driver (GGAS_DEVICE)"},
                                  {{"GGAS_DEVICE=/dev/null"}, "-13 NIC '/dev/null': is no NIC of GGAS (GGAS_DEVICE)"},
                                  {{"GGAS_DEVICE=/"}, "-13 NIC '/': opening: Is a directory"},
                                  {{"GGAS_DEVICE=/dev/null", "GGAS_DOMAIN=0"}, "-1 GGAS_DOMAIN = '0" + domain},
                                  {{"GGAS_DEVICE=/dev/null", "GGAS_DOMAIN=65536"}, "-1 GGAS_DOMAIN = '65536" + domain},
                                  {{"GGAS_DEVICE=/dev/null", "GGAS_DOMAIN=seven"}, "-1 GGAS_DOMAIN = 'seven" + domain},
                                  {{"GGAS_DEVICE=/dev/null", "GGAS_DOMAIN="}, "-1 GGAS_DOMAIN = '" + domain}}) {
    const std::string said = start_with(r.variables);
    EXPECT_TRUE(has(said, r.text)) << said;
  }
}

TEST(library_hw, what_ranks_tell_each_other_is_read_back) {
  const card one{0xfedcba9876543210, 0x1000, 0x123456000, {7, 200}, {65535, 3}};
  card read;
  ASSERT_TRUE(card::read(one.text(), read));
  EXPECT_EQ(read.text(), one.text());
  EXPECT_EQ(read.ident, one.ident);
  EXPECT_EQ(read.control, one.control);
  EXPECT_EQ(read.messages.vpid, 200);
  EXPECT_EQ(read.doorbell.node, 65535);
  for (const char* bad :
       {"", "1", "1 2 3 4 5 6", "0 2 3 4 5 6 7", "1 2 3 4 5 6 7 8", "1 2 3 4 5 6 7x", "1 2 3 10000 5 6 7",
        "1 2 3 4 100 6 7", "1 2 3 4 5 10000 7", "1 2 3 4 5 6 100", "g 2 3 4 5 6 7"})
    EXPECT_FALSE(card::read(bad, read)) << bad;
  std::mt19937 random(1);
  for (int i = 0; i < 20'000; ++i) {
    std::string text = one.text();
    text[random() % text.size()] = char(random());
    EXPECT_TRUE(!card::read(text, read) || read.ident != 0) << text;
  }
}

// A mapping whose pages are taken away, as a driver does.
struct taken_away {
  static constexpr size_t bytes = 8192;
  int fd = memfd_create("pages", MFD_CLOEXEC);
  volatile uint64_t* at = nullptr;
  taken_away() {
    if (ftruncate(fd, bytes) != 0) return;
    void* const m = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    at = m == MAP_FAILED ? nullptr : static_cast<volatile uint64_t*>(m);
    at[0] = 5;
    at[1023] = 5;
  }
  void go() const { EXPECT_EQ(ftruncate(fd, 0), 0); }
  ~taken_away() {
    munmap(const_cast<uint64_t*>(at), bytes);
    close(fd);
  }
};

TEST(library_hw, a_mapping_that_is_taken_away_reads_as_zeros_and_is_known_to_be) {
  const taken_away one, other;
  std::atomic<bool> lost{false}, other_lost{false};
  ASSERT_TRUE(library::hw::guard(one.at, one.bytes, &lost));
  ASSERT_TRUE(library::hw::guard(other.at, other.bytes, &other_lost));
  one.go();
  EXPECT_EQ(one.at[1023], 0u);
  EXPECT_TRUE(lost);
  one.at[0] = 3;  // may be written, to no effect
  EXPECT_EQ(other.at[0], 5u);
  EXPECT_FALSE(other_lost);
  library::hw::unguard(&lost);
  library::hw::unguard(&other_lost);
}

void own_handler(int) { _exit(42); }

TEST(library_hw, other_faults_end_as_before) {
  for (const bool handled : {false, true}) {
    processes all;
    all.start(0, [&](int, const voice&) {
      const taken_away guarded, others;
      std::atomic<bool> lost{false};
      signal(SIGBUS, handled ? own_handler : SIG_DFL);
      library::hw::guard(guarded.at, guarded.bytes, &lost);
      others.go();
      static_cast<void>(others.at[0]);
    });
    EXPECT_EQ(all.ending(0, soon), handled ? "exit 42" : "signal 7");
  }
}

TEST(library_hw, behind_the_last_nic_faults_are_the_programs_again) {
  processes all;
  all.start(0, [&](int, const voice&) {
    const taken_away one;
    std::atomic<bool> lost{false};
    signal(SIGBUS, own_handler);
    library::hw::guard(one.at, one.bytes, &lost);
    library::hw::unguard(&lost);
    struct sigaction now {};
    sigaction(SIGBUS, nullptr, &now);
    if (now.sa_handler != own_handler) return;
    one.go();
    static_cast<void>(one.at[0]);
  });
  EXPECT_EQ(all.ending(0, soon), "exit 42");
}

}  // namespace

}  // namespace ggas::library_test
