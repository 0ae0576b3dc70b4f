// SPDX-License-Identifier: Apache-2.0
// Internals of a dispatcher: dependencies of requests, and requests in flight on each stream. Everything except the
// inbox is guarded by the runtime's lock of the cluster.
#pragma once

#include <chrono>
#include <deque>
#include <list>
#include <map>
#include <optional>
#include <unordered_set>
#include <vector>

#include "userlib/cluster/work/workers.hpp"

namespace ggas {

using request_pointer = std::shared_ptr<detail::request_state>;

struct dispatcher::parts final : detail::progress_hook {
  struct recorded;  // graphs.hpp
  // Memory of requests that are one launch: the orders, the data that are copied in, those copied both ways, and those
  // copied out. It lies on the GPU and, with the same layout, in pinned memory.
  struct batch {
    struct piece {
      std::byte* host;
      size_t at, bytes;
    };
    int node = 0;
    size_t words = 0;                           // of an order
    size_t out_begin = 0, in_end = 0, end = 0;  // copied out and in
    std::byte *device = nullptr, *staged = nullptr;
    std::vector<size_t> places = {};  // of each request's buffers
    std::vector<piece> in = {}, out = {};
  };
  // Memory of a request that has ended although blocks of workers still use it.
  struct late_memory {
    std::vector<detail::request_buffer> buffers;
    std::vector<detail::request_state::place> places;
  };
  // A request, a graph of requests, several that are one launch, or several launches in sequence: a run.
  struct piece_of_work {
    request_pointer first;
    event end = {};                               // recorded after it
    std::vector<request_pointer> followers = {};  // of the graph, launch or run, after the first one
    std::shared_ptr<recorded> with = nullptr;     // the graph
    std::unique_ptr<batch> merged = nullptr;      // if these are one launch
    bool open = false;                            // a run that others may join: its end has not been recorded
    bool has(const request_pointer& r) const;
  };
  // A stream, or a place among the orders of workers, and what is under way there. Only on a stream there is more than
  // one: a request may be queued after one that it waits for.
  struct lane {
    stream s;
    std::vector<event> events = {};  // used in turn
    size_t place = 0;
    std::list<piece_of_work> queue = {};
    uint64_t queued = 0;
    std::optional<late_memory> late = {};
    const event& next_event() { return events[queued++ % events.size()]; }
  };
  // Requests that may begin, the higher priorities first.
  class ready_requests {
   public:
    void push(request_pointer r) { by_priority_[r->priority].push_back(std::move(r)); }
    bool empty() const { return by_priority_.empty(); }
    const request_pointer& front() const { return by_priority_.begin()->second.front(); }
    const std::deque<request_pointer>& most_urgent() const { return by_priority_.begin()->second; }
    request_pointer pop() {
      const auto top = by_priority_.begin();
      request_pointer r = std::move(top->second.front());
      top->second.pop_front();
      if (top->second.empty()) by_priority_.erase(top);
      return r;
    }

   private:
    std::map<int, std::deque<request_pointer>, std::greater<>> by_priority_;
  };

  parts(runtime& r, const dispatcher_config& c) : rt(r), cfg(c) {}
  result<> open();
  result<> start_workers();

  // Checks the request itself.
  result<> check(const detail::request_state& r);
  // Into the inbox; refused: it was stopped.
  result<> accept(const request_pointer& r, std::span<const request> after);

  // Kernels of the host engine run on processor 0, which therefore looks at the requests of all. The other processors
  // sleep meanwhile: they would take its cores, and seldom find the cluster unlocked.
  bool progress(detail::processor& by) override {
    if (engine_) return by.number() == 0 && try_to_go_on(-1);
    return try_to_go_on(by.number());
  }
  // Without waiting for the cluster. By that processor, or, -1, for all. Whether anything is left.
  bool try_to_go_on(int processor);
  // Begins what was enqueued. Looks at what is under way only if there is no place.
  void try_to_begin();
  result<> wait_for(const request_pointer& r);
  void nudge();
  void stop();
  void close();  // nothing is under way
  void drop_graphs(size_t left);
  bool by_workers() const { return cfg.how == executor::workers; }
  // enqueue() itself. Not where it would run workers of the host engine meanwhile, nor where requests are merged: those
  // that a method enqueues are looked at together after it.
  bool begins_at_once() const { return (cfg.how == executor::streams && !cfg.merged) || (by_workers() && !engine_); }
  int number_of(const void* kernel) const;

  runtime& rt;
  const dispatcher_config cfg;
  std::shared_ptr<detail::pools> memory;
  std::map<int, std::unique_ptr<detail::node_workers>> workers;  // of each node
  std::atomic<uint64_t> enqueued = 0, ended = 0, failed = 0, launches = 0, copies = 0, merged = 0, graphs = 0,
                        graph_bytes = 0;

 private:
  result<> make_workers(cluster& c);
  result<> launch_workers();
  result<> check_workers(const cluster& c) const;
  result<> check_form(const detail::request_state& r) const;
  bool begin_by_workers(const request_pointer& r, lane& l);
  void look_at_workers();
  bool stop_workers();
  void see_workers_end();
  result<bool> reached(lane& l);
  bool order_reached(lane& l);
  void give_late(lane& l);
  void give_all_late();
  bool in_turn() const { return cfg.how == executor::fifo || cfg.how == executor::blocking; }
  // Which of the queues of ready requests: of processors, or of nodes and their own streams.
  int queue_of(const detail::request_state& r) const { return in_turn() ? r.owner : 2 * r.node + r.in_own_stream; }
  void go_on(int processor);
  void take_inbox();
  void link(const request_pointer& r);
  void hold(const request_pointer& r);
  void unlink(const request_pointer& r);
  void watch();
  result<bool> signalled(const detail::request_state& r);
  void make_ready(request_pointer r);
  bool runs_engine() const;
  void run_engine();
  bool drain();
  bool drain_or_abort();
  void look_at_lanes(int processor);
  void begin_all(int processor);
  void begin_ready(ready_requests& from);
  lane* free_lane(const detail::request_state& r);
  bool makes_runs() const { return cfg.most_in_run > 1; }
  bool opens_run(const detail::request_state& r, const lane& l) const;
  lane* shortest_run(const detail::request_state& r);
  void join_run(const request_pointer& r, lane& l);
  void close_run(lane& l);
  void close_run_on(const stream& s);
  bool goes_ahead() const { return (cfg.how == executor::streams || cfg.how == executor::by_hand) && !cfg.merged; }
  bool keeps_order(const detail::request_state& r) const;
  lane* lane_ahead(const detail::request_state& r);
  void try_ahead(const request_pointer& r);
  void queue_followers(const request_pointer& r);
  void fill_places();
  result<> wait_for_others(const detail::request_state& r, const stream& s);
  bool anything_under_way(int node);
  bool begin(const request_pointer& r, lane& l);
  bool begin_alone(const request_pointer& r, lane& l);
  result<> check_merging(const cluster& c) const;
  std::vector<request_pointer> alike(const ready_requests& from) const;
  bool begin_merged(const std::vector<request_pointer>& all, lane& l);
  bool take_batch(batch& b, const std::vector<request_pointer>& all);
  void place_batch(batch& b, const std::vector<request_pointer>& all);
  void fill_batch(batch& b, const std::vector<request_pointer>& all);
  result<> queue_batch(const batch& b, const std::vector<request_pointer>& all, const stream& s);
  void end_batch(piece_of_work& w, const result<>& how);
  void give_batch(batch& b);
  bool begin_graph(std::vector<request_pointer> chain, lane& l);
  // A request and those after it that need nothing else, in order.
  std::vector<request_pointer> chain_of(const request_pointer& head);
  bool joins(const detail::request_state& r, int node);
  std::shared_ptr<recorded> known_graph(const std::vector<request_pointer>& chain);
  std::shared_ptr<recorded> new_graph(std::vector<request_pointer>& chain, const stream& s, bool& room);
  void place(const recorded& g, detail::request_state& r);
  size_t record(recorded& g, const std::vector<request_pointer>& chain, const stream& s);
  bool take_memory(recorded& g, const std::vector<request_pointer>& chain);
  bool make_room(recorded& g, const std::vector<request_pointer>& chain);
  void keep(const std::shared_ptr<recorded>& g);
  void drop(recorded& g);
  void detach(const std::vector<request_pointer>& chain);
  result<> record_end(piece_of_work w, lane& l);
  void end_first(lane& l, const result<>& how);
  void end(piece_of_work& w, const result<>& how);
  std::string try_places(detail::request_state& r);
  result<bool> take_places(detail::request_state& r);
  void give_places(detail::request_state& r, bool copy_out);
  void give_back(int node, const detail::request_buffer& b, const detail::request_state::place& place);
  void fill_staging(const detail::request_state& r);
  result<> queue(detail::request_state& r, const stream& s);
  void finish(request_pointer r, result<> how);
  void fail_running(const std::string& why);
  void fault(const std::string& why);
  void fail_waiting(const std::string& why);
  std::string report();

  bool engine_ = false;                     // kernels run in cluster::poll()
  std::map<int, std::vector<lane>> lanes_;  // of each node; the first is its own stream
  std::mutex inbox_mutex_;
  std::vector<request_pointer> inbox_;
  bool stopped_ = false;
  bool stopping_ = false;  // workers were asked to end; counted in left_
  std::chrono::steady_clock::time_point looked_at_workers_;
  std::atomic<uint64_t> left_ = 0;               // requests that have not ended
  std::unordered_set<request_pointer> waiting_;  // for other requests
  std::list<request_pointer> watching_;          // for events and words
  bool begun_ = false;                           // something that the cluster has to start
  bool places_wanted_ = false;                   // a request was not queued ahead, as there was no place or memory
  std::map<int, ready_requests> ready_;
  std::list<std::shared_ptr<recorded>> recorded_;  // the last used one first
};

}  // namespace ggas
