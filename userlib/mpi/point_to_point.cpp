// SPDX-License-Identifier: Apache-2.0
// Sends and receives in front of those of the MPI below. A message is sent as its packed bytes: both MPIs do the same
// with any datatype on computers of one kind, so the other side may be the MPI alone.
#include "userlib/mpi/below.hpp"
#include "userlib/mpi/direct/ranks.hpp"
#include "userlib/mpi/requests.hpp"

namespace ggas::mpi {

namespace {

struct envelope {
  int peer, tag;
  MPI_Comm comm;
};

enum class role { sends, receives };
enum class turns { one, many };  // many: the request persists

// One side of a call: its own arguments, or packed bytes or a ticket in their place.
class side {
 public:
  // Nothing is moved for MPI_PROC_NULL.
  side(const char* call, const arguments& a, const envelope& e, role r, turns t = turns::one)
      : call_(call), comm_(e.comm), given_(a) {
    if (e.peer == MPI_PROC_NULL) return;
    recognised found = recognise(a);
    std::string why = found.error;
    if (found.found)
      choose(std::move(found.found), e, r == role::sends && t == turns::one, why);
    else if (r == role::receives && found.found.of && direct::table::here())
      data_ = message::plain(std::move(found.found));
    if (!why.empty()) error_ = fail(comm_, call, why, found.error.empty() ? MPI_ERR_NO_MEM : MPI_ERR_TYPE);
  }

  int error() const { return error_; }
  // The MPI below gets something else than the arguments.
  bool ours() const { return data_ && !data_->is_plain(); }
  // Something is to be done when the MPI below has done its part.
  bool kept() const { return data_ != nullptr; }
  int pack() { return ours() ? reported({data_->pack()}) : MPI_SUCCESS; }
  int unpack(MPI_Status& status) { return data_ ? reported(data_->unpack(status)) : MPI_SUCCESS; }
  // After the MPI below has sent it, with this error.
  int sent(int error) {
    if (!data_) return error;
    if (error == MPI_SUCCESS) return reported({data_->settle(fetch_begun)});
    data_->withdraw();
    return error;
  }
  std::unique_ptr<message> hand_over() { return std::move(data_); }

  void* buffer() const { return const_cast<void*>(ours() ? data_->packed() : given_.buffer); }
  int count() const { return ours() ? data_->wire().count() : given_.count; }
  MPI_Datatype type() const { return ours() ? data_->wire().type() : given_.type; }

 private:
  void choose(typed_data d, const envelope& e, bool may_offer, std::string& why) {
    if (may_offer && direct::table::here() && d.mover == direct::own_gpu())
      data_ = message::on_offer(d, direct::world_rank(e.comm, e.peer), e.tag);
    if (!data_) data_ = message::of(std::move(d), why);
  }
  int reported(const direct::problem& p) {
    return p.text.empty() ? MPI_SUCCESS : fail(comm_, call_, p.text, p.error_class);
  }

  const char* call_;
  MPI_Comm comm_;
  arguments given_;
  std::unique_ptr<message> data_;
  int error_ = MPI_SUCCESS;
};

template <class Work>
int send(const char* call, Work work, const arguments& a, const envelope& e) {
  look_after_given_up();
  side s(call, a, e, role::sends);
  if (s.error() != MPI_SUCCESS) return s.error();
  if (const int error = s.pack(); error != MPI_SUCCESS) return error;
  return s.sent(work(s.buffer(), s.count(), s.type(), e.peer, e.tag, e.comm));
}

// `work(side)` calls the MPI's function.
template <class Work>
int receive(const char* call, Work work, const arguments& a, const envelope& e, MPI_Status* status) {
  look_after_given_up();
  side s(call, a, e, role::receives);
  if (s.error() != MPI_SUCCESS) return s.error();
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE && s.kept()) status = &own;
  const int error = work(s, status);
  return error == MPI_SUCCESS && s.kept() ? s.unpack(*status) : error;
}

template <class Work>
int begin(const char* call, Work work, const arguments& a, const envelope& e, MPI_Request* request, role r,
          turns t = turns::one) {
  look_after_given_up();
  side s(call, a, e, r, t);
  if (s.error() != MPI_SUCCESS) return s.error();
  const bool packs = r == role::sends && t == turns::one;
  if (const int error = packs ? s.pack() : MPI_SUCCESS; error != MPI_SUCCESS) return error;
  const int error = work(s, request);
  const bool persists = t == turns::many;
  if (error == MPI_SUCCESS && s.kept())
    keep(*request, {s.hand_over(), r == role::receives, {}, {}, {}, persists, !persists});
  return error == MPI_SUCCESS ? error : r == role::sends ? s.sent(error) : error;
}

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

extern "C" {

// A mode of sending: blocking, begun, and again and again.
#define GGAS_SEND(blocking, begun, persistent)                                                                         \
  int MPI_##blocking(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {               \
    return send("MPI_" #blocking, below.blocking, {buffer, count, type}, {to, tag, comm});                             \
  }                                                                                                                    \
  int MPI_##begun(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,                    \
                  MPI_Request* request) {                                                                              \
    const auto work = [&](side& s, MPI_Request* r) {                                                                   \
      return below.begun(s.buffer(), s.count(), s.type(), to, tag, comm, r);                                           \
    };                                                                                                                 \
    return begin("MPI_" #begun, work, {buffer, count, type}, {to, tag, comm}, request, role::sends);                   \
  }                                                                                                                    \
  int MPI_##persistent(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,               \
                       MPI_Request* request) {                                                                         \
    const auto work = [&](side& s, MPI_Request* r) {                                                                   \
      return below.persistent(s.buffer(), s.count(), s.type(), to, tag, comm, r);                                      \
    };                                                                                                                 \
    return begin("MPI_" #persistent, work, {buffer, count, type}, {to, tag, comm}, request, role::sends, turns::many); \
  }
GGAS_SEND(Send, Isend, Send_init)
GGAS_SEND(Bsend, Ibsend, Bsend_init)
GGAS_SEND(Ssend, Issend, Ssend_init)
GGAS_SEND(Rsend, Irsend, Rsend_init)
#undef GGAS_SEND

int MPI_Recv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status) {
  const auto work = [&](side& s, MPI_Status* t) {
    return below.Recv(s.buffer(), s.count(), s.type(), from, tag, comm, t);
  };
  return receive("MPI_Recv", work, {buffer, count, type}, {from, tag, comm}, status);
}

int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  const auto work = [&](side& s, MPI_Request* r) {
    return below.Irecv(s.buffer(), s.count(), s.type(), from, tag, comm, r);
  };
  return begin("MPI_Irecv", work, {buffer, count, type}, {from, tag, comm}, request, role::receives);
}

int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* request) {
  const auto work = [&](side& s, MPI_Request* r) {
    return below.Recv_init(s.buffer(), s.count(), s.type(), from, tag, comm, r);
  };
  return begin("MPI_Recv_init", work, {buffer, count, type}, {from, tag, comm}, request, role::receives, turns::many);
}

// The communicator of a probed message is not known.
int MPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* m, MPI_Status* status) {
  const auto work = [&](side& s, MPI_Status* t) { return below.Mrecv(s.buffer(), s.count(), s.type(), m, t); };
  return receive("MPI_Mrecv", work, {buffer, count, type}, {MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD}, status);
}

int MPI_Imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* m, MPI_Request* request) {
  const auto work = [&](side& s, MPI_Request* r) { return below.Imrecv(s.buffer(), s.count(), s.type(), m, r); };
  return begin("MPI_Imrecv", work, {buffer, count, type}, {MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD}, request,
               role::receives);
}

int MPI_Sendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  look_after_given_up();
  side sent("MPI_Sendrecv", {out, out_count, out_type}, {to, out_tag, comm}, role::sends);
  side received("MPI_Sendrecv", {in, in_count, in_type}, {from, in_tag, comm}, role::receives);
  for (const side* s : {&sent, &received})
    if (s->error() != MPI_SUCCESS) return sent.sent(s->error());
  if (const int error = sent.pack(); error != MPI_SUCCESS) return error;
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE && received.kept()) status = &own;
  const int error = below.Sendrecv(sent.buffer(), sent.count(), sent.type(), to, out_tag, received.buffer(),
                                   received.count(), received.type(), from, in_tag, comm, status);
  const int arrived = error == MPI_SUCCESS && received.kept() ? received.unpack(*status) : error;
  const int left = sent.sent(error);
  return arrived != MPI_SUCCESS ? arrived : left;
}

int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                         MPI_Comm comm, MPI_Status* status) {
  look_after_given_up();
  recognised found = recognise({buffer, count, type});
  std::unique_ptr<message> plain;
  if (found.found.of && !found.found && direct::table::here()) plain = message::plain(std::move(found.found));
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE && plain) status = &own;
  const int error = below.Sendrecv_replace(buffer, count, type, to, out_tag, from, in_tag, comm, status);
  if (error != MPI_SUCCESS || !plain) return error;
  const direct::problem p = plain->unpack(*status);
  return p.text.empty() ? error : fail(comm, "MPI_Sendrecv_replace", p.text, p.error_class);
}

int MPI_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
  const int error = below.Probe(from, tag, comm, status);
  if (error == MPI_SUCCESS) direct::correct(comm, status);
  return error;
}
int MPI_Iprobe(int from, int tag, MPI_Comm comm, int* there, MPI_Status* status) {
  const int error = below.Iprobe(from, tag, comm, there, status);
  if (error == MPI_SUCCESS && *there) direct::correct(comm, status);
  return error;
}
int MPI_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* m, MPI_Status* status) {
  const int error = below.Mprobe(from, tag, comm, m, status);
  if (error == MPI_SUCCESS) direct::correct(comm, status);
  return error;
}
int MPI_Improbe(int from, int tag, MPI_Comm comm, int* there, MPI_Message* m, MPI_Status* status) {
  const int error = below.Improbe(from, tag, comm, there, m, status);
  if (error == MPI_SUCCESS && *there) direct::correct(comm, status);
  return error;
}

GGAS_MPI_SENDS(GGAS_MPI_SECOND_NAME)
GGAS_MPI_RECEIVES(GGAS_MPI_SECOND_NAME)
}
