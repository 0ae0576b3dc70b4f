// SPDX-License-Identifier: Apache-2.0
// The calls with datatypes on a stream: who moves is chosen, and queued. Included by ggas/typed_on_stream.cuh.
#pragma once

#include "ggas/detail/stream/typed_checks.cuh"
#include "ggas/detail/stream/typed_staged.cuh"

namespace ggas::detail {

// ---- who moves

[[maybe_unused]] static bool lists(const side_items& s) { return s.type && s.type->records != 0; }

// Rows that the copy engine takes in one call.
[[maybe_unused]] static bool has_rows(const typed_move& m, const side_rows& to, const side_rows& from) {
  constexpr uint64_t most_pitch = INT32_MAX;
  const bool alike = to.rows == 1 || from.rows == 1 || (to.rows == from.rows && to.width == from.width);
  return m.whole && to.rows > 0 && from.rows > 0 && alike &&
         ((to.rows == 1 && from.rows == 1) || (to.pitch <= most_pitch && from.pitch <= most_pitch));
}

[[maybe_unused]] static bool engine_is_quicker(const typed_move& m, const side_rows& to, const side_rows& from,
                                               const tuning& t) {
#ifdef __CUDACC__
  if (!has_rows(m, to, from)) return false;
  if (to.rows == 1 && from.rows == 1) return m.host || m.bytes > largest_kernel_put;
  const uint64_t width = to.rows > 1 ? to.width : from.width;
  return width >= (m.host ? t.engine.host : t.engine.gpu);
#else
  static_cast<void>(m), static_cast<void>(to), static_cast<void>(from), static_cast<void>(t);
  return false;
#endif
}

// Runs of any length on one side, dense data on the other. If units are narrow this is faster than the method by
// places; if runs differ it is faster than the walk. In the simulator, accesses of the library cannot use a block's
// shared memory.
[[maybe_unused]] static bool moves_runs(const typed_move& m, unsigned unit, const context& own) {
  const side_rows to = rows_of(m.to, m.bytes), from = rows_of(m.from, m.bytes);
  const bool pack = has_runs(m.from) && to.rows == 1, unpack = has_runs(m.to) && from.rows == 1;
  const side_items& items = pack ? m.from : m.to;
  return m.whole && (pack || unpack) && (items.type->records != 0 || unit < 4) && own.quiet == nullptr;
}

// The same runs on both sides, whose words a block records in shared memory: not in the simulator, as above.
[[maybe_unused]] static bool moves_alike(const typed_move& m, const context& own) {
  return m.whole && has_same_runs(m.to, m.from) && lists(m.to) && own.quiet == nullptr;
}

// Small items field by field: lists, which have no places, and boxes whose units are narrow.
[[maybe_unused]] static std::optional<pair_move> pairs_to_move(const typed_move& m, unsigned unit, const context& own) {
  if (!m.whole || (unit >= 4 && !lists(m.to) && !lists(m.from))) return {};
  return pairs_of(m.to, m.from, own.local);
}

// The path, or automatic where the wanted one does not suit.
[[maybe_unused]] static typed_path path_of(const typed_move& m, unsigned unit, typed_path wanted, const context& own) {
  const side_rows to = rows_of(m.to, m.bytes), from = rows_of(m.from, m.bytes);
  const bool places = has_places(m.to) && has_places(m.from) && (m.first + m.bytes) / unit < most_units;
  const bool any_list = lists(m.to) || lists(m.from);
  const typed_path by_places = any_list ? typed_path::runs : typed_path::box;
  const bool runs = moves_runs(m, unit, own) || moves_alike(m, own) || pairs_to_move(m, unit, own);
  switch (wanted) {
    case typed_path::automatic:
    case typed_path::direct:
      if (engine_is_quicker(m, to, from, own.tuned)) return typed_path::engine;
      return runs ? typed_path::runs : places ? by_places : typed_path::records;
    case typed_path::runs:
      return runs || (places && any_list) ? wanted : typed_path::automatic;
    case typed_path::records:
      return wanted;
    case typed_path::engine:
      return has_rows(m, to, from) ? wanted : typed_path::automatic;
    case typed_path::staged:
      return typed_path::automatic;
    default:
      return places && wanted == by_places ? wanted : typed_path::automatic;
  }
}

// ---- launches

constexpr unsigned most_typed_blocks = 1024;
// So many bytes are moved and signalled by one kernel, whose blocks are a cluster.
constexpr uint64_t largest_typed_cluster = 64 << 10;
constexpr unsigned most_cluster_blocks = 8;

// `each` bytes are the work of a thread.
[[maybe_unused]] static stream_shape typed_shape(const tuning& t, const typed_move& m, uint64_t each,
                                                 const stream_shape& wanted) {
  const tuning::launch& usual = t.typed.of(m.bytes);
#ifdef __CUDACC__
  constexpr unsigned most_blocks = most_typed_blocks;
#else
  constexpr unsigned most_blocks = most_stream_blocks;
#endif
  const auto limited = [](unsigned n, unsigned most) { return n < most ? n : most; };
  const unsigned threads = limited(wanted.threads ? wanted.threads : usual.threads, most_stream_threads);
  const uint64_t needed = (m.bytes / each + threads - 1) / threads;
  unsigned blocks = wanted.blocks ? wanted.blocks : usual.blocks;
  if (needed < blocks) blocks = needed == 0 ? 1 : static_cast<unsigned>(needed);
  return {limited(blocks, most_blocks), threads, ggas_auto, wanted.path};
}

template <class T, class Move>
static result<> launch_places(cluster& c, const stream& s, const typed_move& m, const Move& p,
                              const stream_shape& shape, const stream_report& report) {
#ifdef __CUDACC__
  const unsigned together = m.signal.word ? shape.blocks : 1;
  return launch_clusters(c, s, shape.blocks, shape.threads, together, place_kernel<T, Move>, p, m.signal, report);
#else
  return launch_dependent(c, s, shape.blocks, shape.threads, place_kernel<T, Move>, p, m.signal, report);
#endif
}

[[maybe_unused]] static place_side_of<few_place_dimensions> few_of(const place_side& s) {
  return {s.base, s.outer, s.dimensions, {s.digit[0], s.digit[1]}};
}

template <class T>
static result<> queue_places(cluster& c, const stream& s, const typed_move& m, const stream_shape& shape,
                             const stream_report& report) {
  const char* const own = c.device_context(s.node).local;
  const place_side to = places_of(m.to, sizeof(T), own), from = places_of(m.from, sizeof(T), own);
  const auto first = static_cast<uint32_t>(m.first / sizeof(T)), units = static_cast<uint32_t>(m.bytes / sizeof(T));
  if (to.dimensions > few_place_dimensions || from.dimensions > few_place_dimensions)
    return launch_places<T>(c, s, m, place_move{first, units, to, from}, shape, report);
  if (to.list.at || from.list.at) {
    const few_listed_move few{first, units, {few_of(to), to.list}, {few_of(from), from.list}};
    return launch_places<T>(c, s, m, few, shape, report);
  }
  return launch_places<T>(c, s, m, few_place_move{first, units, few_of(to), few_of(from)}, shape, report);
}

[[maybe_unused]] static result<> queue_by_unit(cluster& c, const stream& s, const typed_move& m, unsigned unit,
                                               const stream_shape& shape, const stream_report& report) {
  switch (unit) {
    case 1:
      return queue_places<uint8_t>(c, s, m, shape, report);
    case 2:
      return queue_places<uint16_t>(c, s, m, shape, report);
    case 4:
      return queue_places<uint32_t>(c, s, m, shape, report);
    case 8:
      return queue_places<uint64_t>(c, s, m, shape, report);
    default:
      return queue_places<word_pair>(c, s, m, shape, report);
  }
}

template <class T>
static result<> queue_runs_by(cluster& c, const stream& s, const side_items& items, char* dense, char* alike, bool pack,
                              stream_shape shape, const stream_report& report) {
  const char* const own = c.device_context(s.node).local;
  const unsigned staged = sizeof(T) == 1 ? staged_bytes : mapped_words * sizeof(T);
  run_move r = runs_of(items, dense, pack, staged, own);
  r.alike = alike;
  const unsigned needed = (r.runs + r.together - 1) / r.together;
  if (needed < shape.blocks) shape.blocks = needed;
  return launch_dependent(c, s, shape.blocks, shape.threads, run_kernel<T>, r, report);
}

// To the same runs of other items.
[[maybe_unused]] static result<> queue_alike(cluster& c, const stream& s, const typed_move& m, unsigned unit,
                                             const stream_shape& wanted, const stream_report& report) {
  const context& own = c.device_context(s.node);
  const stream_shape shape = typed_shape(own.tuned, m, 1, wanted);
  if (unit >= 16) return queue_runs_by<word_pair>(c, s, m.from, nullptr, m.to.at, true, shape, report);
  if (unit >= 8) return queue_runs_by<uint64_t>(c, s, m.from, nullptr, m.to.at, true, shape, report);
  if (unit >= 4) return queue_runs_by<uint32_t>(c, s, m.from, nullptr, m.to.at, true, shape, report);
  return queue_runs_by<uint8_t>(c, s, m.from, nullptr, m.to.at, true, shape, report);
}

[[maybe_unused]] static result<> queue_runs(cluster& c, const stream& s, const typed_move& m, unsigned unit,
                                            const stream_shape& wanted, const stream_report& report) {
  const context& own = c.device_context(s.node);
  const side_rows to = rows_of(m.to, m.bytes), from = rows_of(m.from, m.bytes);
  const bool pack = to.rows == 1 && has_runs(m.from);
  const side_items& items = pack ? m.from : m.to;
  char* const dense = pack ? to.first : from.first;
  stream_shape shape = typed_shape(own.tuned, m, 1, wanted);
  if (unit >= 16) return queue_runs_by<word_pair>(c, s, items, dense, nullptr, pack, shape, report);
  if (unit >= 8) return queue_runs_by<uint64_t>(c, s, items, dense, nullptr, pack, shape, report);
  if (unit >= 4) return queue_runs_by<uint32_t>(c, s, items, dense, nullptr, pack, shape, report);
  const auto few = pack ? fields_of(items, dense, staged_bytes, own.local) : std::nullopt;
  if (!few) return queue_runs_by<uint8_t>(c, s, items, dense, nullptr, pack, shape, report);
  const unsigned needed = (few->count + few->together - 1) / few->together;
  if (needed < shape.blocks) shape.blocks = needed;
  return launch_dependent(c, s, shape.blocks, shape.threads, item_kernel, *few, report);
}

[[maybe_unused]] static walk_side walk_of(const side_items& i) {
  return {i.at, i.count, i.type == nullptr, i.type ? *i.type : ggas_type{}};
}

[[maybe_unused]] static result<> queue_rows(cluster& c, const stream& s, const typed_move& m) {
#ifdef __CUDACC__
  const side_rows to = rows_of(m.to, m.bytes), from = rows_of(m.from, m.bytes);
  if (to.rows == 1 && from.rows == 1) return copy_by_engine(c, s, to.first, from.first, m.bytes);
  if (auto ok = prepare(c, s); !ok) return ok;
  const side_rows& rows = to.rows > 1 ? to : from;
  return queued(cudaMemcpy2DAsync(to.first, to.rows > 1 ? to.pitch : rows.width, from.first,
                                  from.rows > 1 ? from.pitch : rows.width, rows.width, rows.rows, cudaMemcpyDefault,
                                  c.cuda_stream(s)),
                m.call, s);
#else
  static_cast<void>(c);
  return typed_error(m.call, s, "shape: this provider has no copy engine");
#endif
}

// A signal of its own, after kernels of more blocks than a cluster has, of lists and records, and copies.
[[maybe_unused]] static result<> queue_signal(cluster& c, const stream& s, const signal_target& to,
                                              const stream_report& report) {
  return to.word ? launch_dependent(c, s, 1, 1, signal_kernel, to, report) : result<>();
}

// Whether one kernel moves and signals: short data, by the blocks of a cluster, of which `shape` gets the number.
[[maybe_unused]] static bool signals_together(cluster& c, const stream& s, const typed_move& m, stream_shape& shape) {
  if (!m.signal.word || shape.blocks == 1) return true;
#ifdef __CUDACC__
  if (m.bytes > largest_typed_cluster) return false;
  const unsigned most = shape.blocks < most_cluster_blocks ? shape.blocks : most_cluster_blocks;
  shape.blocks = cluster_of(c.device(s.node), most);
  return true;
#else
  static_cast<void>(c), static_cast<void>(s), static_cast<void>(m);
  return false;
#endif
}

[[maybe_unused]] static result<> queue_pairs(cluster& c, const stream& s, const typed_move& m, const pair_move& p,
                                             const stream_shape& wanted, const stream_report& report) {
  const context& own = c.device_context(s.node);
  stream_shape shape = typed_shape(own.tuned, m, m.bytes / p.count, wanted);
  const bool together = signals_together(c, s, m, shape);
  const signal_target behind = together ? m.signal : signal_target{};
#ifdef __CUDACC__
  auto ok = launch_clusters(c, s, shape.blocks, shape.threads, behind.word ? shape.blocks : 1, pair_kernel, p, behind,
                            report);
#else
  auto ok = launch_dependent(c, s, shape.blocks, shape.threads, pair_kernel, p, behind, report);
#endif
  return ok && !together ? queue_signal(c, s, m.signal, report) : ok;
}

// By places; what is short enough is one kernel with its signal.
[[maybe_unused]] static result<> queue_places_and_signal(cluster& c, const stream& s, typed_move m, unsigned unit,
                                                         stream_shape shape, const stream_report& report) {
  const bool together = !lists(m.to) && !lists(m.from) && signals_together(c, s, m, shape);
  const signal_target behind = m.signal;
  if (!together) m.signal = {};
  auto ok = queue_by_unit(c, s, m, unit, shape, report);
  return ok && !together ? queue_signal(c, s, behind, report) : ok;
}

#ifdef __CUDACC__
static result<> queue_staged(cluster& c, const stream& s, const typed_move& m, const stream_report& report);
#endif

[[maybe_unused]] static result<> queue_typed(cluster& c, const stream& s, const typed_move& m,
                                             const stream_report& report, const stream_shape& wanted) {
  if (m.bytes == 0) return queue_signal(c, s, m.signal, report);
  const context& own = c.device_context(s.node);
#ifdef __CUDACC__
  if (is_staged(c, s, m, wanted.path)) return queue_staged(c, s, m, report);
#endif
  const unsigned unit = widest_unit_of(m.to, m.from, m.first, m.bytes);
  const typed_path path = path_of(m, unit, wanted.path, own);
  if (path == typed_path::automatic) return typed_error(m.call, s, "shape: this path does not suit the datatypes");
  const stream_shape shape = typed_shape(own.tuned, m, unit, wanted);
  const bool dense = path == typed_path::runs && moves_runs(m, unit, own);
  if (path == typed_path::runs && !dense)
    if (const auto pairs = pairs_to_move(m, unit, own)) return queue_pairs(c, s, m, *pairs, wanted, report);
  const bool alike = path == typed_path::runs && !dense && moves_alike(m, own);
  const bool runs = dense || alike;
  if (!runs && (path == typed_path::box || path == typed_path::runs))
    return queue_places_and_signal(c, s, m, unit, shape, report);
  const walk_move walk{walk_of(m.to), walk_of(m.from), m.first, m.bytes};
  auto ok = dense   ? queue_runs(c, s, m, unit, wanted, report)
            : alike ? queue_alike(c, s, m, unit, wanted, report)
            : path == typed_path::engine
                ? queue_rows(c, s, m)
                : launch_dependent(c, s, shape.blocks, shape.threads, walk_kernel, walk, report);
  return ok ? queue_signal(c, s, m.signal, report) : ok;
}

#ifdef __CUDACC__
namespace {
result<> staged_put::pack(uint64_t first, uint64_t bytes, char* slot) {
  const side_items items = piece_of(m_.from, unit_, first, bytes);
  typed_move m{m_.call, {slot - first, 1, nullptr}, items, {first, bytes}};
  m.whole = bytes == items.count * items.type->size;
  return queue_typed(c_, s_, m, report_, {});
}
result<> staged_put::unpack(uint64_t first, uint64_t bytes, char* slot) {
  const side_items items = piece_of(m_.to, unit_, first, bytes);
  typed_move m{m_.call, items, {slot - first, 1, nullptr}, {first, bytes}};
  m.whole = bytes == items.count * items.type->size;
  return queue_typed(c_, there_.work, m, report_, {});
}
}  // namespace
[[maybe_unused]] static result<> queue_staged(cluster& c, const stream& s, const typed_move& m,
                                              const stream_report& report) {
  auto ok = staged_put(c, s, m, report).queue();
  return ok ? queue_signal(c, s, m.signal, report) : ok;
}
#endif

// Between nodes; through a NIC by descriptors, of the kernel that the call has there.
template <class... P>
static result<> queue_between(cluster& c, const stream& s, const typed_move& m, const stream_report& report,
                              const stream_shape& shape, void (*by_nic)(P...), std::type_identity_t<P>... args) {
  const bool by_descriptors = c.device_context(s.node).queues;
  if (by_descriptors && shape.path == typed_path::staged)
    return typed_error(m.call, s, "shape: this path is for GPUs of one process");
  if (by_descriptors) return launch_dependent(c, s, 1, most_stream_threads, by_nic, args...);
  return queue_typed(c, s, m, report, shape);
}

[[maybe_unused]] static side_items items_of(const void* at, uint64_t count, const ggas_type& t) {
  return {const_cast<char*>(static_cast<const char*>(at)), count, &t};
}

}  // namespace ggas::detail

namespace ggas {

static result<> pack_on_stream(cluster& c, const stream& s, void* to, const void* from, uint64_t count,
                               const ggas_type& type, const stream_report& report, const packed_range& range,
                               const stream_shape& shape) {
  using namespace detail;
  typed_move m{"pack_on_stream", {static_cast<char*>(to), 1, nullptr}, items_of(from, count, type), range};
  if (const std::string wrong = check_packed(c, s, m, m.from, m.to); !wrong.empty())
    return typed_error(m.call, s, wrong);
  m.to.at -= m.first;  // where packed byte 0 would be
  return queue_typed(c, s, m, report, shape);
}

static result<> unpack_on_stream(cluster& c, const stream& s, void* to, uint64_t count, const ggas_type& type,
                                 const void* from, const stream_report& report, const packed_range& range,
                                 const stream_shape& shape) {
  using namespace detail;
  typed_move m{"unpack_on_stream", {static_cast<char*>(to), count, &type}, {}, range};
  m.from.at = const_cast<char*>(static_cast<const char*>(from));
  if (const std::string wrong = check_packed(c, s, m, m.to, m.from); !wrong.empty())
    return typed_error(m.call, s, wrong);
  m.from.at -= m.first;
  return queue_typed(c, s, m, report, shape);
}

static result<> put_typed_on_stream(cluster& c, const stream& s, global_ptr<char> remote, uint64_t remote_count,
                                    const ggas_type& remote_type, const void* local, uint64_t local_count,
                                    const ggas_type& local_type, const stream_report& report,
                                    const stream_shape& shape) {
  using namespace detail;
  typed_move m{"put_typed_on_stream", {nullptr, remote_count, &remote_type}, items_of(local, local_count, local_type)};
  if (const std::string wrong = check_pair(c, s, m, remote, m.to, m.from); !wrong.empty())
    return typed_error(m.call, s, wrong);
  m.target = remote.node();
  return queue_between(c, s, m, report, shape, put_typed_kernel, walk_of(m.to), walk_of(m.from), report);
}

static result<> get_typed_on_stream(cluster& c, const stream& s, void* local, uint64_t local_count,
                                    const ggas_type& local_type, global_ptr<char> remote, uint64_t remote_count,
                                    const ggas_type& remote_type, const stream_report& report,
                                    const stream_shape& shape) {
  using namespace detail;
  typed_move m{"get_typed_on_stream", items_of(local, local_count, local_type), {nullptr, remote_count, &remote_type}};
  if (const std::string wrong = check_pair(c, s, m, remote, m.from, m.to); !wrong.empty())
    return typed_error(m.call, s, wrong);
  return queue_between(c, s, m, report, shape, get_typed_kernel, walk_of(m.to), walk_of(m.from), report);
}

static result<> put_signal_typed_on_stream(cluster& c, const stream& s, global_ptr<char> remote, uint64_t remote_count,
                                           const ggas_type& remote_type, const void* local, uint64_t local_count,
                                           const ggas_type& local_type, global_ptr<uint64_t> signal, uint64_t value,
                                           ggas_signal_op op, const stream_report& report, const stream_shape& shape) {
  using namespace detail;
  typed_move m{
      "put_signal_typed_on_stream", {nullptr, remote_count, &remote_type}, items_of(local, local_count, local_type)};
  std::string wrong = check_pair(c, s, m, remote, m.to, m.from);
  if (wrong.empty()) wrong = check_signal(c, s, m, remote.node(), signal, value, op);
  if (!wrong.empty()) return typed_error(m.call, s, wrong);
  m.target = remote.node();
  return queue_between(c, s, m, report, shape, put_signal_typed_kernel, walk_of(m.to), walk_of(m.from), m.signal,
                       report);
}

}  // namespace ggas
