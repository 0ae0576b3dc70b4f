// SPDX-License-Identifier: Apache-2.0
// A virtual machine monitor for tests: what QEMU says to a vfio-user server, without QEMU.
#pragma once

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "sim/vfio_user/message.hpp"
#include "sim/vfio_user/server.hpp"

namespace ggas::test {

namespace wire = device::wire;

// A server with its own thread, on sockets in a folder of its own.
class running_server {
 public:
  explicit running_server(device::server_config cfg, unsigned nodes = 2) {
    folder_ = std::filesystem::temp_directory_path() / ("ggas-device-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    cfg.rig.nodes = nodes;
    for (unsigned n = 0; n < nodes; ++n) cfg.sockets.push_back(folder_ / ("node" + std::to_string(n)));
    sockets_ = cfg.sockets;
    auto made = device::server::create(std::move(cfg));
    if (!made) throw std::runtime_error(made.error());
    server_ = std::move(*made);
    thread_ = std::thread([this] { ended_ = server_->run(); });
  }
  ~running_server() {
    stop();
    std::filesystem::remove_all(folder_);
  }
  void stop() {
    if (!thread_.joinable()) return;
    server_->stop();
    thread_.join();
    EXPECT_TRUE(ended_) << ended_.error();
  }
  const std::filesystem::path& socket(unsigned n) const { return sockets_[n]; }
  device::server& get() { return *server_; }  // after stop()

 private:
  std::filesystem::path folder_;
  std::vector<std::filesystem::path> sockets_;
  std::unique_ptr<device::server> server_;
  std::expected<void, std::string> ended_;
  std::thread thread_;
};

// Guest memory that the server may map.
class shared_memory {
 public:
  explicit shared_memory(size_t bytes) : fd(memfd_create("guest", MFD_CLOEXEC)), bytes_(bytes) {
    EXPECT_EQ(ftruncate(fd.get(), off_t(bytes)), 0);
    at_ = static_cast<std::byte*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0));
  }
  ~shared_memory() { munmap(at_, bytes_); }
  uint64_t word(uint64_t offset) const {
    return __atomic_load_n(reinterpret_cast<uint64_t*>(at_ + offset), __ATOMIC_ACQUIRE);
  }
  std::byte* at(uint64_t offset) { return at_ + offset; }
  const device::file fd;

 private:
  size_t bytes_;
  std::byte* at_;
};

class client {
 public:
  static constexpr int timeout_ms = 20'000;

  explicit client(const std::filesystem::path& path) : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un a{};
    a.sun_family = AF_UNIX;
    path.native().copy(a.sun_path, sizeof a.sun_path - 1);
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<sockaddr*>(&a), sizeof a), 0) << strerror(errno);
  }

  void send_raw(std::span<const std::byte> bytes, std::vector<int> fds = {}) {
    iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 32)] = {};
    msghdr m{};
    m.msg_iov = &part;
    m.msg_iovlen = 1;
    if (!fds.empty()) {
      m.msg_control = control;
      m.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
      cmsghdr* const c = CMSG_FIRSTHDR(&m);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
      std::memcpy(CMSG_DATA(c), fds.data(), sizeof(int) * fds.size());
    }
    size_t sent = size_t(std::max<ssize_t>(0, sendmsg(socket_.get(), &m, MSG_NOSIGNAL)));
    while (sent < bytes.size()) {
      const ssize_t n = ::send(socket_.get(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (n <= 0) return;  // the server has ended the connection
      sent += size_t(n);
    }
  }
  void send(wire::command c, std::span<const std::byte> body, std::vector<int> fds = {}, uint32_t flags = 0) {
    send_raw(device::encode({.id = ++id_, .command = uint16_t(c), .bytes = 0, .flags = flags, .error = 0}, body), fds);
  }
  // The next message, whosoever; nullopt: the server ended the connection.
  std::optional<device::message> receive() {
    for (;;) {
      if (auto m = reader_.next()) return m;
      pollfd p{socket_.get(), POLLIN, 0};
      if (poll(&p, 1, timeout_ms) != 1) {
        ADD_FAILURE() << "the server says nothing";
        return std::nullopt;
      }
      std::byte bytes[65536];
      const ssize_t n = recv(socket_.get(), bytes, sizeof bytes, 0);
      if (n <= 0) return std::nullopt;
      EXPECT_TRUE(reader_.feed(std::span(bytes).first(size_t(n)), {}));
    }
  }
  // The reply to the last command; commands of the server meanwhile are served from `memory`.
  std::optional<device::message> reply() {
    for (;;) {
      auto m = receive();
      if (!m || m->reply()) return m;
      serve(*m);
    }
  }
  std::optional<device::message> ask(wire::command c, std::span<const std::byte> body, std::vector<int> fds = {}) {
    send(c, body, std::move(fds));
    auto m = reply();
    EXPECT_TRUE(!m || m->head.id == id_);
    return m;
  }
  // 0, or the errno of the refusal; -1: no answer.
  int result(wire::command c, std::span<const std::byte> body, std::vector<int> fds = {}) {
    const auto m = ask(c, body, std::move(fds));
    return m ? int(m->head.error) : -1;
  }

  void greet() {
    std::vector<std::byte> body(4);
    const std::string json = R"({"capabilities":{"max_msg_fds":8,"max_data_xfer_size":1048576}})";
    const auto text = std::as_bytes(std::span(json.c_str(), json.size() + 1));
    body.insert(body.end(), text.begin(), text.end());
    ASSERT_EQ(result(wire::command::version, body), 0);
  }
  int map(uint64_t address, uint64_t size, int fd, uint64_t offset = 0, uint32_t flags = 3) {
    const wire::dma_map m{sizeof m, flags, offset, address, size};
    return result(wire::command::dma_map, device::bytes_of(m), fd < 0 ? std::vector<int>{} : std::vector{fd});
  }
  int unmap(uint64_t address, uint64_t size) {
    const wire::dma_unmap m{sizeof m, 0, address, size};
    return result(wire::command::dma_unmap, device::bytes_of(m));
  }
  std::vector<std::byte> read(unsigned region, uint64_t offset, uint32_t count) {
    const wire::region_access a{offset, region, count};
    const auto m = ask(wire::command::region_read, device::bytes_of(a));
    if (!m || m->body.size() < sizeof a) return {};
    return {m->body.begin() + sizeof a, m->body.end()};
  }
  uint64_t read64(unsigned region, uint64_t offset) {
    uint64_t v = 0;
    const auto bytes = read(region, offset, 8);
    EXPECT_EQ(bytes.size(), 8u);
    std::memcpy(&v, bytes.data(), bytes.size());
    return v;
  }
  // Posted, as QEMU writes.
  void write(unsigned region, uint64_t offset, std::span<const std::byte> data) {
    const wire::region_access a{offset, region, uint32_t(data.size())};
    std::vector<std::byte> body(sizeof a + data.size());
    std::memcpy(body.data(), &a, sizeof a);
    std::memcpy(body.data() + sizeof a, data.data(), data.size());
    send(wire::command::region_write, body, {}, wire::no_reply);
  }
  void write64(unsigned region, uint64_t offset, uint64_t value) { write(region, offset, device::bytes_of(value)); }
  void bus_master(bool on) {
    const uint16_t command = on ? 6 : 2;
    write(wire::region_config, 4, device::bytes_of(command));
  }
  int vectors(unsigned start, std::vector<int> fds) {
    const wire::irq_set s{sizeof s, wire::irq_data_eventfd | wire::irq_trigger, wire::irq_msix, start,
                          uint32_t(fds.size())};
    return result(wire::command::set_irqs, device::bytes_of(s), std::move(fds));
  }

  // Memory that is reached by messages, by address; `asked` counts them.
  std::map<uint64_t, std::byte> memory;
  unsigned asked = 0;

 private:
  void serve(const device::message& m) {
    ++asked;
    const auto a = m.fixed<wire::dma_access>();
    ASSERT_TRUE(a);
    std::vector<std::byte> body(sizeof *a);
    std::memcpy(body.data(), &*a, sizeof *a);
    const auto data = m.behind<wire::dma_access>();
    for (uint64_t i = 0; i < a->count; ++i)
      if (m.command() == wire::command::dma_write)
        memory[a->address + i] = data[i];
      else
        body.push_back(memory[a->address + i]);
    send_raw(device::encode(
        {.id = m.head.id, .command = m.head.command, .bytes = 0, .flags = wire::type_reply, .error = 0}, body));
  }

  device::file socket_;
  device::message_reader reader_;
  uint16_t id_ = 0;
};

}  // namespace ggas::test
