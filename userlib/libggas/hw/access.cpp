// SPDX-License-Identifier: Apache-2.0
// NICs through the driver, with separate contexts for each rank. A waiting call polls for a while and then sleeps until
// an interrupt of the driver: docs/libggas.md.
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "userlib/libggas/hw/rank_gpu.hpp"
#include "userlib/libggas/hw/rank_states.hpp"
#include "userlib/libggas/job/meeting.hpp"
#include "userlib/start/message.hpp"

namespace ggas::library::hw {

namespace {

constexpr unsigned spins = 50, yields = 100;  // rounds of a wait, before it sleeps
constexpr uint64_t sleep_ns = 50'000'000;     // then it looks again: a rank that was not woken in time waits so long
constexpr uint64_t nap_ns = 50'000,
                   nap_rounds = 20;  // for the NIC itself, which wakes no process; longer with each round

class hw_access final : public nic::access {
 public:
  explicit hw_access(const job& j) : rank_(unsigned(j.rank)), size_(unsigned(j.size)) {}
  ~hw_access() override;
  ggas_rc start(const job& j, std::unique_ptr<start::blobs> met);

  unsigned rank() const override { return rank_; }
  unsigned size() const override { return size_; }
  ggas_rma_context& context(unsigned i) override { return contexts_[i]->rma; }
  ggas_rma_peer peer(unsigned rank) const override { return rank_states_.of(rank).messages; }
  nic::aimed aim(unsigned rank, unsigned context) override {
    return rank_states_.aim(rank, context, contexts_[context]->rma);
  }

  ggas_rc take(uint64_t bytes, void* bound, nic::memory& m) override { return device_.take(bytes, bound, m); }
  ggas_rc take(const buffer& b, nic::memory& m, bool& elsewhere) override { return device_.take(b, m, elsewhere); }
  void give(const nic::memory& m) override {
    if (!gpu_.give(m)) device_.give(m);
  }
  uint64_t nla_of(const void* at, uint64_t bytes) const override;

  ggas_rc open_gpu(const char* module, int number, uint64_t bytes, uint64_t kept, gpu_memory& m) override {
    return gpu_.open({rank_, size_}, module, number, bytes, kept, m);
  }
  ggas_rc take_gpu(uint64_t bytes, nic::memory& m) override { return gpu_.take(bytes, m); }
  bool on_gpu(const void* at) const override { return gpu_.holds(at); }
  bool reaches(const void* at, uint64_t bytes) const override { return device_.nla_of(at, bytes) != 0; }
  ggas_rc begin_copy(void* to, const void* from, uint64_t bytes) override { return gpu_.copy(to, from, bytes); }
  void end_copy() override {}

  ggas_rc tell_all(uint64_t mine, std::vector<uint64_t>& all) override;

  void call() override;
  void pause(std::span<const nic::watched> at, uint64_t ns, unsigned round) override;
  uint64_t longest_pause_ns() const override { return sleep_ns; }
  void awake() override;
  void disturb() override;
  uint64_t time_ns() override { return computer_ns() - program_began_ns; }
  unsigned ended() const override { return rank_states_.ended(); }
  ggas_state state(unsigned rank) override { return rank == rank_ ? GGAS_STATE_HEALTHY : rank_states_.state(rank); }
  ggas_rc kill(unsigned rank) override;

 private:
  void sleep(bool for_messages, uint64_t ns);
  void doze(uint64_t ns, bool armed);

  unsigned rank_, size_;
  device device_;
  rank_gpu gpu_{device_};
  rank_states rank_states_{device_};
  rank_states::contexts contexts_{};
  std::unique_ptr<start::meeting> meeting_;  // until all have informed each other
  limit until_ = limit::after(0);
  userlib::file disturbed_;
  std::atomic<bool> wanted_{false};
};

// ---------------------------------------------------------------------------------------------- start, end

ggas_rc hw_access::start(const job& j, std::unique_ptr<start::blobs> met) {
  until_ = limit::after(j.timeout_ns).begin();
  disturbed_ = userlib::file(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!disturbed_) return fail_system("an event of this process");
  ggas_rc opened = device_.open();
  if (opened == GGAS_OK) opened = rank_states_.open(rank_, size_);
  // One message of a rank waits: there is always room.
  const auto mailbox_log2 = std::max(4u, unsigned(std::bit_width(size_)));
  for (unsigned c = 0; opened == GGAS_OK && c < nic::contexts; ++c) {
    const bool takes = c == nic::answer_context;
    opened = device_.begin_context(contexts_[c], takes, takes ? mailbox_log2 : 0);
  }
  if (opened != GGAS_OK) return opened;
  auto m = start::make_meeting(j, std::move(met));
  if (!m) return fail(until_.passed() ? GGAS_TIMEOUT : GGAS_ERR_SYSTEM, "start: ", m.error());
  meeting_ = std::move(*m);
  return GGAS_OK;
}

ggas_rc hw_access::tell_all(uint64_t mine, std::vector<uint64_t>& all) {
  card own = rank_states_.own();
  own.control = mine;
  own.messages = contexts_[nic::answer_context]->self;
  const auto reported = meeting_->tell("NIC", own.text());
  if (!reported) return fail(until_.passed() ? GGAS_TIMEOUT : GGAS_ERR_SYSTEM, "start: ", reported.error());
  std::vector<card> cards(size_);
  for (unsigned r = 0; r < size_; ++r)
    if (!card::read((*reported)[r], cards[r]))
      return fail(GGAS_ERR_SYSTEM, "start: rank ", r, " sent data that do not describe a NIC");
  all.clear();
  for (const card& c : cards) all.push_back(c.control);
  rank_states_.set_cards(std::move(cards));
  meeting_.reset();
  return GGAS_OK;
}

hw_access::~hw_access() {
  try {
    if (!device_.lost()) rank_states_.leave();
  } catch (const std::exception&) {
    // No process can be informed: they find out.
  }
}

// ---------------------------------------------------------------------------------------------- waiting

void hw_access::call() {
  device_.expect();
  rank_states_.wake_late(contexts_);
}

// Another thread waits for its turn: the process that sleeps wakes up.
void hw_access::disturb() {
  wanted_ = true;
  const uint64_t one = 1;
  if (write(disturbed_.fd(), &one, sizeof one) < 0) return;  // full: it is readable
}

void hw_access::pause(std::span<const nic::watched> at, uint64_t ns, unsigned round) {
  using writer = nic::watched::writer;
  const bool woken = rank_states_.look();
  rank_states_.wake_late(contexts_);
  if (woken || ns == 0 || round < spins || wanted_.exchange(false)) return;
  if (round < spins + yields) {
    sched_yield();
    return;
  }
  const auto any = [&](writer who) { return std::ranges::any_of(at, [&](const auto& w) { return w.by == who; }); };
  if (any(writer::nic))
    doze(std::min(ns, nap_ns * std::min<uint64_t>(round - spins - yields + 1, nap_rounds)), false);
  else if (size_ > 1 && !rank_states_.asleep())
    rank_states_.fall_asleep();  // the process that writes from now on wakes this rank; what came before is looked for
                                 // once more
  else
    sleep(any(writer::senders), std::min(ns, sleep_ns));
}

// No record between the last poll and the arming is missed: the context then fires at once (docs/interrupts.md).
void hw_access::sleep(bool for_messages, uint64_t ns) {
  ggas_rma_arm_notes(&rank_states_.context().rma);
  if (for_messages) ggas_rma_arm_messages(&contexts_[nic::answer_context]->rma);
  doze(ns, true);
}

void hw_access::doze(uint64_t ns, bool armed) {
  pollfd ends[3] = {{disturbed_.fd(), POLLIN, 0},
                    {rank_states_.context().eventfd, POLLIN, 0},
                    {contexts_[nic::answer_context]->eventfd, POLLIN, 0}};
  const timespec time{time_t(ns / 1'000'000'000), long(ns % 1'000'000'000)};
  const int n = ppoll(ends, armed ? 3 : 1, &time, nullptr);
  uint64_t count;
  for (int i = 0; n > 0 && i < (armed ? 3 : 1); ++i)
    if (ends[i].revents && read(ends[i].fd, &count, sizeof count) < 0) continue;  // another thread took it
}

void hw_access::awake() {
  if (rank_states_.asleep() && !device_.lost()) rank_states_.awake();
}

// ---------------------------------------------------------------------------------------------- others

uint64_t hw_access::nla_of(const void* at, uint64_t bytes) const {
  if (const uint64_t nla = device_.nla_of(at, bytes)) return nla;
  throw failure(GGAS_ERR_SEGMENT, "memory of the user: the segment was deleted");
}

ggas_rc hw_access::kill(unsigned rank) {
  return fail(GGAS_ERR_SYSTEM, "rank ", rank, ": ranks with NICs are ended by their launcher");
}

}  // namespace

}  // namespace ggas::library::hw

namespace ggas::library::nic {

ggas_rc make_hw_access(const job& j, std::unique_ptr<start::blobs> met, std::unique_ptr<access>& made) {
  auto a = std::make_unique<hw::hw_access>(j);
  const ggas_rc rc = a->start(j, std::move(met));
  if (rc == GGAS_OK) made = std::move(a);
  return rc;
}

}  // namespace ggas::library::nic
