// SPDX-License-Identifier: Apache-2.0
// Host reads: a tag for each command, completions of any number and order to data beats, and one end for each command:
// good, failed, or given up after a time-out. Data of one read arrive in order and never after its end. A beat a cycle.
// Latency: command -> request 1 cycle, completion beat -> data 2, last data beat accepted -> end 1. While the host
// accepts no reads a request stays on offer, even when its command was given up; further commands are given up at once.
// So a unit that reads waits for a bounded time, for any behaviour of the host.
`default_nettype none

module rma_read #(
    parameter int unsigned DATA_W   = 64,   // 64, 256 or 512
    parameter int unsigned TAG_BASE = 192,  // its first tag, a multiple of TAGS
    parameter int unsigned TAGS     = 8,    // reads in flight, a power of two, at least 2
    parameter int unsigned META_W   = 8     // bits given back with data and end
) (
    input  wire logic                clk_i,
    input  wire logic                rst_ni,
    input  wire logic [63:0]         time_i,
    input  wire logic [15:0]         cfg_timeout_i,   // RMA_TIMEOUT.host

    // one request TLP each; a zero-length read is one DW without byte enables
    input  wire logic                cmd_valid_i,
    output      logic                cmd_ready_o,
    input  wire logic [63:0]         cmd_addr_i,
    input  wire logic [10:0]         cmd_len_dw_i,    // 1 ... 1024
    input  wire logic [3:0]          cmd_first_be_i,
    input  wire logic [3:0]          cmd_last_be_i,
    input  wire logic [META_W-1:0]   cmd_meta_i,

    // requests
    output      logic                rd_valid_o,
    input  wire logic                rd_ready_i,
    output      ggas_pkg::tlp_hdr_t  rd_hdr_o,

    // completions, of these tags only
    input  wire ggas_pkg::tlp_beat_t cpl_i,
    output      logic                cpl_ready_o,
    // verilator lint_off UNUSEDSIGNAL
    // verilator lint_on UNUSEDSIGNAL
    input  wire logic [DATA_W-1:0]   cpl_data_i,

    // data
    output      logic                out_valid_o,
    input  wire logic                out_ready_i,
    output      logic [META_W-1:0]   out_meta_o,
    output      logic [9:0]          out_offset_dw_o, // of this beat's first DW in the read
    output      logic [4:0]          out_dws_o,       // DW in this beat
    output      logic [DATA_W-1:0]   out_data_o,
    output      logic                out_final_o,     // the completion ends its read, well
    output      logic                out_last_o,      // this beat is the read's last one

    // ends: pulse, exactly one a command
    output      logic                end_valid_o,
    output      logic [META_W-1:0]   end_meta_o,
    output      logic [3:0]          end_status_o,    // ST_OK, ST_HOST_ERROR, ST_TIMEOUT

    output      logic                ev_unexpected_o, // pulse: UNEXPECTED_CPL
    output      logic [9:0]          ev_tag_o,
    output      logic                busy_o,
    output      logic                timer_o
);
  localparam int unsigned BEAT_DW = DATA_W / 32;
  localparam int unsigned TW      = $clog2(TAGS);

  // ---------------------------------------------------------------- requests
  logic              s_valid_q, s_data_q, s_end_q, s_bad_q;  // what is in flight out, below
  logic [TW-1:0]     s_tag_q;
  logic              free, take, refuse, close, look_open, look_rests, hold, expire, stuck, walk, tags_busy;
  logic [TW-1:0]     free_tag, rd_tag_q, close_tag, look_tag, walk_tag;
  logic [META_W+10:0] read_q [TAGS];     // what was asked: meta, DW
  logic [20:0]       progress_q [TAGS];  // DW missing, DW that came; not yet written while the tag is fresh
  logic [TAGS-1:0]   fresh_q;            // no completion came yet
  logic [TAGS-1:0]   spoilt_q;           // poison came

  // The port of the ends is free for a command that is refused.
  wire   may_refuse  = !walk && !(s_valid_q && s_end_q);
  assign cmd_ready_o = stuck ? may_refuse : free && (!rd_valid_o || rd_ready_i);
  assign take        = cmd_valid_i && cmd_ready_o && !stuck;
  assign refuse      = cmd_valid_i && stuck && may_refuse;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      rd_valid_o <= 1'b0;
      rd_hdr_o   <= '0;
      rd_tag_q   <= '0;
    end else begin
      if (rd_ready_i) rd_valid_o <= 1'b0;
      if (take) begin
        rd_valid_o        <= 1'b1;
        rd_hdr_o          <= '0;
        rd_hdr_o.kind     <= ggas_pkg::TLP_MRD;
        rd_hdr_o.bar      <= 3'd7;
        rd_hdr_o.addr     <= cmd_addr_i;
        rd_hdr_o.len_dw   <= cmd_len_dw_i;
        rd_hdr_o.first_be <= cmd_first_be_i;
        rd_hdr_o.last_be  <= cmd_last_be_i;
        rd_hdr_o.tag      <= TAG_BASE[9:0] | {{(10-TW){1'b0}}, free_tag};
        rd_tag_q          <= free_tag;
      end
    end
  end
  always_ff @(posedge clk_i) if (take) read_q[free_tag] <= {cmd_meta_i, cmd_len_dw_i};

  rma_tags #(.TAGS(TAGS)) u_tags (
      .clk_i, .rst_ni, .time_i, .cfg_timeout_i, .free_o(free), .free_tag_o(free_tag), .take_i(take),
      .offer_i(rd_valid_o), .offer_tag_i(rd_tag_q), .sent_i(rd_valid_o && rd_ready_i), .stuck_o(stuck),
      .close_i(close), .close_tag_i(close_tag), .look_tag_i(look_tag), .look_open_o(look_open),
      .look_rests_o(look_rests), .walk_tag_o(walk_tag), .hold_i(hold), .wait_i(s_leaves && s_end_q),
      .expire_o(expire), .walk_o(walk), .busy_o(tags_busy), .timer_o);

  // ---------------------------------------------------------------- a beat of a completion, and the state of its read
  logic              q_valid_q, q_first_q, q_eop_q, q_failed_q, q_poisoned_q, q_open_q, q_rests_q, q_spoilt_q;
  logic [9:0]        q_tag_q, q_came_q;
  logic [10:0]       q_len_q, q_missing_q;
  logic [DATA_W-1:0] q_data_q;
  logic [META_W-1:0] q_meta_q;
  logic              in_inside_q;        // between sop and eop
  logic              q_leaves, see, bad;
  logic [10:0]       rest;
  logic [9:0]        came_then;
  wire               in = cpl_i.valid && cpl_ready_o;
  wire [TW-1:0]      q_tag = q_tag_q[TW-1:0];
  wire               same_read = see && q_tag == look_tag;  // the completion in front is of the same read
  assign cpl_ready_o = !q_valid_q || q_leaves;
  assign look_tag    = cpl_i.hdr.tag[TW-1:0];

  logic [META_W-1:0] c_meta;
  logic [10:0]       asked, missing;
  logic [9:0]        came;
  always_comb begin
    {c_meta, asked, missing, came} = '0;
    if (cpl_i.valid && !in_inside_q) begin
      {c_meta, asked} = read_q[look_tag];
      {missing, came} = fresh_q[look_tag] ? {asked, 10'd0} : progress_q[look_tag];
    end
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      q_valid_q   <= 1'b0;
      in_inside_q <= 1'b0;
    end else begin
      if (cpl_ready_o) q_valid_q <= cpl_i.valid;
      if (in) in_inside_q <= !cpl_i.eop;
    end
  end
  always_ff @(posedge clk_i) begin
    if (in) begin
      q_first_q <= !in_inside_q;
      q_eop_q   <= cpl_i.eop;
      q_data_q  <= cpl_data_i;
    end
    if (in && !in_inside_q) begin
      q_failed_q   <= cpl_i.hdr.kind != ggas_pkg::TLP_CPLD || cpl_i.hdr.status != ggas_pkg::CPL_SC;
      q_poisoned_q <= cpl_i.hdr.poisoned;
      q_tag_q      <= cpl_i.hdr.tag;
      q_len_q      <= cpl_i.hdr.len_dw;
      q_meta_q     <= c_meta;
      q_missing_q  <= same_read ? rest : missing;
      q_came_q     <= same_read ? came_then : came;
      q_open_q     <= look_open && !(close && close_tag == look_tag);
      q_rests_q    <= look_rests;
      q_spoilt_q   <= same_read ? bad : !fresh_q[look_tag] && spoilt_q[look_tag];
    end
  end

  // ---------------------------------------------------------------- the first beat is checked
  logic              store_q, last_q, bad_q, ends_q;  // for the beats after it
  logic [10:0]       left_q;
  logic [9:0]        pos_q;

  wire  beat  = q_valid_q && q_leaves;
  assign see  = beat && q_first_q;

  wire        wrong  = !q_failed_q && (q_len_q == '0 || q_len_q > q_missing_q);
  assign      rest   = q_missing_q - q_len_q;
  assign      came_then = q_came_q + q_len_q[9:0];
  wire        waits  = q_open_q && !q_rests_q;
  assign      bad    = q_failed_q || wrong || q_poisoned_q || q_spoilt_q;
  wire        last   = q_open_q && (q_failed_q || wrong || q_missing_q == q_len_q);
  wire        stray  = !waits || wrong;
  wire        good   = waits && !bad;

  always_ff @(posedge clk_i) begin
    if (see && q_open_q) progress_q[q_tag] <= {rest, came_then};
  end
  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      fresh_q  <= '0;
      spoilt_q <= '0;
    end else begin
      if (see && q_open_q) begin
        fresh_q[q_tag]  <= 1'b0;
        spoilt_q[q_tag] <= bad;
      end
      if (take) fresh_q[free_tag] <= 1'b1;
    end
  end

  wire          final_cpl = q_first_q ? last : last_q;
  wire [10:0]   left  = q_first_q ? q_len_q : left_q;
  wire [9:0]    pos   = q_first_q ? q_came_q : pos_q;
  assign close     = beat && q_eop_q && final_cpl;
  assign close_tag = q_tag;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      store_q  <= 1'b0;
      last_q   <= 1'b0;
      bad_q    <= 1'b0;
      ends_q   <= 1'b0;
      left_q   <= '0;
      pos_q    <= '0;
    end else if (beat) begin
      left_q   <= left - BEAT_DW[10:0];
      pos_q    <= pos + BEAT_DW[9:0];
      if (q_first_q) begin
        store_q <= good;
        last_q  <= last;
        bad_q   <= bad;
        ends_q  <= last && waits;
      end
    end
  end

  // ---------------------------------------------------------------- data out; after the last beat, the end
  wire               s_leaves = s_valid_q && (!s_data_q || out_ready_i);
  wire               s_store  = q_first_q ? good : store_q;
  wire               s_end    = q_eop_q && (q_first_q ? last && waits : ends_q);
  assign q_leaves    = !s_valid_q || s_leaves;
  assign out_valid_o = s_valid_q && s_data_q;

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      s_valid_q <= 1'b0;
      s_data_q  <= 1'b0;
      s_end_q   <= 1'b0;
      s_bad_q   <= 1'b0;
      s_tag_q   <= '0;
    end else begin
      if (s_leaves) s_valid_q <= 1'b0;
      if (beat) begin
        s_valid_q <= s_store || s_end;
        s_data_q  <= s_store;
        s_end_q   <= s_end;
        s_bad_q   <= q_first_q ? bad : bad_q;
        s_tag_q   <= q_tag;
      end
    end
  end
  always_ff @(posedge clk_i) begin
    if (beat && (s_store || s_end)) begin
      out_meta_o      <= q_meta_q;
      out_offset_dw_o <= pos;
      out_dws_o       <= left > BEAT_DW[10:0] ? BEAT_DW[4:0] : left[4:0];
      out_data_o      <= q_data_q;
      out_final_o     <= final_cpl;
      out_last_o      <= final_cpl && left <= BEAT_DW[10:0];
    end
  end

  // A read is given up between its completions, when the port of the ends is free.
  wire [META_W-1:0] w_meta = expire ? read_q[walk_tag][META_W+10:11] : '0;
  assign hold = (s_valid_q && s_tag_q == walk_tag) || (cpl_i.valid && look_tag == walk_tag)
                || ((q_valid_q || in_inside_q) && q_tag == walk_tag);

  always_ff @(posedge clk_i or negedge rst_ni) begin
    if (!rst_ni) begin
      end_valid_o     <= 1'b0;
      end_meta_o      <= '0;
      end_status_o    <= '0;
      ev_unexpected_o <= 1'b0;
      ev_tag_o        <= '0;
    end else begin
      end_valid_o <= (s_leaves && s_end_q) || expire || refuse;
      if (s_leaves && s_end_q) begin
        end_meta_o   <= out_meta_o;
        end_status_o <= s_bad_q ? ggas_pkg::ST_HOST_ERROR : ggas_pkg::ST_OK;
      end else if (expire || refuse) begin
        end_meta_o   <= expire ? w_meta : cmd_meta_i;
        end_status_o <= ggas_pkg::ST_TIMEOUT;
      end
      ev_unexpected_o <= see && stray;
      if (see && stray) ev_tag_o <= q_tag_q;
    end
  end

  assign busy_o = rd_valid_o || q_valid_q || s_valid_q || end_valid_o || ev_unexpected_o || tags_busy;

`ifndef SYNTHESIS
  initial begin
    if (DATA_W != 64 && DATA_W != 256 && DATA_W != 512) $error("rma_read: DATA_W must be 64, 256 or 512");
    if (TAG_BASE % TAGS != 0 || TAG_BASE + TAGS > 1024) $error("rma_read: TAG_BASE must be a multiple of TAGS");
  end
  always_ff @(posedge clk_i) begin
    if (rst_ni && in) assert (cpl_i.sop == !in_inside_q) else $error("rma_read: framing of completions");
    if (rst_ni && take) assert (cmd_len_dw_i != '0 && cmd_len_dw_i <= 11'd1024 && cmd_addr_i[1:0] == '0);
  end
`endif
endmodule

`default_nettype wire
