// SPDX-License-Identifier: Apache-2.0
// One message of which this library moves the data: what the MPI below gets instead are packed bytes.
#pragma once

#include <memory>
#include <string>

#include "userlib/mpi/direct/fetch.hpp"
#include "userlib/mpi/direct/offer.hpp"
#include "userlib/mpi/watch.hpp"

namespace ggas::mpi {

// What an MPI function was called with.
struct arguments {
  const void* buffer;
  MPI_Count count;
  MPI_Datatype type;
};

// Data of a call that this library moves.
struct typed_data {
  std::shared_ptr<const layout> of;
  items data;
  memory* mover;  // null: the call is the MPI's alone

  explicit operator bool() const { return mover != nullptr; }
  uint64_t bytes() const { return data.bytes(); }
};

// Whose layouts are needed: data in memory of a GPU; host memory, too, for tickets.
enum class wanted { far, all };

// Empty if a call has an error that the MPI below reports. `error`: memory of a GPU that cannot be moved; `code`: an
// error of the MPI below, already reported.
struct recognised {
  typed_data found;
  std::string error;
  int code = MPI_SUCCESS;
};
recognised recognise(const arguments& a, MPI_Comm comm, wanted what = wanted::far);

// The GPU whose memory the data are in, without a look at their layout; null: of none.
memory* gpu_of(const arguments& a);

// `bytes` that lie in one piece, as the MPI below is informed; more than an int counts need a datatype of their own.
class wire_bytes {
 public:
  explicit wire_bytes(uint64_t bytes);
  wire_bytes(const wire_bytes&) = delete;
  wire_bytes& operator=(const wire_bytes&) = delete;
  ~wire_bytes();

  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  int count_;
  MPI_Datatype type_ = MPI_BYTE;
};

// What one side of a call has the MPI below send or receive instead of its data. Errors are texts.
class message {
 public:
  // Data that are packed in memory of the host.
  static std::unique_ptr<message> of(typed_data data, std::string& why);
  // Data that the receiver fetches; null: it cannot. `to`: rank in MPI_COMM_WORLD.
  static std::unique_ptr<message> on_offer(const typed_data& data, int to, int tag);
  // A receive that the MPI below does by itself, unless what comes is on offer.
  static std::unique_ptr<message> plain(typed_data data);

  std::string pack();
  // Unpacks the bytes that have arrived; the status has their number.
  direct::problem unpack(MPI_Status& status);
  // Ends a message that was sent. After it the data may be overwritten.
  std::string settle(void (*meanwhile)()) { return offer_ ? offer_->settle(meanwhile) : ""; }
  // It was not sent after all.
  void withdraw();

  bool is_plain() const { return !packed_ && !offer_; }
  const void* packed() const { return offer_ ? offer_->wire() : packed_.get(); }
  const wire_bytes& wire() const { return wire_; }
  // The ticket among the bytes that have come.
  std::optional<direct::ticket> ticket_of(uint64_t bytes) const;

 private:
  message(typed_data data, staging packed, uint64_t wire)
      : data_(std::move(data)), packed_(std::move(packed)), wire_(wire) {}

  typed_data data_;
  staging packed_;
  std::unique_ptr<direct::offer> offer_;
  wire_bytes wire_;
};

// Counts a message, or a call of MPI_Pack or MPI_Unpack, whose data this library moves.
void count_moved();
uint64_t moved_so_far();

// A line on the standard error: "MPI_Send: text".
void report(const char* call, const std::string& text);
// Says the error on the standard error, as "MPI_Send: text", and calls the communicator's handler with the class.
int fail(MPI_Comm comm, const char* call, const std::string& text, int error_class);

}  // namespace ggas::mpi

// How many so far. For programs, too: by dlsym.
extern "C" uint64_t ggas_mpi_types_moved();
