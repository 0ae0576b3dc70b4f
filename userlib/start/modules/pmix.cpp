// SPDX-License-Identifier: Apache-2.0
// Blobs by PMIx, the interface of the launcher itself: mpirun and prterun, Slurm's srun --mpi=pmix.
#include <pmix.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "userlib/start/blobs.hpp"

namespace ggas::library::start {

namespace {

std::string text_of(pmix_status_t code) { return std::string("PMIx: ") + PMIx_Error_string(code); }

// What a call that does not wait says when it is done. The call keeps it: it may come after the time-out.
struct answer {
  std::mutex lock;
  std::condition_variable came;
  bool done = false;
  pmix_status_t code = PMIX_SUCCESS;
  std::string bytes;
};
using keeper = std::shared_ptr<answer>;

void tell(void* to, pmix_status_t code, std::string bytes) {
  const std::unique_ptr<keeper> kept(static_cast<keeper*>(to));
  const std::lock_guard held((*kept)->lock);
  (*kept)->done = true;
  (*kept)->code = code;
  (*kept)->bytes = std::move(bytes);
  (*kept)->came.notify_all();
}

void on_fence(pmix_status_t code, void* to) { tell(to, code, ""); }

void on_value(pmix_status_t code, pmix_value_t* v, void* to) {
  const bool good = code == PMIX_SUCCESS && v && v->type == PMIX_BYTE_OBJECT;
  tell(to, good || code != PMIX_SUCCESS ? code : PMIX_ERR_TYPE_MISMATCH,
       good ? std::string(v->data.bo.bytes, v->data.bo.size) : "");
}

// Begins a call and waits for its answer.
template <class Begin>
attempt<std::string> ask(deadline until, const std::string& late, Begin&& begin) {
  const keeper a = std::make_shared<answer>();
  auto kept = std::make_unique<keeper>(a);
  const pmix_status_t e = begin(kept.get());
  if (e == PMIX_OPERATION_SUCCEEDED) return "";  // at once: no process will call
  if (e != PMIX_SUCCESS) return std::unexpected(text_of(e));
  static_cast<void>(kept.release());
  std::unique_lock held(a->lock);
  if (!a->came.wait_until(held, until, [&] { return a->done; })) return std::unexpected(late);
  if (a->code != PMIX_SUCCESS) return std::unexpected(late + " (" + text_of(a->code) + ")");
  return a->bytes;
}

class pmix_blobs final : public blobs {
 public:
  static attempt<std::unique_ptr<blobs>> make() {
    auto b = std::make_unique<pmix_blobs>();
    if (const pmix_status_t e = PMIx_Init(&b->me_, nullptr, 0); e != PMIX_SUCCESS) return std::unexpected(text_of(e));
    b->begun_ = true;
    pmix_proc_t job = b->me_;
    job.rank = PMIX_RANK_WILDCARD;
    pmix_value_t* size = nullptr;
    if (const pmix_status_t e = PMIx_Get(&job, PMIX_JOB_SIZE, nullptr, 0, &size); e != PMIX_SUCCESS)
      return std::unexpected("size of the job: " + text_of(e));
    b->size_ = size->type == PMIX_UINT32 ? int(std::min(size->data.uint32, 1u << 20)) : 0;
    PMIX_VALUE_RELEASE(size);
    if (b->size_ < 1 || b->rank() < 0 || b->rank() >= b->size_)
      return std::unexpected("rank " + std::to_string(b->me_.rank) + " of " + std::to_string(b->size_) +
                             ": no such rank");
    return b;
  }
  ~pmix_blobs() override {
    if (begun_) PMIx_Finalize(nullptr, 0);
  }

  int rank() const override { return int(me_.rank); }
  int size() const override { return size_; }

  attempt<> put(const std::string& name, const std::string& bytes) override {
    pmix_value_t v;
    PMIX_VALUE_CONSTRUCT(&v);
    v.type = PMIX_BYTE_OBJECT;
    v.data.bo.bytes = const_cast<char*>(bytes.data());
    v.data.bo.size = bytes.size();
    pmix_status_t e = PMIx_Put(PMIX_GLOBAL, key(name).c_str(), &v);
    if (e == PMIX_SUCCESS) e = PMIx_Commit();
    return e == PMIX_SUCCESS ? attempt<>() : std::unexpected(text_of(e));
  }

  attempt<> fence(deadline until) override {
    const bool collect = true;
    pmix_info_t how;
    PMIX_INFO_CONSTRUCT(&how);
    PMIX_INFO_LOAD(&how, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    const auto done = ask(until, "other ranks did not arrive in time",
                          [&](keeper* to) { return PMIx_Fence_nb(nullptr, 0, &how, 1, on_fence, to); });
    PMIX_INFO_DESTRUCT(&how);
    return done ? attempt<>() : std::unexpected(done.error());
  }

  attempt<std::string> get(int rank, const std::string& name, deadline until) override {
    pmix_proc_t of = me_;
    of.rank = pmix_rank_t(rank);
    return ask(until, "rank " + std::to_string(rank) + " has not published '" + name + "'",
               [&](keeper* to) { return PMIx_Get_nb(&of, key(name).c_str(), nullptr, 0, on_value, to); });
  }

 private:
  // Each start of a process has keys of its own: the launcher keeps the old ones.
  static std::string next_start() {
    static std::atomic<unsigned> starts{0};
    return std::to_string(++starts);
  }
  std::string key(const std::string& name) const { return "ggas." + start_ + "." + name; }

  pmix_proc_t me_{};
  int size_ = 0;
  bool begun_ = false;
  const std::string start_ = next_start();
};

}  // namespace

}  // namespace ggas::library::start

extern "C" ggas::library::start::blobs* ggas_start_1(const void*, ggas::userlib::deadline, std::string& why) {
  using namespace ggas::library::start;
  if (!std::getenv("PMIX_NAMESPACE")) {
    why = "PMIX_NAMESPACE is not set: no launcher with PMIx started this process";
    return nullptr;
  }
  auto made = pmix_blobs::make();
  if (!made) why = made.error();
  return made ? made->release() : nullptr;
}
