// SPDX-License-Identifier: Apache-2.0
#include "userlib/mpi/message.hpp"

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdio>
#include <mutex>
#include <unordered_set>

#include "userlib/mpi/below.hpp"
#include "userlib/mpi/layouts.hpp"

namespace ggas::mpi {

namespace {

// Each thread counts by itself, since an addition to a common number takes as long as a sixth of a short pack.
class moved_messages {
 public:
  static void count() {
    thread_local moved_messages own;
    own.number_.store(own.number_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  static uint64_t of_all() {
    threads& t = all();
    const std::lock_guard one_at_a_time(t.lock);
    uint64_t sum = t.of_ended;
    for (const moved_messages* m : t.running) sum += m->number_.load(std::memory_order_relaxed);
    return sum;
  }

 private:
  struct threads {
    std::mutex lock;
    std::unordered_set<moved_messages*> running;
    uint64_t of_ended = 0;
  };
  // Never destroyed: threads may end after it would be.
  static threads& all() {
    static threads& made = *new threads;
    return made;
  }
  moved_messages() {
    const std::lock_guard one_at_a_time(all().lock);
    all().running.insert(this);
  }
  ~moved_messages() {
    const std::lock_guard one_at_a_time(all().lock);
    all().running.erase(this);
    all().of_ended += number_;
  }

  std::atomic<uint64_t> number_{0};
};

}  // namespace

void count_moved() { moved_messages::count(); }
uint64_t moved_so_far() { return moved_messages::of_all(); }

// A part of a number is received by Open MPI, and by MPICH only into data in one piece.
#ifdef MPICH_VERSION
constexpr bool reports_parts = true;
#else
constexpr bool reports_parts = false;
#endif

memory* gpu_of(const arguments& a) {
  if (a.count <= 0 || a.type == MPI_DATATYPE_NULL || !has_gpu_driver()) return nullptr;
  MPI_Count first = 0, extent = 0;
  PMPI_Type_get_true_extent_x(a.type, &first, &extent);
  return gpu_memory(
      reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(a.buffer) + static_cast<uintptr_t>(first)));
}

recognised recognise(const arguments& a, MPI_Comm comm, wanted what) {
  if (a.count <= 0 || a.type == MPI_DATATYPE_NULL || comm == MPI_COMM_NULL || !stays_out_for().empty()) return {};
  memory* const gpu = gpu_of(a);
  if (!gpu && !moves_host_memory() && what == wanted::far) return {};
  found_layout l = layout_of(a.type, comm);
  if (!l.made && !gpu && what == wanted::all) direct::close_to_offers();  // a receive that does not know tickets
  if (!l.made) return {{}, gpu && l.error == MPI_SUCCESS ? "datatype: " + l.why : "", l.error};
  const layout& of = *l.made;
  typed_data d{std::move(l.made),
               {&of, static_cast<char*>(const_cast<void*>(a.buffer)), static_cast<uint64_t>(a.count)},
               nullptr};
  uint64_t bytes = 0;
  if (of.size() == 0 || __builtin_mul_overflow(of.size(), d.data.count, &bytes) || bytes > LLONG_MAX) return {};
  d.mover = gpu ? gpu : moves_host_memory() && !of.dense(d.data.count) ? &host_memory() : nullptr;
  if (gpu) direct::meet(*gpu);
  return {std::move(d), {}};
}

wire_bytes::wire_bytes(uint64_t bytes) : count_(static_cast<int>(bytes)) {
  constexpr uint64_t chunk = uint64_t{1} << 30;
  if (bytes <= INT_MAX) return;
  MPI_Datatype gigabyte, all[2];
  PMPI_Type_contiguous(static_cast<int>(chunk), MPI_BYTE, &gigabyte);
  PMPI_Type_contiguous(static_cast<int>(bytes / chunk), gigabyte, &all[0]);
  PMPI_Type_contiguous(static_cast<int>(bytes % chunk), MPI_BYTE, &all[1]);
  const int ones[2] = {1, 1};
  const MPI_Aint places[2] = {0, static_cast<MPI_Aint>(bytes / chunk * chunk)};
  PMPI_Type_create_struct(2, ones, places, all, &type_);
  PMPI_Type_commit(&type_);
  for (MPI_Datatype* part : {&gigabyte, &all[0], &all[1]}) PMPI_Type_free(part);
  count_ = 1;
}

wire_bytes::~wire_bytes() {
  if (type_ != MPI_BYTE) PMPI_Type_free(&type_);
}

std::unique_ptr<message> message::of(typed_data data, std::string& why) {
  const uint64_t bytes = data.bytes();
  staging packed = data.mover->stage(bytes);
  if (!packed) {
    why = "no memory for " + std::to_string(bytes) + " bytes of packed data";
    return nullptr;
  }
  return std::unique_ptr<message>(new message(std::move(data), std::move(packed), bytes));
}

std::unique_ptr<message> message::on_offer(const typed_data& data, int to, int tag) {
  std::unique_ptr<direct::offer> offer = direct::offer::make(*data.mover, data.data, to, tag);
  if (!offer) return nullptr;
  std::unique_ptr<message> made(new message(data, {nullptr, nullptr}, offer->wire_bytes()));
  made->offer_ = std::move(offer);
  return made;
}

std::unique_ptr<message> message::plain(typed_data data) {
  return std::unique_ptr<message>(new message(std::move(data), {nullptr, nullptr}, 0));
}

std::string message::pack() {
  count_moved();
  return offer_ ? "" : data_.mover->pack(data_.data, data_.bytes(), packed_.get());
}

void message::withdraw() {
  if (offer_) offer_->withdraw();
}

std::optional<direct::ticket> message::ticket_of(uint64_t bytes) const {
  if (!direct::is_ticket_length(bytes)) return {};
  char first[direct::ticket_bytes];
  if (is_plain()) pack_on_host(data_.data, sizeof first, first);
  return direct::ticket_in(is_plain() ? first : packed_.get(), bytes);
}

direct::problem message::unpack(MPI_Status& status) {
  uint64_t bytes = direct::bytes_of(status);
  if (bytes == 0) return {};
  if (const std::optional<direct::ticket> t = ticket_of(bytes)) {
    direct::problem p = direct::fetch(*t, data_.data, is_plain() ? host_memory() : *data_.mover, bytes);
    direct::set_bytes(status, bytes);
    return p;
  }
  if (is_plain()) return {};
  count_moved();
  direct::problem p{data_.mover->unpack(data_.data, bytes, packed_.get())};
  if (p.text.empty() && reports_parts && !data_.of->dense(data_.data.count) && !data_.of->ends_primitive(bytes))
    p = {std::to_string(bytes) + " bytes have arrived: must end with a whole number of the datatype", MPI_ERR_TRUNCATE};
  return p;
}

void report(const char* call, const std::string& text) { std::fprintf(stderr, "%s: %s\n", call, text.c_str()); }

int fail(MPI_Comm comm, const char* call, const std::string& text, int error_class) {
  report(call, text);
  int there = 0;  // in a program of sessions MPI_COMM_WORLD is not
  PMPI_Initialized(&there);
  if (comm == MPI_COMM_WORLD && !there) return error_class;
  PMPI_Comm_call_errhandler(comm, error_class);
  return error_class;
}

}  // namespace ggas::mpi

extern "C" uint64_t ggas_mpi_types_moved() { return ggas::mpi::moved_so_far(); }
