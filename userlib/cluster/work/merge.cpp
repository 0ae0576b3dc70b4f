// SPDX-License-Identifier: Apache-2.0
// executor::streams with a table of functions: identical requests become one launch, with one copy each way.
#include <algorithm>
#include <cstring>

#include "userlib/cluster/providers.hpp"
#include "userlib/cluster/work/dispatcher.hpp"

namespace ggas {

using detail::request_buffer;
using detail::request_state;
using userlib::round_up;

namespace {

constexpr size_t merged_alignment = 64;
constexpr uint64_t most_blocks = 1u << 30;

bool same(const extent& a, const extent& b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

bool identical(const request_state& a, const request_state& b) {
  return a.form.kernel == b.form.kernel && same(a.form.grid, b.form.grid) && same(a.form.block, b.form.block) &&
         a.form.block.shared_bytes == b.form.block.shared_bytes && a.buffers.size() == b.buffers.size();
}

// Memory that is kept has a copy of its own.
bool copies_kept(const request_state& r) {
  return std::ranges::any_of(r.buffers,
                             [](const request_buffer& b) { return b.kept && (b.copied_in || b.copied_out); });
}

uint64_t blocks_of(const request_state& r) { return uint64_t{r.form.grid.x} * r.form.grid.y * r.form.grid.z; }

}  // namespace

result<> dispatcher::parts::check_merging(const cluster& c) const {
  if (!cfg.merged) return {};
  if (cfg.how != executor::streams)
    return error{errc::bad_argument, "merged: requests are merged by executor::streams only"};
  if (!cfg.merged->of(c))
    return error{errc::unsupported, std::string("merged '") + cfg.merged->name +
                                        "': this program has it not for provider '" + c.config().provider + "'"};
  if (cfg.most_merged < 2 || cfg.most_merged > 65536)
    return error{errc::bad_argument, "most_merged = " + std::to_string(cfg.most_merged) + ": must be 2 ... 65536"};
  return {};
}

// The first ready requests, as far as they may be one launch.
std::vector<request_pointer> dispatcher::parts::alike(const ready_requests& from) const {
  const auto& queue = from.most_urgent();
  std::vector<request_pointer> all = {queue.front()};
  const request_state& first = *queue.front();
  if (!cfg.merged || first.in_own_stream || blocks_of(first) == 0 || number_of(first.form.kernel) < 0 ||
      copies_kept(first))
    return all;
  const auto most = std::min(static_cast<uint64_t>(cfg.most_merged), most_blocks / blocks_of(first));
  for (size_t i = 1; i < queue.size() && all.size() < most && identical(first, *queue[i]) && !copies_kept(*queue[i]);
       ++i)
    all.push_back(queue[i]);
  return all;
}

// ---- memory

// Where everything lies, from the start of both memories: orders, words for failures, buffers by their kind.
void dispatcher::parts::place_batch(batch& b, const std::vector<request_pointer>& all) {
  std::vector<uint64_t> words;
  all[0]->device.assign(all[0]->buffers.size(), nullptr);
  all[0]->form.arguments(all[0]->device, words);
  b.words = work_order::words + words.size();
  b.end = round_up(all.size() * b.words * 8, merged_alignment);
  const size_t buffers = all[0]->buffers.size();
  b.places.resize(all.size() * buffers);
  const auto place = [&](bool in, bool out) {
    for (size_t k = 0; k < b.places.size(); ++k) {
      const request_buffer& one = all[k / buffers]->buffers[k % buffers];
      if (!one.of_pool() || one.copied_in != in || one.copied_out != out) continue;
      if (in) b.in.push_back({one.host, b.end, one.bytes});
      if (out) b.out.push_back({one.host, b.end, one.bytes});
      b.places[k] = b.end;
      b.end += round_up(one.bytes, merged_alignment);
    }
  };
  place(true, false);
  b.out_begin = b.end;
  b.end += round_up(all.size() * 8, merged_alignment);
  place(true, true);
  b.in_end = b.end;
  place(false, true);
  place(false, false);
}

bool dispatcher::parts::take_batch(batch& b, const std::vector<request_pointer>& all) {
  place_batch(b, all);
  std::string why;
  b.device = memory->take_gpu(b.node, b.end, why);
  if (b.device) b.staged = memory->take_staging(b.node, b.end, why);
  if (b.staged) return true;
  give_batch(b);
  return false;
}

void dispatcher::parts::give_batch(batch& b) {
  if (b.device) memory->give_gpu(b.node, std::exchange(b.device, nullptr));
  if (b.staged) memory->give_staging(b.node, std::exchange(b.staged, nullptr));
}

// Orders and data that are copied in.
void dispatcher::parts::fill_batch(batch& b, const std::vector<request_pointer>& all) {
  std::vector<uint64_t> words;
  for (size_t k = 0; k < all.size(); ++k) {
    request_state& r = *all[k];
    r.device.clear();
    for (size_t i = 0; i < r.buffers.size(); ++i) {
      const request_buffer& one = r.buffers[i];
      std::byte* const kept = one.kept ? one.kept->address : nullptr;
      r.device.push_back(one.of_pool() ? b.device + b.places[k * r.buffers.size() + i] : kept);
    }
    const work_order o{.done = reinterpret_cast<uintptr_t>(b.device + b.out_begin) + 8 * k,
                       .ticket = 0,
                       .function = static_cast<uint32_t>(number_of(r.form.kernel)),
                       .node = -1,
                       .x = r.form.grid.x,
                       .y = r.form.grid.y,
                       .z = r.form.grid.z,
                       .in = 0,
                       .out = 0};
    words.clear();
    r.form.arguments(r.device, words);
    std::byte* const order = b.staged + k * b.words * 8;
    std::memcpy(order, &o, sizeof o);
    std::memcpy(order + sizeof o, words.data(), words.size() * 8);
  }
  std::memset(b.staged + b.out_begin, 0, all.size() * 8);
  for (const batch::piece& p : b.in) std::memcpy(b.staged + p.at, p.host, p.bytes);
}

// ---- under way

result<> dispatcher::parts::queue_batch(const batch& b, const std::vector<request_pointer>& all, const stream& s) {
  cluster& c = rt.cluster();
  if (auto ok = c.copy_on_stream(s, b.device, b.staged, b.in_end); !ok) return ok;
  const request_state& first = *all[0];
  const merged_launch l{reinterpret_cast<const uint64_t*>(b.device), b.words, static_cast<uint32_t>(all.size()),
                        static_cast<uint32_t>(blocks_of(first))};
  if (auto ok = cfg.merged->of(c)->launch_merged(c, s, first.form.block, l); !ok) return ok;
  ++launches;
  copies += 2;
  merged += all.size() - 1;
  return c.copy_on_stream(s, b.staged + b.out_begin, b.device + b.out_begin, b.end - b.out_begin);
}

// False: there is no room for all of them at once.
bool dispatcher::parts::begin_merged(const std::vector<request_pointer>& all, lane& l) {
  auto b = std::make_unique<batch>();
  b->node = l.s.node;
  if (!take_batch(*b, all)) return false;
  fill_batch(*b, all);
  for (const request_pointer& r : all) r->now = request_state::phase::running;
  const auto queued = queue_batch(*b, all, l.s);
  all[0]->failure = text_of(queued);
  piece_of_work w{.first = all[0], .followers = {all.begin() + 1, all.end()}, .merged = std::move(b)};
  static_cast<void>(record_end(std::move(w), l));
  return true;
}

// A function that failed ends its request alone.
void dispatcher::parts::end_batch(piece_of_work& w, const result<>& how) {
  std::vector<request_pointer> all = {w.first};
  std::ranges::move(w.followers, std::back_inserter(all));
  const auto b = std::move(w.merged);
  std::vector<result<>> ends(all.size(), how);
  for (size_t k = 0; how && k < all.size(); ++k) {
    uint64_t s = 0;
    std::memcpy(&s, b->staged + b->out_begin + 8 * k, sizeof s);
    if (s != ggas_ok)
      ends[k] = error{errc::device_fault, std::string("its function returned: ") +
                                              ggas_status_text(static_cast<ggas_status>(s)) + report()};
  }
  if (how)
    for (const batch::piece& p : b->out) std::memcpy(p.host, b->staged + p.at, p.bytes);
  give_batch(*b);
  for (size_t k = 0; k < all.size(); ++k) finish(all[k], ends[k]);
}

}  // namespace ggas
