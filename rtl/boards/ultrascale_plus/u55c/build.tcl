# SPDX-License-Identifier: Apache-2.0
# Bitstream of the NIC for an Alveo U55C with Vivado: vivado -mode batch -source build.tcl -tclargs GENERATED
# GENERATED: the folder with ggas_regs_pkg.sv and regs.sv (./ggas build ggas_regs: build/release/generated).
# NOT RUN: this project has no such tool, so neither script nor result was ever tried. Expect to correct names of
# properties for your version; timing at 250 MHz is not known.

if {[llength $argv] != 1} { error "one argument is needed: the folder with ggas_regs_pkg.sv and regs.sv" }
set generated [file normalize [lindex $argv 0]]
set here [file dirname [file normalize [info script]]]
set rtl [file normalize $here/../../..]
foreach file {ggas_regs_pkg.sv regs.sv} {
  if {![file exists $generated/$file]} { error "$generated/$file: not there; build the target ggas_regs" }
}

create_project -force -part xcu55c-fsvh2892-2L-e nic_u55c nic_u55c
set_property target_language Verilog [current_project]

# ---- sources: packages first, as in rtl/sources.py
set packages [concat $rtl/ggas_pkg.sv $generated/ggas_regs_pkg.sv [glob $rtl/*/*_pkg.sv $rtl/rma/*/*_pkg.sv] \
  [glob $rtl/boards/ultrascale_plus/*_pkg.sv]]
set modules [concat [glob $rtl/*/*.sv $rtl/rma/*/*.sv] $generated/regs.sv $rtl/nic_top.sv [glob $rtl/boards/common/*.sv] \
  [glob $rtl/boards/ultrascale_plus/*.sv] $here/fpga.sv]
foreach file [concat $packages $modules] { add_files -norecurse $file }
set_property verilog_define {SYNTHESIS} [get_filesets sources_1]
add_files -fileset constrs_1 $here/u55c.xdc
set_property top fpga [current_fileset]

# ---- the hard PCIe block: what docs/board.md says of its settings
create_ip -name pcie4c_uscale_plus -vendor xilinx.com -library ip -module_name pcie4c_uscale_plus_0
set_property -dict {
  CONFIG.mode_selection {Advanced}
  CONFIG.PL_LINK_CAP_MAX_LINK_SPEED {8.0_GT/s}
  CONFIG.PL_LINK_CAP_MAX_LINK_WIDTH {X8}
  CONFIG.AXISTEN_IF_RC_STRADDLE {false}
  CONFIG.axisten_if_enable_client_tag {false}
  CONFIG.axisten_if_width {256_bit}
  CONFIG.axisten_freq {250}
  CONFIG.extended_tag_field {true}
  CONFIG.en_gt_selection {true}
  CONFIG.select_quad {GTY_Quad_227}
  CONFIG.vendor_id {1234}
  CONFIG.PF0_DEVICE_ID {6767}
  CONFIG.PF0_CLASS_CODE {020700}
  CONFIG.pf0_dev_cap_max_payload {512_bytes}
  CONFIG.PF0_DEV_CAP_FUNCTION_LEVEL_RESET_CAPABLE {true}
  CONFIG.pf0_bar0_64bit {true}
  CONFIG.pf0_bar0_scale {Kilobytes}
  CONFIG.pf0_bar0_size {64}
  CONFIG.pf0_bar2_enabled {true}
  CONFIG.pf0_bar2_64bit {true}
  CONFIG.pf0_bar2_prefetchable {true}
  CONFIG.pf0_bar2_scale {Gigabytes}
  CONFIG.pf0_bar2_size {64}
  CONFIG.pf0_bar4_enabled {true}
  CONFIG.pf0_bar4_64bit {true}
  CONFIG.pf0_bar4_scale {Megabytes}
  CONFIG.pf0_bar4_size {2}
  CONFIG.pf0_msi_enabled {false}
  CONFIG.pf0_msix_enabled {true}
  CONFIG.MSI_X_OPTIONS {MSI-X_External}
  CONFIG.PF0_MSIX_CAP_TABLE_SIZE {00F}
  CONFIG.PF0_MSIX_CAP_TABLE_BIR {BAR_1:0}
  CONFIG.PF0_MSIX_CAP_TABLE_OFFSET {00008000}
  CONFIG.PF0_MSIX_CAP_PBA_BIR {BAR_1:0}
  CONFIG.PF0_MSIX_CAP_PBA_OFFSET {0000C000}
} [get_ips pcie4c_uscale_plus_0]

# ---- transceivers of QSFP 0: a block of 66 bits a cycle (asynchronous gearbox)
create_ip -name gtwizard_ultrascale -vendor xilinx.com -library ip -module_name gtwizard_0
set_property CONFIG.preset {GTY-10GBASE-R} [get_ips gtwizard_0]
set_property -dict {
  CONFIG.CHANNEL_ENABLE {X0Y31 X0Y30 X0Y29 X0Y28}
  CONFIG.TX_MASTER_CHANNEL {X0Y28}
  CONFIG.RX_MASTER_CHANNEL {X0Y28}
  CONFIG.TX_LINE_RATE {15.46875}
  CONFIG.RX_LINE_RATE {15.46875}
  CONFIG.TX_REFCLK_FREQUENCY {161.1328125}
  CONFIG.RX_REFCLK_FREQUENCY {161.1328125}
  CONFIG.TX_DATA_ENCODING {64B66B_ASYNC}
  CONFIG.RX_DATA_DECODING {64B66B_ASYNC}
  CONFIG.TX_USER_DATA_WIDTH {64}
  CONFIG.RX_USER_DATA_WIDTH {64}
  CONFIG.TX_INT_DATA_WIDTH {64}
  CONFIG.RX_INT_DATA_WIDTH {64}
  CONFIG.TX_OUTCLK_SOURCE {TXPROGDIVCLK}
  CONFIG.RX_OUTCLK_SOURCE {RXPROGDIVCLK}
  CONFIG.RX_PPM_OFFSET {300}
  CONFIG.FREERUN_FREQUENCY {100}
  CONFIG.LOCATE_COMMON {CORE}
  CONFIG.LOCATE_RESET_CONTROLLER {CORE}
  CONFIG.LOCATE_TX_USER_CLOCKING {CORE}
  CONFIG.LOCATE_RX_USER_CLOCKING {CORE}
} [get_ips gtwizard_0]

launch_runs synth_1 -jobs 4
wait_on_run synth_1
launch_runs impl_1 -to_step write_bitstream -jobs 4
wait_on_run impl_1
open_run impl_1
report_timing_summary -file timing.txt
report_utilization -hierarchical -file utilization.txt
if {[get_property STATS.WNS [get_runs impl_1]] < 0} { error "timing is not met: see timing.txt" }
