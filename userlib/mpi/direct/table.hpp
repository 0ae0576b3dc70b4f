// SPDX-License-Identifier: Apache-2.0
// Shared memory of the processes of a job on one host for messages from GPU to GPU: which process can access whose
// memory, and the messages that senders offer (docs/datatypes.md, MPI programs).
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>

#include "userlib/mpi/direct/shared_file.hpp"
#include "userlib/mpi/memory.hpp"

namespace ggas::mpi::direct {

constexpr unsigned slots_of_process = 64;
constexpr uint64_t most_words = 384;  // of a layout's image

// State of an offered message. The receiver takes it from `offered` or from `packed`. The sender takes it from
// `offered` to `packing`, to free its memory. The first of the two moves the data.
enum class stage : uint64_t { free, offered, fetching, packing, packed, done };

struct slot {
  std::atomic<uint64_t> state;  // 8 * generation + stage
  std::atomic<int32_t> to, tag;
  std::atomic<uint64_t> bytes;  // of packed data
  shared_block own, middle;     // the sender's memory, and that of its library
  uint64_t own_at, own_count, middle_at;
  uint64_t layout, words;  // its number in the sender's process, words of its image
  ggas_type type;
  uint64_t image[most_words];
};

struct page {
  std::atomic<int32_t> process;     // its id; 0: it has not begun, or has ended
  std::atomic<uint32_t> closed;     // it has receives that do not know messages on offer
  std::atomic<uint32_t> has_hello;  // a block of its GPU, for others to try whether they reach it
  shared_block hello;
  slot slots[slots_of_process];
};

// What a receiver gets from the MPI below instead of the data.
struct ticket {
  uint64_t job[2];
  int32_t process;
  uint32_t slot;
  uint64_t generation;
  unsigned char unused[32];
};
// It is sent with as many bytes more as its slot's number says: who only asks how long a message is finds the slot.
constexpr uint64_t ticket_bytes = sizeof(ticket), longest_ticket = ticket_bytes + slots_of_process - 1;
static_assert(ticket_bytes == 64);
inline bool is_ticket_length(uint64_t n) { return n >= ticket_bytes && n <= longest_ticket; }

class table {
 public:
  // Null: there is none. Every process has its own page, by its rank in MPI_COMM_WORLD.
  static table* here();
  static void begin(int rank, int size);
  static void end();

  int me() const { return me_; }
  int size() const { return size_; }
  const uint64_t* job() const { return job_; }
  page& of(int process) { return *reinterpret_cast<page*>(file_->at() + offset(process)); }
  slot& slot_of(int process, unsigned i) { return of(process).slots[i]; }
  bool valid(int process) const { return process >= 0 && process < size_; }
  bool lives(int process);
  // Whether `process` reaches the memory of GPUs of `other`, as far as it has tried.
  std::atomic<uint8_t>& reaches(int process, int other);
  // How many processes have said hello.
  std::atomic<uint32_t>& greetings();

 private:
  table(int rank, int size, const std::string& key);
  ~table();
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  size_t page_bytes() const;
  size_t offset(int process) const { return 4096 + page_bytes() * static_cast<size_t>(process); }

  int me_, size_;
  uint64_t job_[2];
  std::unique_ptr<shared_file> file_;  // null: there is none
};

inline stage stage_of(uint64_t state) { return static_cast<stage>(state & 7); }
inline uint64_t state_of(uint64_t generation, stage s) { return generation << 3 | static_cast<uint64_t>(s); }

// Settings, looked at once.
uint64_t least_bytes();       // of a message that is handed over; ~0: none is
uint64_t timeout_ns();        // of a sender, before it packs
std::string setting_error();  // nothing if all is well

}  // namespace ggas::mpi::direct
