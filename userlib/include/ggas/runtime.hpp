// SPDX-License-Identifier: Apache-2.0
// A message-driven host (docs/work.md): objects on processors (threads), whose methods are called by messages. A
// processor runs one method at a time, to its end. The runtime owns a cluster, which one thread uses at a time.
//
//   struct counter {
//     int sum = 0;
//     void add(int n) { sum += n; }
//   };
//   auto rt = ggas::runtime::create({.processors = 4});
//   auto all = (*rt)->make_array<counter>(1000);
//   (*all)[17].send<&counter::add>(5);
//   auto ended = (*rt)->run(one_second);   // until no message is left
//
// Methods return nothing; a message holds copies of the arguments. Messages from one object to another arrive in their
// order unless they differ in priority or the receiver moves between them. C++20, any compiler.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ggas/cluster.hpp"
#include "ggas/detail/runtime/objects.hpp"

namespace ggas {

struct runtime_config {
  int processors = 1;                               // 1 ... 1024
  unsigned progress_period = 10;                    // messages between two calls of progress functions; 1 or more
  std::function<void(int processor)> on_idle = {};  // a processor has nothing to do; once each time, by its thread
};

struct processor_statistics {
  uint64_t messages = 0;        // run
  uint64_t progress_calls = 0;  // of progress functions (executors of requests)
  uint64_t idle_times = 0;      // it found nothing to do
  uint64_t forwarded = 0;       // messages to objects that had moved
  uint64_t dropped = 0;         // messages to objects that were destroyed
};

template <class T>
class object_array;
template <class T>
class object_group;

// Calls may be made by any thread unless their comment says otherwise; objects, methods and functions run on
// processors.
class runtime {
 public:
  // Starts the threads. `c` may be null: a runtime without GPUs.
  static result<std::unique_ptr<runtime>> create(runtime_config cfg, std::unique_ptr<ggas::cluster> c = nullptr);
  // Waits for running methods; pending messages are dropped. Called by a thread of the program.
  ~runtime();
  runtime(const runtime&) = delete;
  runtime& operator=(const runtime&) = delete;

  const runtime_config& config() const { return cfg_; }
  int processors() const { return cfg_.processors; }
  // The caller's processor; -1: a thread of the program.
  int here() const {
    const auto* const p = detail::processor::here();
    return p && &p->of() == this ? p->number() : -1;
  }

  // ---- objects; they live as long as the runtime or until they are destroyed. Constructors run in the caller, with
  // copies of the arguments. A constructor that takes the index first gets it.

  // Object i is on processor place(i), or without a function on processor i modulo the number of processors. A
  // processor that does not exist is errc::bad_argument.
  template <class T, class... A>
  result<object_array<T>> make_array(size_t n, const std::function<int(size_t)>& place = {}, const A&... arguments);
  // An object on each processor.
  template <class T, class... A>
  object_group<T> make_group(const A&... arguments);

  // Sends a function as a message to a processor. If the processor does not exist the runtime fails.
  template <class F>
  void post(int to, F function, int priority = 0) {
    send(to, priority, detail::call_of_function<F>{std::move(function)});
  }

  // ---- running

  // Waits until a method has called exit() or nothing is left: no pending message, no running method, no request. An
  // exception that left a method is errc::device_fault, also in every later run. Called by a thread of the program.
  result<> run(uint64_t timeout_ns);
  // run() returns; pending messages are still processed.
  void exit();
  // Called once, by some processor, when no message, method or request is left.
  void when_quiet(std::function<void()> then);
  bool quiet() const;
  processor_statistics statistics(int processor) const;

  // The cluster, for one thread at a time: others wait here. The runtime must have a cluster.
  template <class F>
  auto with_cluster(F&& use) {
    const std::lock_guard lock(cluster_mutex_);
    return use(*cluster_);
  }
  bool has_cluster() const { return cluster_ != nullptr; }

  // ---- for executors of requests

  // Adds a hook, which every processor calls, one at a time. Returns false if there is one already. remove() returns
  // when no processor is in it any more; called by a thread of the program.
  bool add(detail::progress_hook& h);
  void remove(detail::progress_hook& h);
  std::mutex& cluster_mutex() { return cluster_mutex_; }
  // Only while holding the cluster's mutex.
  ggas::cluster& cluster() { return *cluster_; }
  // Sends a message to a processor; counts other work as a message until it has ended.
  template <class Body>
  void send(int to, int priority, Body&& body);
  void begin_work();
  void end_work();
  // Whether a processor of that number exists; otherwise the runtime fails.
  bool valid(int processor) {
    if (processor >= 0 && processor < cfg_.processors) [[likely]]
      return true;
    fail("processor " + std::to_string(processor) + ": processors are 0 ... " + std::to_string(cfg_.processors - 1));
    return false;
  }
  // Makes run() return that text; the first failure is kept.
  void fail(std::string text);
  // Forwards a message from another processor.
  void forward(detail::message& m, int to) { processors_[static_cast<size_t>(to)]->push(&m); }

 private:
  friend class detail::processor;

  explicit runtime(runtime_config cfg, std::unique_ptr<ggas::cluster> c);
  bool stopping() const { return stop_.load(std::memory_order_relaxed); }
  void tell_if_quiet();
  detail::processor* own() const {
    auto* const p = detail::processor::here();
    return p && &p->of() == this ? p : nullptr;
  }

  const runtime_config cfg_;
  std::unique_ptr<ggas::cluster> cluster_;
  std::mutex cluster_mutex_;
  std::atomic<bool> stop_ = false;
  std::atomic<detail::progress_hook*> hook_ = nullptr;
  std::atomic<uint64_t> outside_sent_ = 0, outside_done_ = 0;  // by threads of the program
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool exit_ = false;
  int telling_ = 0;  // processors that call what when_quiet_ had
  std::string failure_;
  std::vector<std::function<void()>> when_quiet_;
  std::vector<std::shared_ptr<void>> objects_;
  std::vector<std::unique_ptr<detail::processor>> processors_;
};

// An object, by its place in an array. A value; calls on it are messages.
template <class T>
class element {
 public:
  element(runtime& rt, detail::objects_of<T>* in, size_t index) : runtime_(&rt), in_(in), index_(index) {}
  size_t index() const { return index_; }
  // The same object, with another priority for messages to it: higher ones are run first; 0 is the default.
  element prioritized(int priority) const {
    element e = *this;
    e.priority_ = priority;
    return e;
  }
  // Sends a call of a method to the object's processor.
  template <auto Method, class... A>
  void send(A&&... arguments) const {
    const int to = home();
    runtime_->send(to, priority_, detail::call_of_element<Method>{in_, index_, {std::forward<A>(arguments)...}});
  }
  // A function that sends.
  template <auto Method>
  auto sender() const {
    return [e = *this](auto&&... a) { e.template send<Method>(std::forward<decltype(a)>(a)...); };
  }
  // Moves the object to that processor after the messages before have been run. If it does not exist, the runtime
  // fails.
  void move_to(int processor) const {
    if (!runtime_->valid(processor)) return;
    ask([processor](auto& slot) { slot.where.store(processor, std::memory_order_release); });
  }
  // Destroys the object. Later messages to it are dropped.
  void destroy() const {
    ask([](auto& slot) { slot.object.reset(); });
  }
  // Contributes to the next reduction of the object's array; called by a method of the object. When all objects have
  // contributed, op() combines the values in any order, and the last object's processor passes the result to its
  // `then`. All objects contribute the same type.
  template <class V, class Op>
  void contribute(V value, Op op, const std::function<void(V)>& then) const;

 private:
  template <class F>
  struct request_of_slot {
    detail::objects_of<T>* in;
    size_t index;
    F what;
    bool operator()(detail::message& m, detail::processor& by) {
      auto& slot = in->slots[index];
      const int where = slot.where.load(std::memory_order_acquire);
      if (where != by.number()) return detail::forward(m, by, where);
      what(slot);
      return true;
    }
  };
  // The object's processor. If the object does not exist, -1, and the runtime fails.
  int home() const {
    if (index_ < in_->slots.size()) [[likely]]
      return in_->slots[index_].where.load(std::memory_order_acquire);
    runtime_->fail("object " + std::to_string(index_) + " of an array of " + std::to_string(in_->slots.size()));
    return -1;
  }
  template <class F>
  void ask(F what) const {
    const int to = home();
    runtime_->send(to, priority_, request_of_slot<F>{in_, index_, std::move(what)});
  }

  runtime* runtime_;
  detail::objects_of<T>* in_;
  size_t index_;
  int priority_ = 0;
};

template <class T>
class object_array {
 public:
  object_array(runtime& rt, detail::objects_of<T>* in) : runtime_(&rt), in_(in) {}
  size_t size() const { return in_->slots.size(); }
  element<T> operator[](size_t index) const { return {*runtime_, in_, index}; }
  int processor_of(size_t index) const { return in_->slots[index].where.load(std::memory_order_acquire); }
  // To all objects, and to some of them.
  template <auto Method, class... A>
  void broadcast(const A&... arguments) const {
    for (size_t i = 0; i < size(); ++i) (*this)[i].template send<Method>(arguments...);
  }
  template <auto Method, class... A>
  void multicast(std::span<const size_t> indices, const A&... arguments) const {
    for (const size_t i : indices) (*this)[i].template send<Method>(arguments...);
  }
  // Reads an object while no method runs (after run()); null: it was destroyed.
  T* look_at(size_t index) const { return in_->slots[index].object.get(); }

 private:
  runtime* runtime_;
  detail::objects_of<T>* in_;
};

template <class T>
class object_group {
 public:
  object_group(runtime& rt, std::vector<std::unique_ptr<T>>* of) : runtime_(&rt), of_(of) {}
  // Calls a method of the object on that processor.
  template <auto Method, class... A>
  void send(int processor, A&&... arguments) const {
    if (!runtime_->valid(processor)) return;
    runtime_->send(processor, 0, detail::call_of_member<Method>{&object(processor), {std::forward<A>(arguments)...}});
  }
  template <auto Method, class... A>
  void broadcast(const A&... arguments) const {
    for (int p = 0; p < runtime_->processors(); ++p) send<Method>(p, arguments...);
  }
  // The object of the caller's processor, or, while no method runs, of any processor.
  T& local() const { return object(runtime_->here()); }
  T& look_at(int processor) const { return object(processor); }

 private:
  T& object(int processor) const { return *(*of_)[static_cast<size_t>(processor)]; }

  runtime* runtime_;
  std::vector<std::unique_ptr<T>>* of_;
};

}  // namespace ggas

#include "ggas/detail/runtime/runtime.hpp"
