// SPDX-License-Identifier: Apache-2.0
// Requester: descriptors to packets and fetch commands, answers to counts and notifications. One step at a time:
// something that
// happened to a context is chosen, the context's state and descriptor are read from RAM, and a cycle later the new
// state is
// written and the outputs are loaded; meanwhile a step of the other direction and of another context may be chosen.
// What comes in
// and what goes out take turns; nothing waits for a packet to be taken except other packets.
`default_nettype none

module rma_requester #(
    parameter int unsigned DATA_W    = 64,                       // 64, 256 or 512
    // fetch commands a context may have under way: what covers the host's latency
    parameter int unsigned FETCH_MAX = DATA_W == 64 ? 12 : 64
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [63:0]         time_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [15:0]         cfg_node_i,
    input  wire logic [1:0]          cfg_mtu_i,           // RMA_CTRL.mtu
    input  wire logic [15:0]         cfg_retry_ticks_i,   // RMA_CTRL.retry_ticks
    input  wire logic [15:0]         cfg_retry_limit_i,   // RMA_CTRL.retry_limit
    input  wire logic [15:0]         cfg_timeout_i,       // RMA_TIMEOUT.answer
    input  wire logic [15:0]         peer_node_i,
    input  wire logic                peer_valid_i,
    input  wire logic                link_up_i,

    // writes of CONTEXT[]; is anything of a context under way?
    input  wire logic                cfg_we_i,
    input  wire logic [7:0]          cfg_vpid_i,
    input  wire logic [2:0]          cfg_word_i,
    // verilator lint_off UNUSEDSIGNAL
    input  wire logic [63:0]         cfg_data_i,
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [7:0]          look_vpid_i,
    output      logic                look_busy_o,

    // descriptors: a beat a slot, one of a context at a time
    input  wire logic                desc_valid_i,
    output      logic                desc_ready_o,
    input  wire logic                desc_sop_i,
    input  wire logic                desc_eop_i,
    input  wire logic [7:0]          desc_vpid_i,
    input  wire logic [15:0]         desc_pd_i,
    input  wire logic [4:0]          desc_starts_i,       // times the context was started
    input  wire logic [255:0]        desc_data_i,
    output      logic                desc_done_o,         // pulse: the context's next one may come
    output      logic [7:0]          desc_done_vpid_o,

    // counts for the status block
    output      logic                st_valid_o,
    input  wire logic                st_ready_i,
    output      logic [7:0]          st_vpid_o,
    output      logic [0:0]          st_local_o,
    output      logic [7:0]          st_remote_o,
    output      logic                st_error_o,
    output      logic [3:0]          st_status_o,

    // express packets: all but puts from memory
    output      logic                tx_valid_o,
    input  wire logic                tx_ready_i,
    output      logic                tx_sop_o,
    output      logic                tx_eop_o,
    output      ggas_pkg::rma_hdr_t  tx_hdr_o,
    output      logic [DATA_W-1:0]   tx_data_o,

    // puts from memory: to rma_fetch, META_W = 8
    output      logic                cmd_valid_o,
    input  wire logic                cmd_ready_i,
    output      logic [63:0]         cmd_nla_o,
    output      logic [15:0]         cmd_pd_o,
    output      logic [8:0]          cmd_bytes_o,
    output      ggas_pkg::rma_hdr_t  cmd_hdr_o,
    output      logic [7:0]          cmd_meta_o,
    input  wire logic                done_valid_i,
    input  wire logic [3:0]          done_status_i,
    input  wire logic [7:0]          done_meta_i,

    // notifications: client 0 of rma_notify (no domain to check)
    output      logic                nt_valid_o,
    input  wire logic                nt_ready_i,
    output      logic [7:0]          nt_vpid_o,
    output      logic                nt_drop_o,
    output      logic [63:0]         nt_w0_o,
    output      ggas_pkg::note_w1_t  nt_w1_o,
    input  wire logic                nt_rsp_valid_i,
    input  wire logic [3:0]          nt_rsp_status_i,

    // answers
    input  wire logic                ans_valid_i,
    output      logic                ans_ready_o,
    input  wire logic [7:0]          ans_op_i,
    input  wire logic [7:0]          ans_vpid_i,
    input  wire logic [7:0]          ans_epoch_i,
    input  wire logic                ans_asked_i,         // the answered packet had RMA_ACK, or is always answered
    input  wire logic [3:0]          ans_status_i,
    input  wire logic [63:0]         ans_addr_i,
    input  wire logic [15:0]         ans_node_i,
    input  wire logic [7:0]          ans_dvpid_i,
    input  wire logic                ans_progress_i,      // pulse: a packet of data of a get has come for ans_vpid_i
    output      logic [7:0]          ans_look_vpid_o,
    // something of ans_look_vpid_o is about to be written, in the same cycle
    input  wire logic                ans_writes_i,
    output      logic                ep_valid_o,          // pulse: answers to ep_vpid_o of another epoch are late
    output      logic [7:0]          ep_vpid_o,
    output      logic [4:0]          ep_epoch_o,          // times the context gave up

    // events: pulses, at most one at a time
    output      logic                ev_bad_descriptor_o,
    output      logic                ev_protection_o,
    output      logic                ev_timeout_o,
    output      logic                ev_unreachable_o,
    output      logic                ev_retry_limit_o,
    output      logic                ev_unexpected_o,
    output      logic [15:0]         ev_node_o,
    output      logic [39:0]         ev_info_o,           // the context
    output      logic                cnt_descriptors_o,
    output      logic                cnt_retries_o,
    output      logic                cnt_acks_o,
    output      logic                busy_o,
    output      logic                timer_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;

  localparam int unsigned K_DONE = rma_requester_pkg::K_DONE, K_NOTED = rma_requester_pkg::K_NOTED,
    K_ANSWER = rma_requester_pkg::K_ANSWER,
      K_DESC = rma_requester_pkg::K_DESC, K_EXP = rma_requester_pkg::K_EXP, K_PUT = rma_requester_pkg::K_PUT,
      K_LATE = rma_requester_pkg::K_LATE, K_AGAIN = rma_requester_pkg::K_AGAIN;

  // ---------------------------------------------------------------- what waits for a step
  logic       done_head, noted, late, late_full, put_head, exp_head, note_room, cmd_room, cmd_free, express_free;
  logic [7:0] info_vpid, noted_vpid, late_vpid, put_vpid, exp_vpid, pick;
  logic [2:0] st_count;

  // A step that ends now allows one to start that touches nothing of its own.
  wire        ending = state_q == S_STEP && !kind_q[K_EXP];
  wire        inward = kind_q[K_DONE] || kind_q[K_NOTED] || kind_q[K_ANSWER];
  logic [6:0] clash;
  always_comb begin
    clash = '0;
    if (ending) begin
      clash = inward ? 7'h07 : 7'h78;
      if (kind_q[K_NOTED]) clash[K_DESC] = 1'b1;  // writes the descriptor memory
      if (info_vpid == vpid_q) clash[K_DONE] = 1'b1;
      if (noted_vpid == vpid_q) clash[K_NOTED] = 1'b1;
      if (ans_vpid_i == vpid_q) clash[K_ANSWER] = 1'b1;
      if (desc_vpid_i == vpid_q) clash[K_DESC] = 1'b1;
      if (exp_vpid == vpid_q) clash[K_EXP] = 1'b1;
      if (put_vpid == vpid_q) clash[K_PUT] = 1'b1;
      if (late_vpid == vpid_q) clash[K_LATE] = 1'b1;
    end
  end
  rma_choice u_choice (
      .clk_i, .rst_ni, .idle_i(state_q == S_IDLE || ending), .clash_i(clash), .room_i(st_count < 3'd3 && note_room),
      .noted_i(noted), .done_i(done_head), .answer_i(ans_valid_i),
      .desc_i(desc_valid_i && express_free), .exp_i(exp_head && express_free), .put_i(put_head && cmd_free),
      .scan_i(late), .full_i(late_full),
      .pick_o(pick));
  wire       start = pick != '0;
  wire [7:0] vpid  = pick[K_DONE] ? info_vpid : pick[K_NOTED] ? noted_vpid : pick[K_ANSWER] ? ans_vpid_i : pick[K_DESC]
    ? desc_vpid_i
                     : pick[K_EXP] ? exp_vpid : pick[K_PUT] ? put_vpid : late_vpid;

  // ---------------------------------------------------------------- the step under way
  localparam logic [2:0] S_IDLE = 3'd0, S_BEATS = 3'd1, S_STEP = 3'd2, S_LOAD1 = 3'd3, S_LOAD2 = 3'd4;
  logic [2:0]   state_q;
  logic [7:0]   kind_q;     // one-hot, K_*
  logic [7:0]   vpid_q;
  logic         loaded_q;   // first_q and slots_q hold the descriptor
  logic [255:0] first_q;    // its first slot
  logic [511:0] slots_q;    // those behind it
  logic [1:0]   beat_q;
  logic [15:0]  pd_q;
  logic [4:0]   starts_q;
  logic [7:0]   ans_op_q, ans_epoch_q, ans_dvpid_q;
  logic [15:0]  ans_node_q;
  logic [63:0]  ans_addr_q;
  logic [3:0]   ans_status_q;
  logic         ans_asked_q;

  logic [255:0] d_rdata;
  wire          more = state_q == S_STEP && kind_q[K_EXP] && !loaded_q && !s.tail
    && rma_requester_pkg::has_slots(d_rdata[3:0]);
  wire          step = state_q == S_STEP && !more;

  assign desc_ready_o = pick[K_DESC] || state_q == S_BEATS;
  assign ans_ready_o  = pick[K_ANSWER];
  assign ans_look_vpid_o = vpid_q;
  wire   desc_take    = desc_valid_i && desc_ready_o;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      state_q <= S_IDLE;
    end else begin
      case (state_q)
        S_IDLE, S_STEP: state_q <= start ? (pick[K_DESC] && !desc_eop_i ? S_BEATS : S_STEP) : more ? S_LOAD1 : S_IDLE;
        S_BEATS: if (desc_valid_i && desc_eop_i) state_q <= S_STEP;
        S_LOAD1: state_q <= S_LOAD2;
        default: state_q <= S_STEP;
      endcase
    end
  end

  always_ff @(posedge clk_i) begin
    if (start) begin
      kind_q   <= pick;
      vpid_q   <= vpid;
      loaded_q <= pick[K_DESC];
      beat_q   <= 2'd1;
    end
    if (pick[K_DESC]) begin
      pd_q    <= desc_pd_i;
      starts_q <= desc_starts_i;
    end
    if (pick[K_ANSWER]) begin
      ans_op_q     <= ans_op_i;
      ans_epoch_q  <= ans_epoch_i;
      ans_asked_q  <= ans_asked_i;
      ans_status_q <= ans_status_i;
      ans_addr_q   <= ans_addr_i;
      ans_node_q   <= ans_node_i;
      ans_dvpid_q  <= ans_dvpid_i;
    end
    if (state_q == S_BEATS && desc_valid_i) beat_q <= beat_q + 1'b1;
    if (more) loaded_q <= 1'b1;
    if (pick[K_DESC] || (reload && !loaded_q)) first_q <= arrives;
    if ((state_q == S_BEATS && desc_valid_i && beat_q[0]) || state_q == S_LOAD1) slots_q[255:0] <= arrives;
    if ((state_q == S_BEATS && desc_valid_i && !beat_q[0]) || state_q == S_LOAD2) slots_q[511:256] <= arrives;
  end
  // A descriptor that waited for its express packet comes from memory; its registers hold it until the packet is out.
  wire         reload  = state_q == S_STEP && kind_q[K_EXP];
  wire [255:0] arrives = reload || state_q == S_LOAD1 || state_q == S_LOAD2 ? d_rdata : desc_data_i;

  // ---------------------------------------------------------------- contexts
  rma_requester_pkg::state_t  s, s_out, s_in, s_new;
  rma_requester_pkg::action_t act, act_out, act_in;
  wire     keep = step && act.keep;
  rma_memory u_memory (
      .clk_i, .rst_ni, .re_i(start), .vpid_i(start ? vpid : vpid_q), .state_o(s),
      .word_re_i(start || more || state_q == S_LOAD1),
      .word_i(start ? {2{pick[K_AGAIN]}} : state_q == S_LOAD1 ? 2'd2 : 2'd1), .word_o(d_rdata), .we_i(step),
      .state_i(s_new),
      .word_we_i(desc_take || keep), .word_waddr_i(keep ? {2'd3, vpid_q} : start ? {2'd0, vpid} : {beat_q, vpid_q}),
      .word_wdata_i({desc_data_i[255:128], keep ? {nt_w1_o, nt_w0_o} : desc_data_i[127:0]}));

  logic         enabled, look_active;
  logic         progress;  // data has come since the last look
  logic         look_count, look_note, express_held;
  logic [7:0]   express_vpid;
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS)) u_enabled (
      .clk_i, .rst_ni, .we_i(cfg_we_i && cfg_word_i == 3'd0), .waddr_i(cfg_vpid_i[CW-1:0]), .wdata_i(cfg_data_i[0]),
      .raddr_i(vpid_q[CW-1:0]), .rdata_o(enabled));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS)) u_active (
      .clk_i, .rst_ni, .we_i(step), .waddr_i(vpid_q[CW-1:0]), .wdata_i(active), .raddr_i(look_vpid_i[CW-1:0]),
      .rdata_o(look_active));
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS), .WRITERS(2)) u_progress (
      .clk_i, .rst_ni, .we_i({ans_progress_i, step && kind_q[K_LATE]}),
      .waddr_i({ans_vpid_i[CW-1:0], vpid_q[CW-1:0]}), .wdata_i(2'b10), .raddr_i(vpid_q[CW-1:0]), .rdata_o(progress));
  // Something of a context may have left its state but not the unit.
  assign look_busy_o = look_active || look_count || look_note
    || (state_q != S_IDLE && vpid_q == look_vpid_i)
                       || (express_held && express_vpid == look_vpid_i);

  // ---------------------------------------------------------------- the descriptor in question
  logic [255:0]       first;
  ggas_pkg::desc_w0_t w0, info_w0;
  logic [63:0]        cookie, info_cookie;
  logic               info_last, bad, tail, hold, ack;
  logic [2:0]         what;
  logic [3:0]         done_status, noted_status;
  always_comb begin
    first = '0;
    if (step) first = loaded_q ? first_q : d_rdata;
    w0     = kind_q[K_DONE] ? info_w0 : first[63:0];
    cookie = kind_q[K_DONE] ? info_cookie : first[255:192];
  end
  rma_decode u_decode (.w0_i(w0), .w2_i(first[130:128]), .second_i(slots_q[255:0]), .bad_o(bad), .tail_o(tail),
    .hold_o(hold), .ack_o(ack), .what_o(what));

  wire remote    = w0.node != cfg_node_i;
  wire reach     = smfu_pkg::reachable(w0.node, cfg_node_i, peer_node_i, peer_valid_i, link_up_i);
  wire link_dead = !(peer_valid_i && link_up_i);

  logic               chunk_last;
  logic [8:0]         chunk_bytes;
  logic [63:0]        chunk_nla;
  ggas_pkg::rma_hdr_t chunk_hdr;
  wire  [15:0]        pd = kind_q[K_DESC] ? pd_q : s.pd;
  wire  [4:0]         epoch = s.epoch + (kind_q[K_DESC] ? starts_q : s.starts);
  rma_chunk u_chunk (
      .en_i(step && (kind_q[K_DESC] || kind_q[K_PUT])), .cfg_node_i, .cfg_mtu_i, .vpid_i(vpid_q), .pd_i(pd),
      .epoch_i({epoch, what}),
      .tail_i(tail), .w0_i(w0), .w1_i(first[127:64]), .w2_i(first[191:128]), .offset_i(s.offset), .last_o(chunk_last),
      .bytes_o(chunk_bytes), .nla_o(chunk_nla),
      .hdr_o(chunk_hdr));

  // ---------------------------------------------------------------- the step itself
  ggas_pkg::note_w1_t w1_out, w1_in;
  wire        out = kind_q[K_DESC] || kind_q[K_EXP] || kind_q[K_PUT];
  rma_step_out #(.FETCH_MAX(FETCH_MAX)) u_out (
      .desc_i(step && kind_q[K_DESC]), .run_put_i(step && kind_q[K_PUT]), .run_exp_i(step && kind_q[K_EXP]), .s_i(s),
      .pd_i(pd_q), .starts_i(starts_q), .w0_i(w0),
      .cookie_i(cookie), .bad_i(bad), .hold_i(hold), .tail_i(tail), .ack_i(ack), .enabled_i(enabled),
      .remote_i(remote), .reach_i(reach),
      .unreach_i(smfu_pkg::unreachable_status(w0.node, peer_node_i, peer_valid_i)),
      .express_own_i(express_held && express_vpid == vpid_q),
      .cmd_free_i(cmd_free), .put_turn_i(!put_head), .last_i(chunk_last), .now_i(time_i[26:10]), .s_o(s_out),
      .act_o(act_out),
      .w1_o(w1_out));

  rma_step_in u_in (
      .done_i(step && kind_q[K_DONE]), .answer_i(step && kind_q[K_ANSWER]), .noted_i(step && kind_q[K_NOTED]),
      .late_i(step && kind_q[K_LATE]),
      .again_i(step && kind_q[K_AGAIN]), .s_i(s), .w0_i(w0), .cookie_i(cookie), .hold_i(hold), .tail_i(tail),
      .ack_i(ack), .last_i(info_last),
      .status_i(kind_q[K_DONE] ? done_status : kind_q[K_NOTED] ? noted_status : ans_status_q), .ans_op_i(ans_op_q),
      .ans_epoch_i(ans_epoch_q),
      .ans_asked_i(ans_asked_q), .ans_addr_i(ans_addr_q), .ans_node_i(ans_node_q), .ans_dvpid_i(ans_dvpid_q),
      .record_i(first[127:0]),
      .enabled_i(enabled), .remote_i(remote), .progress_i(progress),
      .writes_i(ans_writes_i),
      .link_dead_i(link_dead), .cfg_timeout_i, .cfg_retry_ticks_i, .cfg_retry_limit_i,
      .now_i(time_i[26:10]), .s_o(s_in), .act_o(act_in), .w1_o(w1_in));

  logic freed, to_puts, to_expresses, active, waiting, refused;
  assign act = out ? act_out : act_in;
  rma_step_end #(.FETCH_MAX(FETCH_MAX)) u_end (
      .s_i(out ? s_out : s_in), .act_i(act), .in_i(!out), .bytes_i(chunk_bytes), .s_o(s_new), .freed_o(freed),
      .put_o(to_puts),
      .express_o(to_expresses), .active_o(active), .waiting_o(waiting), .refused_o(refused));

  // ---------------------------------------------------------------- queues of contexts whose turn comes
  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(8), .DEPTH(ggas_pkg::CONTEXTS), .BLOCK(1'b1)) u_puts (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(step && to_puts), .wr_ready_o(), .wr_data_i(vpid_q),
      .rd_valid_o(put_head),
      .rd_ready_i(pick[K_PUT]), .rd_data_o(put_vpid), .count_o());
  fifo #(.WIDTH(8), .DEPTH(ggas_pkg::CONTEXTS), .BLOCK(1'b1)) u_expresses (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(step && to_expresses), .wr_ready_o(), .wr_data_i(vpid_q),
      .rd_valid_o(exp_head),
      .rd_ready_i(pick[K_EXP]), .rd_data_o(exp_vpid), .count_o());

  // ---------------------------------------------------------------- what goes out
  rma_commands #(.IN_FLIGHT(DATA_W == 64 ? 32 : 128)) u_commands (
      .clk_i, .rst_ni, .push_i(step && act.cmd), .free_o(cmd_free), .room_o(cmd_room), .vpid_i(vpid_q), .pd_i(pd),
      .last_i(chunk_last), .w0_i(w0),
      .cookie_i(cookie), .nla_i(chunk_nla), .bytes_i(chunk_bytes), .hdr_i(chunk_hdr), .cmd_valid_o, .cmd_ready_i,
      .cmd_nla_o, .cmd_pd_o,
      .cmd_bytes_o, .cmd_hdr_o, .cmd_meta_o, .done_valid_i, .done_status_i, .done_meta_i, .done_valid_o(done_head),
      .done_ready_i(step && kind_q[K_DONE]), .done_status_o(done_status), .done_vpid_o(info_vpid),
      .done_last_o(info_last), .done_w0_o(info_w0),
      .done_cookie_o(info_cookie));

  rma_express #(.DATA_W(DATA_W)) u_express (
      .clk_i, .rst_ni, .cfg_node_i, .cfg_mtu_i, .load_i(step && act.express), .tail_i(s.tail), .status_i(s.fail),
      .vpid_i(vpid_q), .pd_i(pd),
      .epoch_i({epoch, what}), .w0_i(w0), .w1_i(first[127:64]), .w2_i(first[191:128]), .first_i(first_q), .slots_i(slots_q),
      .result_i(slots_q[127:64] != '0), .free_o(express_free),
      .held_o(express_held), .held_vpid_o(express_vpid), .tx_valid_o, .tx_ready_i, .tx_sop_o, .tx_eop_o, .tx_hdr_o,
      .tx_data_o);

  // ---------------------------------------------------------------- counts, notifications
  wire counting = step && (act.local_done || act.remote_done != '0 || act.error);
  fifo #(.WIDTH(22), .DEPTH(4)) u_counts (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(counting), .wr_ready_o(),
      .wr_data_i({vpid_q, act.local_done, act.remote_done, act.error, act.status}), .rd_valid_o(st_valid_o),
      .rd_ready_i(st_ready_i),
      .rd_data_o({st_vpid_o, st_local_o, st_remote_o, st_error_o, st_status_o}), .count_o(st_count));
  // verilator lint_on PINCONNECTEMPTY
  rma_queued #(.DEPTH(4)) u_counts_of (
      .clk_i, .rst_ni, .push_i(counting), .vpid_i(vpid_q), .pop_i(st_valid_o && st_ready_i), .look_i(look_vpid_i),
      .found_o(look_count));

  logic note_empty;
  rma_note_port u_notes (
      .clk_i, .rst_ni, .push_i(step && (act.note || act.error)), .room_o(note_room), .held_i(act.note),
      .vpid_i(vpid_q), .w0_i(act.w0), .w1_i(out ? w1_out : w1_in),
      .nt_valid_o, .nt_ready_i, .nt_vpid_o, .nt_drop_o, .nt_w0_o, .nt_w1_o, .nt_rsp_valid_i, .nt_rsp_status_i,
      .rsp_valid_o(noted),
      .rsp_ready_i(step && kind_q[K_NOTED]), .rsp_status_o(noted_status), .empty_o(note_empty),
      .look_i(look_vpid_i), .look_o(look_note));
  assign noted_vpid = nt_vpid_o;

  // ---------------------------------------------------------------- time
  logic scan_busy;
  rma_scan u_scan (
      .clk_i, .rst_ni, .tick_i(time_i[ggas_pkg::TICK_LOG2-1:0] == '0), .set_i(step), .set_vpid_i(vpid_q),
      .set_wait_i(waiting), .set_full_i(refused), .valid_o(late), .ready_i(pick[K_LATE] || pick[K_AGAIN]),
      .vpid_o(late_vpid),
      .full_o(late_full), .busy_o(scan_busy), .timer_o);

  // ---------------------------------------------------------------- pulses
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {desc_done_o, ep_valid_o, cnt_descriptors_o, cnt_retries_o, cnt_acks_o} <= '0;
      {ev_bad_descriptor_o, ev_protection_o, ev_timeout_o, ev_unreachable_o, ev_retry_limit_o, ev_unexpected_o} <= '0;
    end else begin
      desc_done_o         <= step && freed;
      ep_valid_o          <= step && act.give_up;
      cnt_descriptors_o   <= step && act.started;
      cnt_retries_o       <= step && act.retried;
      cnt_acks_o          <= step && act.answered;
      ev_bad_descriptor_o <= step && act.event_code == rma_requester_pkg::EV_BAD;
      ev_protection_o     <= step && act.event_code == rma_requester_pkg::EV_PROTECTION;
      ev_timeout_o        <= step && act.event_code == rma_requester_pkg::EV_TIMEOUT;
      ev_unreachable_o    <= step && act.event_code == rma_requester_pkg::EV_UNREACHABLE;
      ev_retry_limit_o    <= step && act.event_code == rma_requester_pkg::EV_RETRY_LIMIT;
      ev_unexpected_o     <= step && act.event_code == rma_requester_pkg::EV_UNEXPECTED;
    end
  end
  assign ev_info_o = {32'd0, desc_done_vpid_o};
  always_ff @(posedge clk_i) begin
    if (step) begin
      desc_done_vpid_o <= vpid_q;
      ep_vpid_o        <= vpid_q;
      ep_epoch_o       <= s_new.epoch;
      ev_node_o <= act.event_code == rma_requester_pkg::EV_UNREACHABLE ? w0.node
                   : act.event_code == rma_requester_pkg::EV_UNEXPECTED ? ans_node_q : 16'd0;
    end
  end

  wire pulsing = desc_done_o || ep_valid_o || cnt_descriptors_o || cnt_retries_o || cnt_acks_o || ev_bad_descriptor_o
    || ev_protection_o
                 || ev_timeout_o || ev_unreachable_o || ev_retry_limit_o || ev_unexpected_o;
  assign busy_o = state_q != S_IDLE || pulsing || tx_valid_o || cmd_valid_o || st_valid_o || !note_empty || done_head
    || exp_head
                  || (put_head && cmd_room) || scan_busy;

`ifndef SYNTHESIS
  initial begin
    if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("rma_requester: DATA_W must be 64, 256 or 512");
    if (FETCH_MAX < 1 || FETCH_MAX > 96) $error("rma_requester: FETCH_MAX must be 1 to 96");
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni && pick[K_DESC]) assert (desc_sop_i) else $error("rma_requester: a descriptor begins without sop");
    if (rst_ni && step && kind_q[K_DESC]) assert (s.phase ==
      rma_requester_pkg::PH_IDLE) else $error("rma_requester: second descriptor of a context");
    if (rst_ni && step && kind_q[K_DONE]) assert (s.fetches != '0) else $error("rma_requester: done without a command");
  end
`endif

endmodule

`default_nettype wire
