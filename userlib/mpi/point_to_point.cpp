// SPDX-License-Identifier: Apache-2.0
// Sends and receives that stand before those of the MPI below. A message is sent as its packed bytes: that is what both
// MPIs send of any datatype on computers of one kind, so the other side may be the MPI alone.
#include "userlib/mpi/requests.hpp"

namespace ggas::mpi {

namespace {

// One side of a call: its own arguments, or packed bytes in their place.
class side {
 public:
  // `peer`: nothing is moved for MPI_PROC_NULL.
  side(const char* call, MPI_Comm comm, const arguments& a, int peer) : call_(call), comm_(comm), given_(a) {
    if (peer == MPI_PROC_NULL) return;
    recognised r = recognise(a);
    std::string why = r.error;
    if (r.found) data_ = message::of(std::move(r.found), why);
    if (!why.empty()) error_ = fail(comm, call, why, r.error.empty() ? MPI_ERR_NO_MEM : MPI_ERR_TYPE);
  }

  int error() const { return error_; }
  bool ours() const { return data_ != nullptr; }
  int pack() { return ours() ? told(data_->pack()) : MPI_SUCCESS; }
  int unpack(const MPI_Status& status) { return ours() ? told(data_->unpack(status)) : MPI_SUCCESS; }
  std::unique_ptr<message> hand_over() { return std::move(data_); }

  void* buffer() const { return ours() ? data_->packed() : const_cast<void*>(given_.buffer); }
  int count() const { return ours() ? data_->wire().count() : given_.count; }
  MPI_Datatype type() const { return ours() ? data_->wire().type() : given_.type; }

 private:
  int told(const std::string& wrong) { return wrong.empty() ? MPI_SUCCESS : fail(comm_, call_, wrong, MPI_ERR_OTHER); }

  const char* call_;
  MPI_Comm comm_;
  arguments given_;
  std::unique_ptr<message> data_;
  int error_ = MPI_SUCCESS;
};

struct envelope {
  int peer, tag;
  MPI_Comm comm;
};

template <class Below>
int send(const char* call, Below below, const arguments& a, const envelope& e) {
  look_after_given_up();
  side s(call, e.comm, a, e.peer);
  if (s.error() != MPI_SUCCESS) return s.error();
  if (const int error = s.pack(); error != MPI_SUCCESS) return error;
  return below(s.buffer(), s.count(), s.type(), e.peer, e.tag, e.comm);
}

template <class Below>
int begin(const char* call, Below below, const arguments& a, const envelope& e, MPI_Request* request, bool receives) {
  look_after_given_up();
  side s(call, e.comm, a, e.peer);
  if (s.error() != MPI_SUCCESS) return s.error();
  if (const int error = receives ? MPI_SUCCESS : s.pack(); error != MPI_SUCCESS) return error;
  const int error = below(s.buffer(), s.count(), s.type(), e.peer, e.tag, e.comm, request);
  if (error == MPI_SUCCESS && s.ours()) keep(*request, {s.hand_over(), receives});
  return error;
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

extern "C" {

// A mode of sending: blocking, and begun.
#define GGAS_SEND(blocking, begun)                                                                       \
  int MPI_##blocking(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) { \
    return send("MPI_" #blocking, PMPI_##blocking, {buffer, count, type}, {to, tag, comm});              \
  }                                                                                                      \
  int MPI_##begun(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,      \
                  MPI_Request* request) {                                                                \
    return begin("MPI_" #begun, PMPI_##begun, {buffer, count, type}, {to, tag, comm}, request, false);   \
  }
GGAS_SEND(Send, Isend)
GGAS_SEND(Bsend, Ibsend)
GGAS_SEND(Ssend, Issend)
GGAS_SEND(Rsend, Irsend)
#undef GGAS_SEND

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  look_after_given_up();
  side s("MPI_Recv", comm, {buffer, count, type}, from);
  if (s.error() != MPI_SUCCESS) return s.error();
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE && s.ours()) status = &own;
  const int error = PMPI_Recv(s.buffer(), s.count(), s.type(), from, tag, comm, status);
  return error == MPI_SUCCESS && s.ours() ? s.unpack(*status) : error;
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  return begin("MPI_Irecv", PMPI_Irecv, {buffer, count, type}, {from, tag, comm}, request, true);
}

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  look_after_given_up();
  side sent("MPI_Sendrecv", comm, {out, out_count, out_type}, to);
  side received("MPI_Sendrecv", comm, {in, in_count, in_type}, from);
  for (const side* s : {&sent, &received})
    if (s->error() != MPI_SUCCESS) return s->error();
  if (const int error = sent.pack(); error != MPI_SUCCESS) return error;
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE && received.ours()) status = &own;
  const int error = PMPI_Sendrecv(sent.buffer(), sent.count(), sent.type(), to, out_tag, received.buffer(),
                                  received.count(), received.type(), from, in_tag, comm, status);
  return error == MPI_SUCCESS && received.ours() ? received.unpack(*status) : error;
}
}
