-- SPDX-License-Identifier: Apache-2.0
-- Wireshark dissector of GGAS captures (sim/trace/pcapng.hpp writes them): USER0 is a network packet
-- (docs/packet-format.md), USER1 a PCIe TLP.
--   wireshark -X lua_script:sim/trace/ggas.lua capture.pcapng

local packet = Proto("ggas", "GGAS packet")
local tlp = Proto("ggas_tlp", "GGAS TLP")

local ops = { [0] = "SMFU_STORE", [1] = "SMFU_LOAD", [2] = "SMFU_LOAD_RSP", [3] = "SMFU_QUIET", [4] = "SMFU_QUIET_RSP",
  [0x10] = "RMA_PUT", [0x11] = "RMA_GET", [0x12] = "RMA_NOTIFY", [0x13] = "RMA_ATOMIC", [0x18] = "RMA_ACK", [0x19] = "RMA_GET_DATA",
  [0x1a] = "RMA_GET_DONE", [0x1b] = "RMA_ATOMIC_RSP", [0x20] = "VELO_MSG",
  [0x30] = "COLL_UP", [0x31] = "COLL_DOWN" }
local vcs = { [0] = "P", [1] = "NP", [2] = "RSP", [3] = "RMA" }
local states = { [0] = "OK", [1] = "RANGE", [2] = "HOST_ERROR", [3] = "TIMEOUT", [4] = "LINK_DOWN", [5] = "UNREACHABLE",
  [6] = "PROTECTION", [7] = "FULL", [8] = "LOST", [9] = "DISABLED", [10] = "BAD" }

local f = {
  dst = ProtoField.uint16("ggas.dst", "Destination node"),
  src = ProtoField.uint16("ggas.src", "Source node"),
  len = ProtoField.uint16("ggas.len_dw", "Payload length (DW)"),
  vc = ProtoField.uint8("ggas.vc", "Virtual channel", base.DEC, vcs),
  lane = ProtoField.uint8("ggas.lane", "Lane of the virtual channel"),
  unordered = ProtoField.uint8("ggas.unordered", "It may pass others"),
  version = ProtoField.uint8("ggas.version", "Packet version"),
  hops = ProtoField.uint8("ggas.hops", "Hops it may still take"),
  seq = ProtoField.uint8("ggas.seq", "Link sequence number"),
  session = ProtoField.uint8("ggas.session", "Link session"),
  op = ProtoField.uint8("ggas.op", "Operation", base.HEX, ops),
  status = ProtoField.uint8("ggas.status", "Status", base.DEC, states),
  first_be = ProtoField.uint8("ggas.first_be", "First byte enables", base.HEX),
  last_be = ProtoField.uint8("ggas.last_be", "Last byte enables", base.HEX),
  tag = ProtoField.uint16("ggas.tag", "Tag", base.HEX),
  req = ProtoField.uint16("ggas.req_dw", "Requested length (DW)"),
  addr = ProtoField.uint64("ggas.addr", "Address (segment offset or network logical)", base.HEX),
  svpid = ProtoField.uint8("ggas.svpid", "Context of the initiator"),
  epoch = ProtoField.uint8("ggas.epoch", "Its epoch", base.HEX),
  dvpid = ProtoField.uint8("ggas.dvpid", "Context at the target"),
  domain = ProtoField.uint16("ggas.domain", "Domain of the initiator"),
  export = ProtoField.uint8("ggas.export", "Export at the target"),
  place = ProtoField.uint8("ggas.place", "Place of the get at its target"),
  flags = ProtoField.uint16("ggas.flags", "Flags", base.HEX),
  last = ProtoField.bool("ggas.flags.last", "Last of its message", 6, nil, 1),
  ack = ProtoField.bool("ggas.flags.ack", "Wants an answer", 6, nil, 2),
  strong = ProtoField.bool("ggas.flags.strong", "Behind all earlier puts", 6, nil, 4),
  result = ProtoField.bool("ggas.flags.result", "Result record", 6, nil, 8),
  responder = ProtoField.bool("ggas.flags.responder", "Responder notification", 6, nil, 16),
  first = ProtoField.bool("ggas.flags.first", "First of its operation", 6, nil, 32),
  payload = ProtoField.bytes("ggas.payload", "Payload"),
  crc = ProtoField.uint32("ggas.crc", "CRC-32", base.HEX),
  crc_good = ProtoField.bool("ggas.crc.good", "CRC good"),
  width = ProtoField.uint16("ggas.link_width", "Link width (bits)"),
}
packet.fields = { f.dst, f.src, f.len, f.vc, f.lane, f.unordered, f.version, f.hops, f.seq, f.session, f.op, f.status, f.first_be, f.last_be, f.tag, f.req, f.addr, f.svpid,
  f.epoch, f.dvpid, f.domain, f.export, f.place, f.flags, f.last, f.ack, f.strong, f.result, f.responder, f.first, f.payload, f.crc, f.crc_good, f.width }

local bad_length = ProtoExpert.new("ggas.bad_length", "Payload shorter than the header says", expert.group.MALFORMED, expert.severity.ERROR)
local bad_crc = ProtoExpert.new("ggas.bad_crc", "CRC is wrong", expert.group.CHECKSUM, expert.severity.ERROR)
local too_short = ProtoExpert.new("ggas.too_short", "Shorter than header and CRC", expert.group.MALFORMED, expert.severity.ERROR)
packet.experts = { bad_length, bad_crc, too_short }

-- CRC-32, reflected 0xEDB88320.
local crc_table = {}
for i = 0, 255 do
  local c = i
  for _ = 1, 8 do
    c = (c % 2 == 1) and bit32.bxor(bit32.rshift(c, 1), 0xEDB88320) or bit32.rshift(c, 1)
  end
  crc_table[i] = c
end

local function crc_update(c, bytes, first, last)
  for i = first, last do
    c = bit32.bxor(bit32.rshift(c, 8), crc_table[bit32.band(bit32.bxor(c, bytes:get_index(i)), 0xff)])
  end
  return c
end

local function crc_zeros(c, n)
  for _ = 1, n do
    c = bit32.bxor(bit32.rshift(c, 8), crc_table[bit32.band(c, 0xff)])
  end
  return c
end

-- The CRC covers all of the flits in front of it, so it depends on the width of the link: a link of 64 bits sends w3 behind the
-- payload.
local function crc_of(bytes, payload, width)
  local flit, header = width / 8, (width == 64) and 24 or 28
  local c = crc_update(0xffffffff, bytes, 0, header - 1)
  c = crc_update(c, bytes, 28, 27 + payload)
  c = crc_zeros(c, -(header + payload + (width == 64 and 0 or 4)) % flit)
  if width == 64 then c = crc_update(c, bytes, 24, 27) end
  return bit32.bxor(c, 0xffffffff)
end

function packet.dissector(buffer, pinfo, tree)
  pinfo.cols.protocol = "GGAS"
  local length = buffer:len()
  local t = tree:add(packet, buffer())
  if length < 32 then
    t:add_proto_expert_info(too_short)
    return length
  end
  local w0_low, w0_high = buffer(0, 4):le_uint(), buffer(4, 4):le_uint()
  local w1_low, w1_high = buffer(8, 4):le_uint(), buffer(12, 4):le_uint()
  local len_dw = bit32.bor(bit32.lshift(bit32.extract(w0_high, 0, 8), 3), bit32.extract(w0_low, 29, 3))
  local op = bit32.extract(w0_high, 8, 8)
  local tag = bit32.bor(bit32.lshift(bit32.extract(w1_high, 0, 4), 12), bit32.extract(w1_low, 20, 12))
  local req = bit32.extract(w1_low, 9, 11)

  local source, target = buffer(14, 2):le_uint(), buffer(6, 2):le_uint()
  pinfo.cols.src, pinfo.cols.dst = string.format("node %d", source), string.format("node %d", target)
  t:add_le(f.dst, buffer(6, 2))
  t:add(f.op, buffer(5, 1), op)
  t:add(f.len, buffer(3, 2), len_dw)
  t:add(f.version, buffer(3, 1), bit32.extract(w0_low, 26, 3))
  t:add(f.lane, buffer(2, 1), bit32.extract(w0_low, 22, 1))
  t:add(f.unordered, buffer(2, 1), bit32.extract(w0_low, 23, 1))
  t:add(f.vc, buffer(2, 1), bit32.extract(w0_low, 20, 2))
  t:add(f.hops, buffer(1, 2), bit32.extract(w0_low, 12, 8))
  t:add(f.seq, buffer(0, 2), bit32.extract(w0_low, 4, 8))
  t:add(f.session, buffer(0, 1), bit32.extract(w0_low, 0, 4))
  t:add_le(f.src, buffer(14, 2))
  t:add(f.status, buffer(13, 1), bit32.extract(w1_high, 12, 4))
  t:add(f.first_be, buffer(13, 1), bit32.extract(w1_high, 8, 4))
  t:add(f.last_be, buffer(12, 1), bit32.extract(w1_high, 4, 4))
  local one_sided = op >= 0x10 and op < 0x80
  if one_sided then
    local flags = bit32.extract(w1_low, 6, 6)
    t:add(f.svpid, buffer(11, 2), bit32.rshift(tag, 8))
    t:add(f.epoch, buffer(10, 2), bit32.band(tag, 0xff))
    t:add(f.dvpid, buffer(9, 2), bit32.extract(w1_low, 12, 8))
    t:add(f.place, buffer(8, 1), bit32.extract(w1_low, 2, 4))
    local sub = t:add(f.flags, buffer(8, 2), flags)
    for _, bit in ipairs({ f.last, f.ack, f.strong, f.result, f.responder, f.first }) do sub:add(bit, buffer(8, 2), flags) end
  else
    t:add(f.tag, buffer(10, 3), tag)
    t:add(f.req, buffer(9, 2), req)
  end
  t:add_le(f.domain, buffer(24, 2))
  t:add(f.export, buffer(26, 1))
  t:add_le(f.addr, buffer(16, 8))

  local payload = length - 32
  if payload > 0 then t:add(f.payload, buffer(28, payload)) end
  if payload ~= 4 * len_dw then t:add_proto_expert_info(bad_length) end

  local found = buffer(length - 4, 4):le_uint()
  local crc_item = t:add_le(f.crc, buffer(length - 4, 4))
  local bytes, width = buffer:bytes(), nil
  for _, w in ipairs({ 64, 256, 512 }) do
    if crc_of(bytes, payload, w) == found then
      width = w
      break
    end
  end
  t:add(f.crc_good, buffer(length - 4, 4), width ~= nil):set_generated()
  if width then
    t:add(f.width, width):set_generated()
  else
    crc_item:add_proto_expert_info(bad_crc)
  end

  local size = (op == 1) and 4 * req or 4 * len_dw
  local who = one_sided and string.format("context %d", bit32.rshift(tag, 8)) or string.format("tag 0x%x", tag)
  pinfo.cols.info = string.format("%d > %d %s %d B %s", source, target, ops[op] or "?", size, who)
  return length
end

-- ------------------------------------------------------------------------------------------------ TLPs

local kinds = { [0x00] = "MRd", [0x20] = "MRd", [0x40] = "MWr", [0x60] = "MWr", [0x0a] = "Cpl", [0x4a] = "CplD" }
local cpl_states = { [0] = "SC", [1] = "UR", [4] = "CA" }

local g = {
  kind = ProtoField.string("ggas_tlp.kind", "Kind"),
  fmt_type = ProtoField.uint8("ggas_tlp.fmt_type", "Format and type", base.HEX),
  len = ProtoField.uint16("ggas_tlp.len_dw", "Length (DW)"),
  attr = ProtoField.uint8("ggas_tlp.attr", "Attributes", base.HEX),
  ep = ProtoField.bool("ggas_tlp.poisoned", "Poisoned"),
  requester = ProtoField.uint16("ggas_tlp.requester", "Requester", base.HEX),
  completer = ProtoField.uint16("ggas_tlp.completer", "Completer", base.HEX),
  tag = ProtoField.uint16("ggas_tlp.tag", "Tag", base.HEX),
  first_be = ProtoField.uint8("ggas_tlp.first_be", "First byte enables", base.HEX),
  last_be = ProtoField.uint8("ggas_tlp.last_be", "Last byte enables", base.HEX),
  addr = ProtoField.uint64("ggas_tlp.addr", "Address", base.HEX),
  status = ProtoField.uint8("ggas_tlp.status", "Completion status", base.DEC, cpl_states),
  count = ProtoField.uint16("ggas_tlp.byte_count", "Bytes left"),
  lower = ProtoField.uint8("ggas_tlp.lower_addr", "Lower address", base.HEX),
  payload = ProtoField.bytes("ggas_tlp.payload", "Payload"),
}
tlp.fields = { g.kind, g.fmt_type, g.len, g.attr, g.ep, g.requester, g.completer, g.tag, g.first_be, g.last_be, g.addr, g.status, g.count,
  g.lower, g.payload }
local tlp_length = ProtoExpert.new("ggas_tlp.bad_length", "Payload disagrees with the length", expert.group.MALFORMED, expert.severity.ERROR)
tlp.experts = { tlp_length }

-- Of its root complex: "node 0 02:00.0".
local interface = Field.new("frame.interface_name")
local function function_of(id)
  local node = string.match(tostring(interface() or ""), "node(%d+)") or "?"
  return string.format("node %s %02x:%02x.%d", node, bit32.extract(id, 8, 8), bit32.extract(id, 3, 5), bit32.extract(id, 0, 3))
end

function tlp.dissector(buffer, pinfo, tree)
  pinfo.cols.protocol = "TLP"
  local length = buffer:len()
  local t = tree:add(tlp, buffer())
  if length < 12 then
    t:add_proto_expert_info(tlp_length)
    return length
  end
  local b0, b1, b2 = buffer(0, 1):uint(), buffer(1, 1):uint(), buffer(2, 1):uint()
  local kind = kinds[b0] or string.format("type 0x%02x", b0)
  local completion = bit32.extract(b0, 0, 5) == 0x0a
  local wide = bit32.extract(b0, 5, 1) == 1 and not completion
  local data = bit32.extract(b0, 6, 1) == 1
  local len_dw = bit32.band(buffer(2, 2):uint(), 0x3ff)
  -- 0 means 1024, except in a completion without data.
  local payload_dw = data and ((len_dw == 0) and 1024 or len_dw) or 0
  local tag_high = bit32.extract(b1, 3, 1) + 2 * bit32.extract(b1, 7, 1)
  t:add(g.kind, buffer(0, 1), kind)
  t:add(g.fmt_type, buffer(0, 1))
  t:add(g.len, buffer(2, 2), len_dw)
  t:add(g.attr, buffer(1, 2), bit32.extract(b2, 4, 2) + 4 * bit32.extract(b1, 2, 1))
  t:add(g.ep, buffer(2, 1), bit32.extract(b2, 6, 1) == 1)
  local header, detail = 12, ""
  if completion then
    local w = buffer(6, 2):uint()
    pinfo.cols.src, pinfo.cols.dst = function_of(buffer(4, 2):uint()), function_of(buffer(8, 2):uint())
    t:add(g.completer, buffer(4, 2))
    t:add(g.status, buffer(6, 1), bit32.extract(w, 13, 3))
    t:add(g.count, buffer(6, 2), bit32.band(w, 0xfff))
    t:add(g.requester, buffer(8, 2))
    t:add(g.tag, buffer(10, 1), buffer(10, 1):uint() + 256 * tag_high)
    t:add(g.lower, buffer(11, 1), bit32.band(buffer(11, 1):uint(), 0x7f))
    detail = cpl_states[bit32.extract(w, 13, 3)] or "?"
  else
    pinfo.cols.src = function_of(buffer(4, 2):uint())
    t:add(g.requester, buffer(4, 2))
    t:add(g.tag, buffer(6, 1), buffer(6, 1):uint() + 256 * tag_high)
    t:add(g.last_be, buffer(7, 1), bit32.extract(buffer(7, 1):uint(), 4, 4))
    t:add(g.first_be, buffer(7, 1), bit32.extract(buffer(7, 1):uint(), 0, 4))
    if wide then header = 16 end
    if length >= header then
      local a = wide and buffer(8, 8) or buffer(8, 4)
      local address = wide and a:uint64() or UInt64(a:uint(), 0)
      t:add(g.addr, a, address)
      detail = "0x" .. address:tohex()
      pinfo.cols.dst = detail
    end
  end
  if length ~= header + 4 * payload_dw then t:add_proto_expert_info(tlp_length) end
  if length > header then t:add(g.payload, buffer(header, length - header)) end
  pinfo.cols.info = string.format("%s %d B %s", kind, 4 * len_dw, detail)
  return length
end

local encap = DissectorTable.get("wtap_encap")
encap:add(wtap.USER0, packet)
encap:add(wtap.USER1, tlp)
