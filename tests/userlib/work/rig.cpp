// SPDX-License-Identifier: Apache-2.0
#include "tests/userlib/work/rig.hpp"

namespace ggas::test {
namespace {

std::vector<work_target> targets() {
  std::vector<work_target> all;
  for (const char* name : {"shm", "shm_threads", "sim", "cuda"}) {
    const std::string provider = std::string(name).substr(0, std::string(name).find('_'));
    const auto made = cluster::create({.provider = provider, .nodes = -1});
    if (made.error().text.find("linked with") != std::string::npos) continue;
    for (const executor e :
         {executor::fifo, executor::streams, executor::blocking, executor::by_hand, executor::graph, executor::workers})
      all.push_back({name, e});
  }
  return all;
}
INSTANTIATE_TEST_SUITE_P(by, work, testing::ValuesIn(targets()),
                         [](const auto& i) { return i.param.provider + "_" + name_of(i.param.how); });

}  // namespace
}  // namespace ggas::test
