# SPDX-License-Identifier: Apache-2.0
# Pins, clocks and clock crossings of fpga.sv on an Alveo U55C. NOT RUN: no tool of the vendor has read this file here.
# Check the pins against the files of your board (UG1469 and the vendor's XDC) before you load a bitstream.

set_property CFGBVS GND [current_design]
set_property CONFIG_VOLTAGE 1.8 [current_design]
set_property CONFIG_MODE SPIx4 [current_design]
set_property BITSTREAM.CONFIG.SPI_BUSWIDTH 4 [current_design]
set_property BITSTREAM.CONFIG.SPI_32BIT_ADDR YES [current_design]
set_property BITSTREAM.CONFIG.OVERTEMPSHUTDOWN ENABLE [current_design]

# ---- PCIe: lanes 0 to 7. Their pins follow from the quads that build.tcl selects.
set_property PACKAGE_PIN AL15 [get_ports pcie_refclk_p]
set_property PACKAGE_PIN AL14 [get_ports pcie_refclk_n]
set_property -dict {PACKAGE_PIN BF41 IOSTANDARD LVCMOS18 PULLUP true} [get_ports pcie_reset_n]
create_clock -period 10.000 -name pcie_refclk [get_ports pcie_refclk_p]
set_false_path -from [get_ports pcie_reset_n]

# ---- QSFP 0: quad 130; the pins of its lanes follow from the channels that build.tcl selects.
set_property PACKAGE_PIN AD42 [get_ports qsfp_refclk_p]
set_property PACKAGE_PIN AD43 [get_ports qsfp_refclk_n]
create_clock -period 6.206 -name qsfp_refclk [get_ports qsfp_refclk_p]

# ---- free-running clock, lamps, HBM
set_property -dict {PACKAGE_PIN BK43 IOSTANDARD LVDS} [get_ports clk_100mhz_p]
set_property -dict {PACKAGE_PIN BK44 IOSTANDARD LVDS} [get_ports clk_100mhz_n]
create_clock -period 10.000 -name clk_100mhz [get_ports clk_100mhz_p]
set_property -dict {PACKAGE_PIN BK11 IOSTANDARD LVCMOS18} [get_ports led_up]
set_property -dict {PACKAGE_PIN BJ11 IOSTANDARD LVCMOS18} [get_ports led_bad]
set_property -dict {PACKAGE_PIN BE45 IOSTANDARD LVCMOS18} [get_ports hbm_cattrip]
set_false_path -to [get_ports {led_up led_bad hbm_cattrip}]

# ---- clock crossings. Gray pointers and flags: no bit may be late by more than a cycle of the faster clock (4 ns).
# Entries of a FIFO are stable long before they are read.
set crossings {.*(wr_seen_q|rd_seen_q|aligned_seen_q|lost_seen_q|i_lane/hold_q)_reg.*}
set_property ASYNC_REG true [get_cells -hierarchical -regexp $crossings]
set_max_delay -datapath_only 4.0 -from [get_cells -hierarchical -regexp {.*(wr|rd)_gray_q_reg.*}]
set_max_delay -datapath_only 4.0 -to [get_cells -hierarchical -regexp {.*(aligned_seen_q|lost_seen_q)_reg\[0\].*}]
set_max_delay -datapath_only 4.0 -to [get_cells -hierarchical -regexp {.*i_lane/hold_q_reg\[0\].*}]
set_max_delay -datapath_only 8.0 -from [get_cells -hierarchical -regexp {.*i_fifo/mem_q_reg.*}]
