// SPDX-License-Identifier: Apache-2.0
// The client of a device and its memory. Its commands: commands.cpp.
#include "sim/vfio_user/device.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "ggas_regs.h"

namespace ggas::device {

namespace {
constexpr size_t backlog_limit = 16;  // posted writes before the NIC; after them the client waits
}

device::device(unsigned mps_bytes, const bar_sizes& bars) : bars_(bars), config_(mps_bytes) {
  config_.on_reset = [this] { reset_nic(); };
}

void device::connect(file socket) {
  client_ = std::make_unique<connection>(std::move(socket));
  greeted_ = false;
}

void device::disconnect() {
  client_.reset();
  abandon_reads();
  tell_bus_master();
  memory_.clear();
  for (file& f : vectors_) f = file();
  reads_.clear();
  dma_reads_.clear();
  dma_writes_.clear();
  held_interrupts_.clear();
  config_.reset();
  reset_nic();
}

// While an answer of the client is awaited its messages are read on: the answer is among them.
bool device::held_back() const {
  return nic_.port->backlog() >= backlog_limit && dma_reads_.empty() && dma_writes_.empty();
}

std::expected<void, std::string> device::serve() {
  while (!held_back()) {
    auto m = client_->next();
    if (!m) {
      if (auto r = client_->receive(); !r) return r;
      m = client_->next();
      if (!m) return {};
    }
    if (auto r = handle(std::move(*m)); !r) return r;
  }
  return {};
}

// A read that was answered by all ones, or whose client has gone, is not waited for any more.
void device::finish_read(uint64_t number, std::vector<std::byte> bytes) {
  const auto it = reads_.find(number);
  if (it == reads_.end()) return;
  const pending_read read = it->second;
  reads_.erase(it);
  std::vector<std::byte> body(sizeof read.access + bytes.size());
  std::memcpy(body.data(), &read.access, sizeof read.access);
  std::ranges::copy(bytes, body.begin() + sizeof read.access);
  // A client that cannot be sent to is found by the next receive.
  (void)reply(read.head, body);
  if (nic_.answered) nic_.answered();
}

void device::expire(wall_clock::time_point now) {
  while (!reads_.empty() && reads_.begin()->second.deadline <= now) {
    ++expired_;
    const auto& [number, read] = *reads_.begin();
    finish_read(number, std::vector<std::byte>(read.access.count, std::byte{0xff}));
  }
}

// ------------------------------------------------------------------------------------------------ the NIC's accesses

// A command to the client.
uint16_t device::ask(wire::command c, uint64_t address, uint64_t count, std::span<const std::byte> data) {
  const wire::dma_access access{address, count};
  std::vector<std::byte> body(sizeof access + data.size());
  std::memcpy(body.data(), &access, sizeof access);
  if (!data.empty()) std::memcpy(body.data() + sizeof access, data.data(), data.size());
  const uint16_t id = next_id_++;
  (void)client_->send({.id = id, .command = uint16_t(c), .bytes = 0, .flags = wire::type_command, .error = 0}, body);
  return id;
}

bool device::write(uint64_t address, std::span<const std::byte> bytes) {
  const auto* w = memory_.find(address, bytes.size(), true);
  const bool there = w && (!w->bytes || copy_to_guest(w->bytes + (address - w->address), bytes));
  if (nic_.log) nic_.log->guest_write(nic_.node, address, there);
  if (there && !w->bytes) dma_writes_[ask(wire::command::dma_write, address, bytes.size(), bytes)] = true;
  return there;
}

void device::read(uint64_t address, uint32_t bytes, read_done done) {
  const auto* w = memory_.find(address, bytes, false);
  const bool late = w && !w->bytes && !resetting_;
  auto logged = [this, address, late, done = std::move(done)](std::optional<std::vector<std::byte>> data) {
    if (nic_.log) nic_.log->guest_memory(nic_.node, address, data ? &*data : nullptr, late);
    done(std::move(data));
  };
  if (!w || (resetting_ && !w->bytes)) return logged(std::nullopt);
  if (late) {
    dma_reads_[ask(wire::command::dma_read, address, bytes, {})] = std::move(logged);
    return;
  }
  std::vector<std::byte> data(bytes);
  if (!copy_from_guest(data, w->bytes + (address - w->address))) return logged(std::nullopt);
  logged(std::move(data));
}

// An interrupt never overtakes a write that came before it.
void device::interrupt(unsigned vector) {
  if (vector >= vectors_.size()) return;
  if (dma_writes_.empty())
    signal(vector);
  else
    held_interrupts_.push_back(vector);
}

void device::signal(unsigned v) {
  if (!vectors_[v]) return;
  pollfd p{vectors_[v].get(), POLLOUT, 0};
  const uint64_t one = 1;
  // What cannot be written now is signalled already.
  if (poll(&p, 1, 0) == 1 && p.revents & POLLOUT) (void)!::write(vectors_[v].get(), &one, sizeof one);
}

// The client keeps the guest's MSI-X table to itself and gives descriptors, so the NIC's table is written here.
void device::program_vector(unsigned v) {
  const uint64_t control = v | (vectors_[v] ? 0 : GGAS_MSIX_CTRL_MASK_MASK);
  const auto set = [this](uint64_t offset, uint64_t value) {
    if (nic_.log) nic_.log->access(nic_.node, 0, offset, bytes_of(value));
    nic_.port->write(0, offset, bytes_of(value));
  };
  set(GGAS_REG_MSIX_ADDR(v), interrupt_address);
  set(GGAS_REG_MSIX_CTRL(v), control);
}

// Reads that the client has not answered end with an error; its answers come to nothing.
void device::abandon_reads() {
  for (auto& [id, done] : dma_reads_) std::exchange(done, [](auto) {})(std::nullopt);
}

void device::tell_bus_master() {
  if (std::exchange(master_, may_access()) == master_) return;
  if (nic_.log) nic_.log->master(nic_.node, master_);
  nic_.bus_master(master_);
}

void device::reset_nic() {
  abandon_reads();
  if (nic_.log) nic_.log->reset(nic_.node);
  resetting_ = true;
  nic_.reset();
  resetting_ = false;
  config_.reset();
  tell_bus_master();
  for (unsigned v = 0; v < vectors_.size(); ++v)
    if (vectors_[v]) program_vector(v);
}

}  // namespace ggas::device
