// SPDX-License-Identifier: Apache-2.0
// Sends and receives in front of those of the MPI below. A message is sent as its packed bytes: both MPIs do the same
// with any datatype on computers of one kind, so the other side may be the MPI alone.
#include "userlib/mpi/direct/ranks.hpp"
#include "userlib/mpi/entries.hpp"
#include "userlib/mpi/requests.hpp"

namespace ggas::mpi {

namespace {

struct envelope {
  int peer, tag;
  MPI_Comm comm;
};

enum class role { sends, receives };
// many: the request persists; replaced: the data are packed before they are overwritten.
enum class turns { one, many, replaced };

// One side of a call: its own arguments, or packed bytes or a ticket in their place.
class side {
 public:
  // Nothing is moved for MPI_PROC_NULL.
  side(const char* call, const arguments& a, const envelope& e, role r, turns t = turns::one)
      : call_(call), comm_(e.comm), given_(a) {
    if (e.peer == MPI_PROC_NULL) return;
    recognised found = recognise(a, e.comm, r == role::receives && direct::table::here() ? wanted::all : wanted::far);
    error_ = found.code;
    std::string why = found.error;
    if (found.found)
      choose(std::move(found.found), e, r == role::sends && t == turns::one, why);
    else if (r == role::receives && found.found.of)
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
  template <class Count>
  Count count() const {
    return ours() ? static_cast<Count>(data_->wire().count()) : static_cast<Count>(given_.count);
  }
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
  const attention to_given_up;
  side s(call, a, e, role::sends);
  if (s.error() != MPI_SUCCESS) return s.error();
  if (const int error = s.pack(); error != MPI_SUCCESS) return error;
  return s.sent(work(s));
}

// `work(side, status)` calls the MPI's function.
template <class Work>
int receive(const char* call, Work work, const arguments& a, const envelope& e, MPI_Status* status) {
  const attention to_given_up;
  side s(call, a, e, role::receives);
  if (s.error() != MPI_SUCCESS) return s.error();
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE && s.kept()) status = &own;
  const int error = work(s, status);
  return error == MPI_SUCCESS && s.kept() ? s.unpack(*status) : error;
}

// A receive in a process without the driver, by `work(status)`. If another thread has loaded the driver meanwhile, what
// has arrived may be a ticket.
template <class Work>
int receive_quietly(const char* call, Work work, const arguments& a, const envelope& e, MPI_Status* status) {
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE) status = &own;
  const int error = work(status);
  if (error != MPI_SUCCESS || quiet()) [[likely]]
    return error;
  side s(call, a, e, role::receives);
  return s.kept() && !s.ours() ? s.unpack(*status) : error;
}

template <class Work>
int begin(const char* call, Work work, const arguments& a, const envelope& e, MPI_Request* request, role r,
          turns t = turns::one) {
  const attention to_given_up;
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

// Both sides of a call that sends and receives. `work(sent, received, status)`.
template <class Work>
int exchange(const char* call, Work work, side& sent, side& received, MPI_Status* status) {
  for (const side* s : {&sent, &received})
    if (s->error() != MPI_SUCCESS) return sent.sent(s->error());
  if (const int error = sent.pack(); error != MPI_SUCCESS) return error;
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE && received.kept()) status = &own;
  const int error = work(sent, received, status);
  const int arrived = error == MPI_SUCCESS && received.kept() ? received.unpack(*status) : error;
  const int left = sent.sent(error);
  return arrived != MPI_SUCCESS ? arrived : left;
}

#if MPI_VERSION >= 4
// The same begun: one request for both. `work(sent, received, request)`.
template <class Work>
int begin_exchange(Work work, side& sent, side& received, MPI_Request* request) {
  for (const side* s : {&sent, &received})
    if (s->error() != MPI_SUCCESS) return sent.sent(s->error());
  if (const int error = sent.pack(); error != MPI_SUCCESS) return error;
  const int error = work(sent, received, request);
  if (error != MPI_SUCCESS) return sent.sent(error);
  if (!sent.kept() && !received.kept()) return error;
  begun both{received.hand_over(), true, {}, {}};
  if (sent.kept()) both.more.push_back(sent.hand_over());
  keep(*request, std::move(both));
  return error;
}
#endif

}  // namespace

}  // namespace ggas::mpi

using namespace ggas::mpi;

// Each function for counts of its kind: MPI_X with int, MPI_X_c with MPI_Count. Where there is nothing to do they go
// straight to the MPI below.
// A mode of sending: blocking, begun, and again and again.
#define GGAS_SEND(blocking, begun, persistent, Count)                                                                  \
  int ours_##blocking(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {            \
    if (quiet()) return below.blocking(buffer, count, type, to, tag, comm);                                            \
    const auto work = [&](side& s) { return below.blocking(s.buffer(), s.count<Count>(), s.type(), to, tag, comm); };  \
    return send("MPI_" #blocking, work, {buffer, count, type}, {to, tag, comm});                                       \
  }                                                                                                                    \
  int ours_##begun(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,                 \
                   MPI_Request* request) {                                                                             \
    if (quiet()) return below.begun(buffer, count, type, to, tag, comm, request);                                      \
    const auto work = [&](side& s, MPI_Request* r) {                                                                   \
      return below.begun(s.buffer(), s.count<Count>(), s.type(), to, tag, comm, r);                                    \
    };                                                                                                                 \
    return begin("MPI_" #begun, work, {buffer, count, type}, {to, tag, comm}, request, role::sends);                   \
  }                                                                                                                    \
  int ours_##persistent(const void* buffer, Count count, MPI_Datatype type, int to, int tag, MPI_Comm comm,            \
                        MPI_Request* request) {                                                                        \
    if (quiet()) return below.persistent(buffer, count, type, to, tag, comm, request);                                 \
    const auto work = [&](side& s, MPI_Request* r) {                                                                   \
      return below.persistent(s.buffer(), s.count<Count>(), s.type(), to, tag, comm, r);                               \
    };                                                                                                                 \
    return begin("MPI_" #persistent, work, {buffer, count, type}, {to, tag, comm}, request, role::sends, turns::many); \
  }

// A receive from a rank: `arguments` and `names` are those between the datatype and the last argument.
#define GGAS_RECEIVE(name, Count, arguments_given, names, from)                                                  \
  int ours_##name(void* buffer, Count count, MPI_Datatype type, GGAS_LIST arguments_given, MPI_Status* status) { \
    if (quiet())                                                                                                 \
      return receive_quietly(                                                                                    \
          "MPI_" #name, [&](MPI_Status* t) { return below.name(buffer, count, type, GGAS_LIST names, t); },      \
          {buffer, count, type}, from, status);                                                                  \
    const auto work = [&](side& s, MPI_Status* t) {                                                              \
      return below.name(s.buffer(), s.count<Count>(), s.type(), GGAS_LIST names, t);                             \
    };                                                                                                           \
    return receive("MPI_" #name, work, {buffer, count, type}, from, status);                                     \
  }
#define GGAS_BEGIN_RECEIVE(name, Count, arguments_given, names, from, times)                                       \
  int ours_##name(void* buffer, Count count, MPI_Datatype type, GGAS_LIST arguments_given, MPI_Request* request) { \
    if (quiet_for_receive()) return below.name(buffer, count, type, GGAS_LIST names, request);                     \
    const auto work = [&](side& s, MPI_Request* r) {                                                               \
      return below.name(s.buffer(), s.count<Count>(), s.type(), GGAS_LIST names, r);                               \
    };                                                                                                             \
    return begin("MPI_" #name, work, {buffer, count, type}, from, request, role::receives, times);                 \
  }
#define GGAS_LIST(...) __VA_ARGS__
#define GGAS_OF_RANK (int source, int tag, MPI_Comm comm), (source, tag, comm), (envelope{source, tag, comm})
// The communicator of a probed message is not known.
#define GGAS_PROBED (MPI_Message * m), (m), (envelope{MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD})
#define GGAS_EXPAND(macro, ...) macro(__VA_ARGS__)

#define GGAS_SENDRECV(name, Count)                                                                                   \
  int ours_##name(const void* out, Count out_count, MPI_Datatype out_type, int to, int out_tag, void* in,            \
                  Count in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {   \
    if (quiet())                                                                                                     \
      return receive_quietly(                                                                                        \
          "MPI_" #name,                                                                                              \
          [&](MPI_Status* t) {                                                                                       \
            return below.name(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, t);  \
          },                                                                                                         \
          {in, in_count, in_type}, {from, in_tag, comm}, status);                                                    \
    const attention to_given_up;                                                                                     \
    side sent("MPI_" #name, {out, out_count, out_type}, {to, out_tag, comm}, role::sends);                           \
    side received("MPI_" #name, {in, in_count, in_type}, {from, in_tag, comm}, role::receives);                      \
    const auto work = [&](side& s, side& r, MPI_Status* t) {                                                         \
      return below.name(s.buffer(), s.count<Count>(), s.type(), to, out_tag, r.buffer(), r.count<Count>(), r.type(), \
                        from, in_tag, comm, t);                                                                      \
    };                                                                                                               \
    return exchange("MPI_" #name, work, sent, received, status);                                                     \
  }

// Data that this library packs are sent and received as by `both`; all others are left to the MPI.
#define GGAS_SENDRECV_REPLACE(name, both, Count)                                                                     \
  int ours_##name(void* buffer, Count count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,           \
                  MPI_Comm comm, MPI_Status* status) {                                                               \
    const auto alone = [&](MPI_Status* t) {                                                                          \
      return below.name(buffer, count, type, to, out_tag, from, in_tag, comm, t);                                    \
    };                                                                                                               \
    if (quiet()) return receive_quietly("MPI_" #name, alone, {buffer, count, type}, {from, in_tag, comm}, status);   \
    const attention to_given_up;                                                                                     \
    side sent("MPI_" #name, {buffer, count, type}, {to, out_tag, comm}, role::sends, turns::replaced);               \
    side received("MPI_" #name, {buffer, count, type}, {from, in_tag, comm}, role::receives);                        \
    const auto work = [&](side& s, side& r, MPI_Status* t) {                                                         \
      if (!s.ours() && !r.ours()) return alone(t);                                                                   \
      return below.both(s.buffer(), s.count<Count>(), s.type(), to, out_tag, r.buffer(), r.count<Count>(), r.type(), \
                        from, in_tag, comm, t);                                                                      \
    };                                                                                                               \
    return exchange("MPI_" #name, work, sent, received, status);                                                     \
  }

#define GGAS_ISENDRECV(name, replace, Count)                                                                         \
  int ours_##name(const void* out, Count out_count, MPI_Datatype out_type, int to, int out_tag, void* in,            \
                  Count in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Request* request) { \
    if (quiet_for_receive())                                                                                         \
      return below.name(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, request);  \
    const attention to_given_up;                                                                                     \
    side sent("MPI_" #name, {out, out_count, out_type}, {to, out_tag, comm}, role::sends);                           \
    side received("MPI_" #name, {in, in_count, in_type}, {from, in_tag, comm}, role::receives);                      \
    const auto work = [&](side& s, side& r, MPI_Request* q) {                                                        \
      return below.name(s.buffer(), s.count<Count>(), s.type(), to, out_tag, r.buffer(), r.count<Count>(), r.type(), \
                        from, in_tag, comm, q);                                                                      \
    };                                                                                                               \
    return begin_exchange(work, sent, received, request);                                                            \
  }                                                                                                                  \
  int ours_##replace(void* buffer, Count count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,        \
                     MPI_Comm comm, MPI_Request* request) {                                                          \
    const auto alone = [&](MPI_Request* q) {                                                                         \
      return below.replace(buffer, count, type, to, out_tag, from, in_tag, comm, q);                                 \
    };                                                                                                               \
    if (quiet_for_receive()) return alone(request);                                                                  \
    const attention to_given_up;                                                                                     \
    side sent("MPI_" #replace, {buffer, count, type}, {to, out_tag, comm}, role::sends, turns::replaced);            \
    side received("MPI_" #replace, {buffer, count, type}, {from, in_tag, comm}, role::receives);                     \
    const auto work = [&](side& s, side& r, MPI_Request* q) {                                                        \
      if (!s.ours() && !r.ours()) return alone(q);                                                                   \
      return below.name(s.buffer(), s.count<Count>(), s.type(), to, out_tag, r.buffer(), r.count<Count>(), r.type(), \
                        from, in_tag, comm, q);                                                                      \
    };                                                                                                               \
    return begin_exchange(work, sent, received, request);                                                            \
  }

extern "C" {

GGAS_SEND(Send, Isend, Send_init, int)
GGAS_SEND(Bsend, Ibsend, Bsend_init, int)
GGAS_SEND(Ssend, Issend, Ssend_init, int)
GGAS_SEND(Rsend, Irsend, Rsend_init, int)
GGAS_EXPAND(GGAS_RECEIVE, Recv, int, GGAS_OF_RANK)
GGAS_EXPAND(GGAS_RECEIVE, Mrecv, int, GGAS_PROBED)
GGAS_EXPAND(GGAS_BEGIN_RECEIVE, Irecv, int, GGAS_OF_RANK, turns::one)
GGAS_EXPAND(GGAS_BEGIN_RECEIVE, Recv_init, int, GGAS_OF_RANK, turns::many)
GGAS_EXPAND(GGAS_BEGIN_RECEIVE, Imrecv, int, GGAS_PROBED, turns::one)
GGAS_SENDRECV(Sendrecv, int)
GGAS_SENDRECV_REPLACE(Sendrecv_replace, Sendrecv, int)

#if MPI_VERSION >= 4
GGAS_SEND(Send_c, Isend_c, Send_init_c, MPI_Count)
GGAS_SEND(Bsend_c, Ibsend_c, Bsend_init_c, MPI_Count)
GGAS_SEND(Ssend_c, Issend_c, Ssend_init_c, MPI_Count)
GGAS_SEND(Rsend_c, Irsend_c, Rsend_init_c, MPI_Count)
GGAS_EXPAND(GGAS_RECEIVE, Recv_c, MPI_Count, GGAS_OF_RANK)
GGAS_EXPAND(GGAS_RECEIVE, Mrecv_c, MPI_Count, GGAS_PROBED)
GGAS_EXPAND(GGAS_BEGIN_RECEIVE, Irecv_c, MPI_Count, GGAS_OF_RANK, turns::one)
GGAS_EXPAND(GGAS_BEGIN_RECEIVE, Recv_init_c, MPI_Count, GGAS_OF_RANK, turns::many)
GGAS_EXPAND(GGAS_BEGIN_RECEIVE, Imrecv_c, MPI_Count, GGAS_PROBED, turns::one)
GGAS_SENDRECV(Sendrecv_c, MPI_Count)
GGAS_SENDRECV_REPLACE(Sendrecv_replace_c, Sendrecv_c, MPI_Count)
GGAS_ISENDRECV(Isendrecv, Isendrecv_replace, int)
GGAS_ISENDRECV(Isendrecv_c, Isendrecv_replace_c, MPI_Count)
#endif

// Probes: the length of a message instead of that of its ticket.
int ours_Probe(int from, int tag, MPI_Comm comm, MPI_Status* status) {
  const int error = below.Probe(from, tag, comm, status);
  if (error == MPI_SUCCESS) direct::correct(comm, status);
  return error;
}
int ours_Iprobe(int from, int tag, MPI_Comm comm, int* there, MPI_Status* status) {
  const int error = below.Iprobe(from, tag, comm, there, status);
  if (error == MPI_SUCCESS && *there) direct::correct(comm, status);
  return error;
}
int ours_Mprobe(int from, int tag, MPI_Comm comm, MPI_Message* m, MPI_Status* status) {
  const int error = below.Mprobe(from, tag, comm, m, status);
  if (error == MPI_SUCCESS) direct::correct(comm, status);
  return error;
}
int ours_Improbe(int from, int tag, MPI_Comm comm, int* there, MPI_Message* m, MPI_Status* status) {
  const int error = below.Improbe(from, tag, comm, there, m, status);
  if (error == MPI_SUCCESS && *there) direct::correct(comm, status);
  return error;
}

GGAS_MPI_SENDS(GGAS_MPI_NAMES)
GGAS_MPI_RECEIVES(GGAS_MPI_NAMES)
GGAS_MPI_PROBES(GGAS_MPI_NAMES)
GGAS_MPI_BEGUN_RECEIVES(GGAS_MPI_NAMES)
}
