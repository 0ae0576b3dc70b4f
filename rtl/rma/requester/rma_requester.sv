// SPDX-License-Identifier: Apache-2.0
// Requester: descriptors to packets and fetch commands, answers to counts and notifications. There is a step for each
// event of a context, in four stages: it is chosen (rma_choice); the context's state and the first slot of its
// descriptor are read, a new descriptor is decoded; the action is decided, and an express packet is loaded
// (rma_step_out, rma_step_in); the rest is done and the state written (rma_step_end). A step may begin in every cycle,
// of one context in every other cycle. No stage waits: a step that finds an output in use goes back into its queue, so
// nothing waits for a packet to be accepted except other packets.
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
    // verilator lint_off UNUSEDSIGNAL
    input  wire ggas_pkg::context_write_t context_i,
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
    output      rma_pkg::rma_counts_t st_o,

    // express packets: all but puts from memory
    output      ggas_pkg::rma_beat_t tx_o,
    input  wire logic                tx_ready_i,
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
    output      rma_pkg::note_t     nt_o,
    input  wire logic                nt_rsp_valid_i,
    input  wire logic [3:0]          nt_rsp_status_i,

    // answers
    input  wire logic                ans_valid_i,
    output      logic                ans_ready_o,
    input  wire rma_pkg::rma_ans_t  ans_i,
    input  wire logic                ans_progress_i,      // pulse: a packet of data of a get has come for ans_i.vpid
    output      logic [7:0]          ans_look_vpid_o,
    // something of ans_look_vpid_o is about to be written, in the same cycle
    input  wire logic                ans_writes_i,
    output      logic                ep_valid_o,          // pulse: answers to ep_vpid_o of another epoch are late
    output      logic [7:0]          ep_vpid_o,
    output      logic [4:0]          ep_epoch_o,          // times the context gave up

    // events: pulses, at most one at a time; bit i is rma_requester_pkg::EV_* i + 1
    output      logic [5:0]          ev_o,
    output      logic [15:0]         ev_node_o,
    output      logic [39:0]         ev_info_o,           // the context
    output      logic [2:0]          cnt_o,               // CNT_RMA_ACKS, RETRIES, DESCRIPTORS
    output      logic                busy_o,
    output      logic                timer_o
);
  localparam int unsigned CW = ggas_pkg::CONTEXT_W;
  localparam int unsigned K_DONE = rma_requester_pkg::K_DONE, K_NOTED = rma_requester_pkg::K_NOTED,
      K_ANSWER = rma_requester_pkg::K_ANSWER, K_DESC = rma_requester_pkg::K_DESC, K_EXP = rma_requester_pkg::K_EXP,
      K_PUT = rma_requester_pkg::K_PUT, K_LATE = rma_requester_pkg::K_LATE, K_RETRY = rma_requester_pkg::K_RETRY;

  // The steps in their stages: kind is one-hot (K_*), 0 without a step.
  logic [7:0] pick, read_kind, read_vpid, decide_kind, decide_vpid, end_kind, end_vpid, ended_vpid_q, begin_vpid;
  logic       begin_busy, decide_long, ended_q, read_valid, decide_valid, ending;
  rma_requester_pkg::brought_t brought;
  rma_requester_pkg::known_t   known;
  rma_requester_pkg::decided_t decided;
  rma_requester_pkg::action_t  act;
  rma_requester_pkg::state_t   read_state, end_state;
  logic [511:0]                slots;
  assign act = decided.act;
  wire                         keep   = end_kind[K_NOTED] && act.keep;

  // ---------------------------------------------------------------- begin
  logic       done_head, done_soon, done_last, noted, late, late_full, put_head, put_waits, exp_head, exp_slots;
  logic       note_room, cmd_room, cmd_free, cmd_soon, express_free, express_ends;
  logic [7:0] done_vpid, late_vpid, put_vpid, exp_vpid;
  logic [3:0] done_status, noted_status, st_count;
  rma_requester_pkg::flags_t  done_flags;
  rma_pkg::desc_w0_t         done_w0;
  logic [63:0]                done_cookie;
  rma_requester_pkg::answer_t answer;
  assign answer = {ans_i.op == ggas_pkg::OP_RMA_ACK, ans_i.op == ggas_pkg::OP_RMA_GET_DONE,
                   ans_i.op == ggas_pkg::OP_RMA_ATOMIC_RSP, ans_i.asked, ans_i.epoch, ans_i.dvpid, ans_i.node,
                   ans_i.addr};

  // Whether there is room for the counts and notifications of three steps in flight, of two steps that begin before
  // room_q shows it, and of one that follows a notification.
  logic room_q;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) room_q <= 1'b0;
    else room_q <= st_count < 4'd3 && note_room;
  end

  // Outputs are checked when a step begins, and allocated when it is decided: a packet finds its output in use only if
  // the packet before it is blocked outside. After a step that may send a long packet, no step begins that may send
  // another long packet.
  wire express_soon = !read_kind[K_DESC] && !read_kind[K_EXP] && !decide_long && (express_free || express_ends);
  wire command_soon = !read_kind[K_PUT] && !decide_kind[K_PUT] && !end_kind[K_PUT] && cmd_soon;

  logic         word_we;
  logic [7:0]   re_vpid;
  logic [1:0]   word_at, word_we_at;
  logic [255:0] word;
  rma_step_begin u_begin (
      .clk_i, .rst_ni, .room_i(room_q), .express_i(express_soon), .command_i(command_soon), .keep_i(keep),
      .desc_valid_i, .desc_ready_o, .desc_eop_i, .desc_vpid_i, .desc_pd_i, .desc_starts_i, .desc_data_i,
      .done_valid_i(done_head), .done_soon_i(done_soon), .done_vpid_i(done_vpid), .done_status_i(done_status),
      .done_last_i(done_last), .done_flags_i(done_flags), .done_w0_i(done_w0), .done_cookie_i(done_cookie),
      .noted_valid_i(noted), .noted_vpid_i(nt_o.vpid), .noted_status_i(noted_status), .ans_valid_i,
      .ans_vpid_i(ans_i.vpid), .ans_status_i(ans_i.status), .ans_i(answer), .exp_valid_i(exp_head),
      .exp_vpid_i(exp_vpid), .exp_slots_i(exp_slots), .put_valid_i(put_head), .put_vpid_i(put_vpid),
      .late_valid_i(late), .late_vpid_i(late_vpid), .late_full_i(late_full), .pick_o(pick), .vpid_o(re_vpid),
      .word_o(word_at), .word_i(word), .we_o(word_we), .we_word_o(word_we_at), .valid_o(read_valid),
      .kind_o(read_kind), .step_vpid_o(read_vpid), .brought_o(brought), .slots_o(slots), .busy_o(begin_busy),
      .busy_vpid_o(begin_vpid));
  assign ans_ready_o = pick[K_ANSWER];

  // ---------------------------------------------------------------- read
  logic read_fresh, over, free;
  rma_memory u_memory (
      .clk_i, .rst_ni, .vpid_i(re_vpid), .state_o(read_state), .fresh_o(read_fresh),
      .word_i(word_at), .word_o(word), .we_i(ending), .we_vpid_i(end_vpid), .state_i(end_state),
      .word_we_i(word_we || keep), .word_waddr_i(keep ? {2'd3, end_vpid} : {word_we_at, desc_vpid_i}),
      .word_wdata_i({desc_data_i[255:128], keep ? {nt_o.w1, nt_o.w0} : desc_data_i[127:0]}));
  rma_step_read #(.DATA_W(DATA_W)) u_read (
      .clk_i, .rst_ni, .cfg_node_i, .peer_node_i, .peer_valid_i, .link_up_i, .context_i, .valid_i(read_valid),
      .kind_i(read_kind), .vpid_i(read_vpid), .brought_i(brought), .second_i(slots[255:0]), .state_i(read_state),
      .fresh_i(read_fresh), .word_i(word), .express_free_i(express_free), .over_o(over), .over_ready_i(!free),
      .valid_o(decide_valid), .kind_o(decide_kind), .vpid_o(decide_vpid), .long_o(decide_long), .known_o(known));

  // ---------------------------------------------------------------- decide
  logic       express_held;
  logic [7:0] express_vpid;
  rma_step_decide #(.DATA_W(DATA_W)) u_decide (
      .clk_i, .rst_ni, .time_i, .cfg_node_i, .cfg_mtu_i, .cfg_retry_ticks_i, .cfg_retry_limit_i, .cfg_timeout_i,
      .peer_valid_i, .link_up_i, .valid_i(decide_valid), .kind_i(decide_kind), .vpid_i(decide_vpid), .known_i(known),
      .slots_i(slots), .cmd_free_i(cmd_free), .put_turn_i(!put_waits), .ans_progress_i, .ans_vpid_i(ans_i.vpid),
      .ans_look_vpid_o, .ans_writes_i, .express_free_o(express_free), .express_ends_o(express_ends),
      .express_held_o(express_held), .express_vpid_o(express_vpid), .tx_valid_o(tx_o.valid), .tx_ready_i,
      .tx_sop_o(tx_o.sop), .tx_eop_o(tx_o.eop), .tx_hdr_o(tx_o.hdr), .tx_data_o, .ep_valid_o, .ep_vpid_o,
      .ep_epoch_o, .valid_o(ending), .kind_o(end_kind),
      .vpid_o(end_vpid), .decided_o(decided));

  // ---------------------------------------------------------------- end
  logic freed, to_puts, to_expresses, active, waiting, refused, active_q, waiting_q, refused_q;
  rma_step_end #(.FETCH_MAX(FETCH_MAX)) u_end (
      .s_i(decided.state), .act_i(act), .in_i(decided.in), .last_i(decided.last), .bytes_i(decided.bytes),
      .s_o(end_state), .freed_o(freed), .put_o(to_puts), .express_o(to_expresses), .active_o(active),
      .waiting_o(waiting), .refused_o(refused));
  assign free = ending && freed && !decided.reported;
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) ended_q <= 1'b0;
    else ended_q <= ending;
  end
  always_ff @(posedge clk_i) begin
    if (ending) begin
      ended_vpid_q <= end_vpid;
      active_q     <= active;
      waiting_q    <= waiting;
      refused_q    <= refused;
    end
  end

  // Queues of contexts whose turn comes, their heads in registers.
  logic       put_queued, put_next, exp_queued, exp_next;
  logic [7:0] put_queue_vpid;
  logic [8:0] exp_queue;
  // verilator lint_off PINCONNECTEMPTY
  fifo #(.WIDTH(8), .DEPTH(ggas_pkg::CONTEXTS), .BLOCK(1'b1)) u_puts (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(ending && to_puts), .wr_ready_o(), .wr_data_i(end_vpid),
      .rd_valid_o(put_queued), .rd_ready_i(put_next), .rd_data_o(put_queue_vpid), .count_o());
  fifo #(.WIDTH(9), .DEPTH(ggas_pkg::CONTEXTS), .BLOCK(1'b1)) u_expresses (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(ending && to_expresses), .wr_ready_o(),
      .wr_data_i({end_state.flags.slots && !end_state.tail, end_vpid}), .rd_valid_o(exp_queued),
      .rd_ready_i(exp_next), .rd_data_o(exp_queue), .count_o());
  queue_head #(.WIDTH(8)) u_put_head (
      .clk_i, .rst_ni, .queue_valid_i(put_queued), .queue_ready_o(put_next), .queue_data_i(put_queue_vpid),
      .valid_o(put_head), .ready_i(pick[K_PUT]), .data_o(put_vpid));
  queue_head #(.WIDTH(9)) u_exp_head (
      .clk_i, .rst_ni, .queue_valid_i(exp_queued), .queue_ready_o(exp_next), .queue_data_i(exp_queue),
      .valid_o(exp_head), .ready_i(pick[K_EXP]), .data_o({exp_slots, exp_vpid}));
  assign put_waits = put_queued || put_head;

  rma_commands #(.IN_FLIGHT(DATA_W == 64 ? 32 : 128)) u_commands (
      .clk_i, .rst_ni, .push_i(ending && act.cmd), .free_o(cmd_free), .soon_o(cmd_soon), .room_o(cmd_room), .cfg_node_i,
      .vpid_i(end_vpid), .s_i(decided.state), .first_i(decided.first), .last_i(decided.last), .bytes_i(decided.bytes),
      .cmd_valid_o, .cmd_ready_i, .cmd_nla_o, .cmd_pd_o, .cmd_bytes_o, .cmd_hdr_o, .cmd_meta_o, .done_valid_i,
      .done_status_i, .done_meta_i, .done_valid_o(done_head), .done_ready_i(pick[K_DONE]),
      .done_status_o(done_status), .done_vpid_o(done_vpid), .done_last_o(done_last), .done_flags_o(done_flags),
      .done_w0_o(done_w0), .done_cookie_o(done_cookie), .done_soon_o(done_soon));

  // Counts and notifications: room was left for those of every step under way.
  wire counting = ending && (act.local_done || act.remote_done != '0 || act.error);
  fifo #(.WIDTH(22), .DEPTH(8)) u_counts (
      .clk_i, .rst_ni, .clear_i(1'b0), .wr_valid_i(counting), .wr_ready_o(),
      .wr_data_i({end_vpid, act.local_done, act.remote_done, act.error, act.status}),
      .rd_valid_o(st_valid_o), .rd_ready_i(st_ready_i),
      .rd_data_o(st_o), .count_o(st_count));
  // verilator lint_on PINCONNECTEMPTY

  logic               note_empty, look_active, look_count, look_note;
  logic [63:0]        note_w0;
  rma_pkg::note_w1_t note_w1;
  rma_note_words u_words (
    .act_i(act), .ans_i(decided.answer), .cookie_i(decided.first[255:192]), .words_i(decided.first[127:0]),
    .w0_o(note_w0), .w1_o(note_w1));
  rma_note_port u_notes (
      .clk_i, .rst_ni, .push_i(ending && (act.note || act.error)), .room_o(note_room), .held_i(act.note),
      .vpid_i(end_vpid), .w0_i(note_w0), .w1_i(note_w1), .nt_valid_o, .nt_ready_i, .nt_vpid_o(nt_o.vpid),
      .nt_drop_o(nt_o.drop), .nt_w0_o(nt_o.w0), .nt_w1_o(nt_o.w1), .nt_rsp_valid_i, .nt_rsp_status_i,
      .rsp_valid_o(noted), .rsp_ready_i(pick[K_NOTED]),
      .rsp_status_o(noted_status), .rsp_end_i(end_kind[K_NOTED]), .empty_o(note_empty), .look_i(look_vpid_i),
      .look_o(look_note));

  logic scan_busy;
  rma_scan u_scan (
      .clk_i, .rst_ni, .tick_i(time_i[ggas_pkg::TICK_LOG2-1:0] == '0), .set_i(ended_q), .set_vpid_i(ended_vpid_q),
      .set_wait_i(waiting_q), .set_full_i(refused_q), .valid_o(late), .ready_i(pick[K_LATE] || pick[K_RETRY]),
      .vpid_o(late_vpid), .full_o(late_full), .busy_o(scan_busy), .timer_o);

  // ---------------------------------------------------------------- is anything of a context here?
  flag_ram #(.DEPTH(ggas_pkg::CONTEXTS)) u_active (
      .clk_i, .rst_ni, .we_i(ended_q), .waddr_i(ended_vpid_q[CW-1:0]), .wdata_i(active_q),
      .raddr_i(look_vpid_i[CW-1:0]), .rdata_o(look_active));
  rma_queued #(.DEPTH(8)) u_counts_of (
      .clk_i, .rst_ni, .push_i(counting), .vpid_i(end_vpid), .pop_i(st_valid_o && st_ready_i),
      .look_i(look_vpid_i), .found_o(look_count));
  wire [5:0]  here  = {express_held, ended_q, ending, decide_valid, read_valid, begin_busy};
  wire [47:0] whose = {express_vpid, ended_vpid_q, end_vpid, decide_vpid, read_vpid, begin_vpid};
  always_comb begin
    look_busy_o = look_active || look_count || look_note;
    for (int i = 0; i < 6; i++) if (here[i] && whose[8*i+:8] == look_vpid_i) look_busy_o = 1'b1;
  end

  // ---------------------------------------------------------------- pulses
  // verilator lint_off UNUSEDSIGNAL
  rma_pkg::desc_w0_t end_w0;
  // verilator lint_on UNUSEDSIGNAL
  assign end_w0 = decided.first[63:0];
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      {desc_done_o, cnt_o} <= '0;
      ev_o <= '0;
    end else begin
      desc_done_o <= free || over;
      cnt_o       <= {3{ending}} & {act.answered, act.retried, act.started};
      for (int i = 0; i < 6; i++) ev_o[i] <= ending && act.event_code == i[2:0] + 3'd1;
    end
  end
  always_ff @(posedge clk_i) begin
    desc_done_vpid_o <= free ? end_vpid : read_vpid;
    ev_info_o        <= {32'd0, end_vpid};
    ev_node_o <= act.event_code == rma_requester_pkg::EV_UNREACHABLE ? end_w0.node
                 : act.event_code == rma_requester_pkg::EV_UNEXPECTED ? decided.answer.node : 16'd0;
  end

  wire pulsing = desc_done_o || ep_valid_o || cnt_o != '0 || ev_o != '0;
  assign busy_o = here != '0 || pulsing || cmd_valid_o || st_valid_o || !note_empty || done_head || done_soon
    || exp_queued || exp_head || (put_waits && cmd_room) || scan_busy || !room_q;

`ifndef SYNTHESIS
  initial begin
    if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("rma_requester: DATA_W must be 64, 256 or 512");
    if (FETCH_MAX < 1 || FETCH_MAX > 96) $error("rma_requester: FETCH_MAX must be 1 to 96");
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni && pick[K_DESC]) assert (desc_sop_i) else $error("rma_requester: a descriptor begins without sop");
    if (rst_ni && decide_kind[K_DESC]) assert (known.state.phase == rma_requester_pkg::PH_IDLE) else $error(
      "rma_requester: second descriptor of a context");
    if (rst_ni && decide_kind[K_DONE]) assert (known.state.fetches != '0) else $error(
      "rma_requester: done without a command");
    if (rst_ni && ending && decided.reported) assert (freed) else $error(
      "rma_requester: the next descriptor came too early");
  end
`endif

endmodule

`default_nettype wire
