// SPDX-License-Identifier: Apache-2.0
// Commands of a device's client. A command that cannot be executed is refused with an errno, as the protocol requires;
// a message that is none of the protocol ends the connection with a text.
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/vfio_user/device.hpp"

namespace ggas::device {

namespace {

constexpr uint32_t access_limit = 4096;  // bytes of one access to a BAR

std::span<const std::byte> text_bytes(const std::string& s) {
  return std::as_bytes(std::span(s.c_str(), s.size() + 1));
}

}  // namespace

device::result device::reply(const wire::header& to, std::span<const std::byte> body) {
  if (to.flags & wire::no_reply || !client_) return {};
  return client_->send({.id = to.id, .command = to.command, .bytes = 0, .flags = wire::type_reply, .error = 0}, body);
}

device::result device::refuse(const wire::header& to, int error) {
  if (to.flags & wire::no_reply) return {};
  return client_->send({.id = to.id,
                        .command = to.command,
                        .bytes = 0,
                        .flags = wire::type_reply | wire::error_bit,
                        .error = uint32_t(error)},
                       {});
}

device::result device::handle(message m) {
  if (m.reply()) return dma_reply(m);
  if (greeted_ == (m.command() == wire::command::version))
    return std::unexpected(greeted_ ? std::string("a second version message")
                                    : fmt::format("command {} before the version", m.head.command));
  return dispatch(m);
}

device::result device::dispatch(message& m) {
  switch (m.command()) {
    case wire::command::version:
      return version(m);
    case wire::command::dma_map:
      return map(m);
    case wire::command::dma_unmap:
      return unmap(m);
    case wire::command::device_get_info: {
      if (auto r = m.fixed<wire::device_info>(); !r) return std::unexpected(r.error());
      const wire::device_info info{sizeof info, wire::device_resets | wire::device_is_pci, wire::region_count,
                                   wire::irq_count};
      return reply(m.head, bytes_of(info));
    }
    case wire::command::region_get_info:
      return region_info(m);
    case wire::command::irq_get_info:
      return irq_info(m);
    case wire::command::set_irqs:
      return set_irqs(m);
    case wire::command::region_read:
      return region_read(m);
    case wire::command::region_write:
      return region_write(m);
    case wire::command::region_write_multi:
      return region_write_multi(m);
    case wire::command::device_reset:
      return device_reset(m);
    default:
      return refuse(m.head, ENOTSUP);
  }
}

device::result device::version(const message& m) {
  const auto v = m.fixed<wire::version>();
  if (!v) return std::unexpected(v.error());
  if (v->major != 0)
    return std::unexpected(fmt::format("protocol version {}.{}: only version 0 is supported", v->major, v->minor));
  const auto text = m.behind<wire::version>();
  if (!text.empty()) {
    if (text.back() != std::byte{0}) return std::unexpected("capabilities: no zero at the end");
    const auto* const first = reinterpret_cast<const char*>(text.data());
    const auto said = nlohmann::json::parse(first, first + text.size() - 1, nullptr, false);
    if (!said.is_object()) return std::unexpected("capabilities: no JSON object");
    const auto limit = said.value("/capabilities/max_data_xfer_size"_json_pointer, nlohmann::json(wire::data_limit));
    if (!limit.is_number_unsigned() || limit.get<uint64_t>() < access_limit)
      return std::unexpected(
          fmt::format("capabilities: max_data_xfer_size {}: at least {} is needed", limit.dump(), access_limit));
  }
  greeted_ = true;
  const std::string mine = nlohmann::json{{"capabilities",
                                           {{"max_msg_fds", wire::file_limit},
                                            {"max_data_xfer_size", wire::data_limit},
                                            {"max_dma_maps", dma_map::window_limit},
                                            {"pgsizes", 4096},
                                            {"write_multiple", true}}}}
                               .dump();
  std::vector<std::byte> body(sizeof(wire::version) + mine.size() + 1);
  const wire::version answer{0, std::min<uint16_t>(v->minor, 1)};
  std::memcpy(body.data(), &answer, sizeof answer);
  std::ranges::copy(text_bytes(mine), body.begin() + sizeof answer);
  return reply(m.head, body);
}

device::result device::map(const message& m) {
  const auto r = m.fixed<wire::dma_map>();
  if (!r) return std::unexpected(r.error());
  if (m.files.size() > 1) return std::unexpected(fmt::format("DMA_MAP with {} file descriptors", m.files.size()));
  const int error = memory_.map(*r, m.files.empty() ? nullptr : &m.files[0]);
  return error ? refuse(m.head, error) : reply(m.head, {});
}

device::result device::unmap(const message& m) {
  const auto r = m.fixed<wire::dma_unmap>();
  if (!r) return std::unexpected(r.error());
  const int error = memory_.unmap(r->address, r->size);
  return error ? refuse(m.head, error) : reply(m.head, bytes_of(*r));
}

uint64_t device::region_bytes(uint32_t region) const {
  switch (region) {
    case wire::region_bar0:
      return bars_.registers;
    case wire::region_bar0 + 2:
      return bars_.window;
    case wire::region_bar0 + 4:
      return bars_.pages;
    case wire::region_config:
      return config_space::bytes;
    default:
      return 0;
  }
}

device::result device::region_info(const message& m) {
  auto r = m.fixed<wire::region_info>();
  if (!r) return std::unexpected(r.error());
  if (r->index >= wire::region_count) return refuse(m.head, EINVAL);
  const uint64_t bytes = region_bytes(r->index);
  const wire::region_info info{sizeof info, bytes ? wire::region_readable | wire::region_writable : 0,
                               r->index,    0,
                               bytes,       uint64_t(r->index) << 40};
  return reply(m.head, bytes_of(info));
}

device::result device::irq_info(const message& m) {
  const auto r = m.fixed<wire::irq_info>();
  if (!r) return std::unexpected(r.error());
  if (r->index >= wire::irq_count) return refuse(m.head, EINVAL);
  const bool msix = r->index == wire::irq_msix;
  const wire::irq_info info{sizeof info, msix ? wire::irq_by_eventfd | wire::irq_no_resize : 0, r->index,
                            msix ? msix_vectors : 0};
  return reply(m.head, bytes_of(info));
}

device::result device::set_irqs(message& m) {
  const auto r = m.fixed<wire::irq_set>();
  if (!r) return std::unexpected(r.error());
  const uint32_t data = r->flags & (wire::irq_data_none | wire::irq_data_bool | wire::irq_data_eventfd);
  if (r->index != wire::irq_msix || !(r->flags & wire::irq_trigger)) return refuse(m.head, EINVAL);
  if (r->start > msix_vectors || r->count > msix_vectors - r->start) return refuse(m.head, EINVAL);
  const auto flags = m.behind<wire::irq_set>();
  if (data == wire::irq_data_bool && flags.size() < r->count)
    return std::unexpected(fmt::format("SET_IRQS: {} bytes for {} interrupts", flags.size(), r->count));
  if (data == wire::irq_data_eventfd) {
    if (!m.files.empty() && m.files.size() != r->count) return refuse(m.head, EINVAL);
    for (uint32_t i = 0; i < r->count; ++i) {
      vectors_[r->start + i] = m.files.empty() ? file() : std::move(m.files[i]);
      program_vector(r->start + i);
    }
  } else if (data == wire::irq_data_none && r->count == 0) {
    for (unsigned v = 0; v < msix_vectors; ++v) {
      vectors_[v] = file();
      program_vector(v);
    }
  } else if (data == wire::irq_data_none || data == wire::irq_data_bool) {
    for (uint32_t i = 0; i < r->count; ++i)
      if (data == wire::irq_data_none || flags[i] != std::byte{0}) signal(r->start + i);
  } else {
    return refuse(m.head, EINVAL);
  }
  return reply(m.head, {});
}

bool device::reachable(const wire::region_access& a) const {
  const uint64_t bytes = region_bytes(a.region);
  return a.count > 0 && a.count <= access_limit && a.offset < bytes && a.count <= bytes - a.offset;
}

device::result device::region_read(const message& m) {
  const auto a = m.fixed<wire::region_access>();
  if (!a) return std::unexpected(a.error());
  if (!reachable(*a)) return refuse(m.head, EINVAL);
  if (a->region == wire::region_config) {
    std::vector<std::byte> body(sizeof *a + a->count);
    std::memcpy(body.data(), &*a, sizeof *a);
    config_.read(a->offset, std::span(body).subspan(sizeof *a));
    return reply(m.head, body);
  }
  if (nic_.log) nic_.log->access(nic_.node, a->region, a->offset, a->count);
  const uint64_t number = reads_so_far_++;
  reads_.emplace(number, pending_read{m.head, *a, wall_clock::now() + answer_limit});
  nic_.port->read(a->region, a->offset, a->count,
                  [this, number](std::vector<std::byte> bytes) { finish_read(number, std::move(bytes)); });
  return {};
}

bool device::store(const wire::region_access& a, std::span<const std::byte> data) {
  if (!reachable(a) || data.size() < a.count) return false;
  if (a.region == wire::region_config) {
    config_.write(a.offset, data.first(a.count));
    tell_bus_master();
    return true;
  }
  if (nic_.log) nic_.log->access(nic_.node, a.region, a.offset, data.first(a.count));
  nic_.port->write(a.region, a.offset, data.first(a.count));
  return true;
}

device::result device::region_write(const message& m) {
  const auto a = m.fixed<wire::region_access>();
  if (!a) return std::unexpected(a.error());
  const auto data = m.behind<wire::region_access>();
  if (data.size() < a->count)
    return std::unexpected(fmt::format("REGION_WRITE of {} bytes brings {}", a->count, data.size()));
  return store(*a, data) ? reply(m.head, bytes_of(*a)) : refuse(m.head, EINVAL);
}

device::result device::region_write_multi(const message& m) {
  const auto count = m.fixed<uint64_t>();
  if (!count) return std::unexpected(count.error());
  auto rest = m.behind<uint64_t>();
  if (rest.size() / sizeof(wire::region_write_multi) < *count)
    return std::unexpected(fmt::format("REGION_WRITE_MULTI of {} writes brings {} bytes", *count, rest.size()));
  uint64_t done = 0;
  for (; done < *count; ++done, rest = rest.subspan(sizeof(wire::region_write_multi))) {
    wire::region_write_multi w;
    std::memcpy(&w, rest.data(), sizeof w);
    if (!store({w.offset, w.region, w.count}, std::as_bytes(std::span(w.data)))) break;
  }
  return reply(m.head, bytes_of(done));
}

device::result device::device_reset(const message& m) {
  reset_nic();
  return reply(m.head, {});
}

device::result device::dma_reply(const message& m) {
  const bool failed = m.head.flags & wire::error_bit;
  if (auto read = dma_reads_.extract(m.head.id)) {
    const auto access = failed ? std::expected<wire::dma_access, std::string>{} : m.fixed<wire::dma_access>();
    if (!access) return std::unexpected(access.error());
    std::optional<std::vector<std::byte>> bytes;
    // A short answer counts as none: the guest port asks for no less.
    if (const auto data = m.behind<wire::dma_access>(); !failed) bytes.emplace(data.begin(), data.end());
    read.mapped()(std::move(bytes));
    return {};
  }
  if (!dma_writes_.erase(m.head.id)) return std::unexpected(fmt::format("reply {} to no command", m.head.id));
  if (dma_writes_.empty())
    for (const unsigned v : std::exchange(held_interrupts_, {})) signal(v);
  return {};
}

}  // namespace ggas::device
