// SPDX-License-Identifier: Apache-2.0
// Files on a disk that is full after any number of bytes.
#include "sim/trace/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>
#include <random>

namespace ggas::test {
namespace {

using trace::whole_file;

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// No file of this process grows beyond so many bytes while it lives.
class small_disk {
 public:
  explicit small_disk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &now);
  }
  ~small_disk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

class whole_files : public testing::Test {
 protected:
  std::filesystem::path path_ =
      std::filesystem::path(testing::TempDir()) / (std::string("ggas_whole_file_") + std::to_string(getpid()));
  ~whole_files() override { std::filesystem::remove(path_); }
};

// Pieces of all sizes, flushes at random places, every limit: what is there is head, whole pieces, tail.
TEST_F(whole_files, hold_whole_pieces_and_the_tail_on_every_disk) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 1000; ++round) {
    const std::string head(random() % 4 * 3, 'h'), tail(random() % 3 * 2, 't');
    const size_t most = random() % 400;
    std::vector<std::string> pieces(random() % 20);
    for (std::string& p : pieces) p.assign(1 + random() % 40, static_cast<char>('A' + random() % 6));
    bool ok = false;
    std::string error;
    {
      const small_disk disk(most);
      auto f = whole_file::open(path_, head, tail);
      ASSERT_TRUE(f) << f.error();
      for (const std::string& p : pieces) {
        (*f)->add(p);
        if (random() % 3 == 0) (*f)->flush();
      }
      const auto finished = (*f)->finish();
      ok = finished.has_value();
      if (!ok) error = finished.error();
    }
    std::string expected = head + tail;
    size_t kept = 0;
    for (; kept < pieces.size() && expected.size() + pieces[kept].size() <= most; ++kept)
      expected.insert(expected.size() - tail.size(), pieces[kept]);
    EXPECT_EQ(ok, kept == pieces.size() && (head + tail).size() <= most);
    if ((head + tail).size() > most) {
      EXPECT_FALSE(std::filesystem::exists(path_)) << "nobody can read it";
      EXPECT_NE(error.find("removed"), std::string::npos) << error;
      continue;
    }
    ASSERT_EQ(contents(path_), expected) << "most " << most << ", " << error;
    if (!ok) {
      EXPECT_NE(error.find("holds " + std::to_string(kept) + " of " + std::to_string(pieces.size())), std::string::npos)
          << error;
    }
  }
}

TEST_F(whole_files, can_be_read_while_they_are_written) {
  auto f = whole_file::open(path_, "[", "]");
  ASSERT_TRUE(f);
  EXPECT_EQ(contents(path_), "[]");
  (*f)->add("1");
  (*f)->flush();
  EXPECT_EQ(contents(path_), "[1]");
  (*f)->add(",2");
  EXPECT_TRUE((*f)->finish());
  EXPECT_EQ(contents(path_), "[1,2]");
}

// Each would write over the other.
TEST_F(whole_files, have_one_writer_at_a_time) {
  auto first = whole_file::open(path_, "[", "]");
  ASSERT_TRUE(first);
  (*first)->add("1");
  (*first)->flush();
  const auto second = whole_file::open(path_);
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().find(path_.string() + ": is being written by another run"), std::string::npos)
      << second.error();
  EXPECT_EQ(contents(path_), "[1]");
  EXPECT_TRUE((*first)->finish());
  EXPECT_TRUE(whole_file::open(path_)) << "it is free again";
  const auto device = whole_file::open("/dev/null"), shared = whole_file::open("/dev/null");
  EXPECT_TRUE(device && shared);
}

TEST_F(whole_files, say_what_cannot_be_opened) {
  const auto f = whole_file::open("/dev/null/x");
  ASSERT_FALSE(f);
  EXPECT_EQ(f.error(), "/dev/null/x: cannot be written: Not a directory");
}

}  // namespace
}  // namespace ggas::test
