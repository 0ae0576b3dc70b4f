// SPDX-License-Identifier: Apache-2.0
// Who a process is, as the variables of launchers say.
#include "ggas/job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "tests/support/mangled.hpp"
#include "userlib/start/launcher.hpp"

namespace ggas {
namespace {

class environment : public testing::Test {
 protected:
  environment() {
    for (const char* v : variables) unsetenv(v);
  }
  static constexpr const char* variables[] = {
      "GGAS_RANK",      "GGAS_SIZE",    "GGAS_JOB",      "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
      "PMIX_NAMESPACE", "SLURM_PROCID", "SLURM_JOB_ID",  "SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_LOCAL_SIZE",
      "PMI_RANK",       "PMI_SIZE",     "SLURM_STEP_ID", "SLURM_STEP_NUM_NODES", "MPI_LOCALNRANKS",
      "PMI_JOBID"};
  static void set(const char* variable, const char* value) { setenv(variable, value, 1); }
  static void is(int rank, int size, const std::string& name) {
    std::string why;
    const job j = job::from_environment(why);
    EXPECT_EQ(why, "");
    EXPECT_EQ(j.rank, rank);
    EXPECT_EQ(j.size, size);
    EXPECT_EQ(j.name, name);
  }
  static void is_wrong(const std::string& text) {
    std::string why;
    EXPECT_TRUE(job::from_environment(why).alone());
    EXPECT_EQ(why, text);
  }
};

TEST_F(environment, without_a_launcher_a_process_is_alone) {
  std::string why = "x";
  EXPECT_TRUE(job::from_environment(why).alone());
  EXPECT_EQ(why, "");
}

TEST_F(environment, launchers_are_understood) {
  std::string why;
  set("SLURM_PROCID", "2");  // of a batch script, without srun: no step
  EXPECT_TRUE(job::from_environment(why).alone());
  set("SLURM_STEP_NUM_TASKS", "3");
  set("SLURM_JOB_ID", "77");
  set("SLURM_STEP_ID", "5");
  set("SLURM_STEP_NUM_NODES", "1");
  is(2, 3, "SLURM.77.5");
  set("PMI_RANK", "1");  // of MPICH's launcher, itself started by Slurm: the inner one counts
  set("PMI_SIZE", "2");
  is(1, 2, "PMI.launcher." + userlib::launcher_without("PMI_RANK"));
  set("PMI_JOBID", "77.6");
  is(1, 2, "PMI.77.6");
  set("OMPI_COMM_WORLD_RANK", "0");
  set("OMPI_COMM_WORLD_SIZE", "4");
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "4");
  set("PMIX_NAMESPACE", "prterun-9@1");
  is(0, 4, "OMPI.prterun-9@1");
  set("GGAS_RANK", "7");
  set("GGAS_SIZE", "8");
  set("GGAS_JOB", "mine");
  is(7, 8, "GGAS.mine");
}

TEST_F(environment, long_names_become_short_ones_and_differ) {
  const auto name_of = [](const std::string& space) {
    set("OMPI_COMM_WORLD_RANK", "0");
    set("OMPI_COMM_WORLD_SIZE", "1");
    set("PMIX_NAMESPACE", space.c_str());
    std::string why;
    return job::from_environment(why).name;
  };
  EXPECT_EQ(name_of(std::string(59, 'x')), "OMPI." + std::string(59, 'x'));
  const std::string a = name_of(std::string(255, 'x') + "@1"), b = name_of(std::string(255, 'x') + "@2");
  EXPECT_EQ(a.size(), 64u);
  EXPECT_EQ(a.substr(0, 10), "OMPI.xxxxx");
  EXPECT_NE(a, b);
}

TEST_F(environment, wrong_numbers_are_reported) {
  set("GGAS_RANK", "2");
  is_wrong("GGAS_SIZE = '': must be a number from 1 to 1024");
  set("GGAS_SIZE", "2");
  is_wrong("GGAS_RANK = '2': must be a number from 0 to 1");
  set("GGAS_RANK", "one");
  is_wrong("GGAS_RANK = 'one': must be a number from 0 to 1");
  set("GGAS_SIZE", "1025");
  is_wrong("GGAS_SIZE = '1025': must be a number from 1 to 1024");
}

// Variables that are missing, empty, or hold anything: a job that the bootstrap takes, or one of them is named.
TEST_F(environment, anything_may_be_in_the_variables) {
  std::mt19937 random(20144);
  unsigned alone = 0, jobs = 0, refused = 0;
  for (int i = 0; i < 20000; ++i) {
    const char* const good[] = {"0", "1", "2", "4", "4", "4", "1024", ""};
    for (const char* v : variables) {
      const std::string value = good[random() % std::size(good)];
      unsetenv(v);
      if (random() % 4 == 0) continue;
      set(v, (random() % 8 ? value : test::mangled(value, random, 3)).c_str());
    }
    std::string why = "before";
    const job j = job::from_environment(why);
    ++(!why.empty() ? refused : j.alone() ? alone : jobs);
    const auto named = [&](const char* v) { return why.starts_with(std::string(v) + " = "); };
    ASSERT_TRUE(why.empty() || (j.alone() && std::ranges::any_of(variables, named))) << why;
    ASSERT_TRUE(j.alone() || (j.rank < j.size && j.size <= 1024 && !j.name.empty() && j.name.size() <= 64)) << j.name;
  }
  EXPECT_GT(alone, 10u);
  EXPECT_GT(jobs, 1000u);
  EXPECT_GT(refused, 1000u);
}

TEST_F(environment, jobs_on_several_computers_are_refused) {
  set("OMPI_COMM_WORLD_RANK", "0");
  set("OMPI_COMM_WORLD_SIZE", "8");
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "4");
  is_wrong("OMPI_COMM_WORLD_SIZE = 8: the processes of the job are on several computers; they must all be on one");
  unsetenv("OMPI_COMM_WORLD_RANK");
  set("SLURM_PROCID", "0");
  set("SLURM_STEP_NUM_TASKS", "8");
  set("SLURM_STEP_NUM_NODES", "2");
  is_wrong("SLURM_STEP_NUM_TASKS = 8: the processes of the job are on several computers; they must all be on one");
  set("PMI_RANK", "0");  // by srun --mpi=pmi2
  set("PMI_SIZE", "8");
  is_wrong("PMI_SIZE = 8: the processes of the job are on several computers; they must all be on one");
  set("MPI_LOCALNRANKS", "8");  // by MPICH's launcher, that knows better than Slurm
  is(0, 8, "PMI.launcher." + userlib::launcher_without("PMI_RANK"));
}

}  // namespace
}  // namespace ggas
