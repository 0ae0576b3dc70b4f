// SPDX-License-Identifier: Apache-2.0
#include "sim/vfio_user/config_space.hpp"

#include <linux/pci_regs.h>

#include <bit>

namespace ggas::device {

namespace {

constexpr unsigned at_pm = 0x40, at_express = 0x50, at_msix = 0xb0, at_aer = 0x100;
constexpr uint32_t table_bar0 = 0x8000, pending_bar0 = 0xc000;  // docs/memory-map.md
constexpr uint16_t class_network_other = 0x0280;

}  // namespace

config_space::config_space(unsigned mps_bytes) : mps_(mps_bytes) { reset(); }

void config_space::set(unsigned at, uint64_t value, unsigned size, uint64_t writable, uint64_t clear_by_one) {
  for (unsigned i = 0; i < size; ++i) {
    value_[at + i] = uint8_t(value >> 8 * i);
    writable_[at + i] = uint8_t(writable >> 8 * i);
    clear_by_one_[at + i] = uint8_t(clear_by_one >> 8 * i);
  }
}

void config_space::reset() {
  value_ = writable_ = clear_by_one_ = {};
  header();
  capabilities();
}

// Sizes of BARs are reported by the regions; here stand their kinds, and what the client writes.
void config_space::header() {
  set(PCI_VENDOR_ID, pci_vendor, 2);
  set(PCI_DEVICE_ID, pci_device, 2);
  set(PCI_COMMAND, 0, 2,
      PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY | PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
  set(PCI_STATUS, PCI_STATUS_CAP_LIST, 2, 0, 0xf900);
  set(PCI_CLASS_DEVICE, class_network_other, 2);
  set(PCI_CACHE_LINE_SIZE, 0, 1, 0xff);
  set(PCI_BASE_ADDRESS_0, PCI_BASE_ADDRESS_MEM_TYPE_32, 4, 0xfffffff0);
  for (const unsigned bar : {2u, 4u}) {
    const uint32_t kind = PCI_BASE_ADDRESS_MEM_TYPE_64 | (bar == 2 ? PCI_BASE_ADDRESS_MEM_PREFETCH : 0);
    set(PCI_BASE_ADDRESS_0 + 4 * bar, kind, 8, ~uint64_t(0xf));
  }
  set(PCI_SUBSYSTEM_VENDOR_ID, pci_vendor, 2);
  set(PCI_SUBSYSTEM_ID, pci_device, 2);
  set(PCI_CAPABILITY_LIST, at_pm, 1);
  set(PCI_INTERRUPT_LINE, 0, 1, 0xff);
}

void config_space::capabilities() {
  set(at_pm, PCI_CAP_ID_PM, 1);
  set(at_pm + PCI_CAP_LIST_NEXT, at_express, 1);
  set(at_pm + PCI_PM_PMC, 3, 2);
  set(at_pm + PCI_PM_CTRL, PCI_PM_CTRL_NO_SOFT_RESET, 2, PCI_PM_CTRL_STATE_MASK);

  const unsigned mps = unsigned(std::countr_zero(mps_ / 128));
  set(at_express, PCI_CAP_ID_EXP, 1);
  set(at_express + PCI_CAP_LIST_NEXT, at_msix, 1);
  set(at_express + PCI_EXP_FLAGS, 2 | PCI_EXP_TYPE_ENDPOINT << 4, 2);
  set(at_express + PCI_EXP_DEVCAP, mps | PCI_EXP_DEVCAP_EXT_TAG | PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR, 4);
  set(at_express + PCI_EXP_DEVCTL, 0x2000 | PCI_EXP_DEVCTL_EXT_TAG, 2, 0x7fff);  // MRRS 512; the reset bit reads as 0
  set(at_express + PCI_EXP_DEVSTA, 0, 2, 0, 0xf);
  set(at_express + PCI_EXP_LNKCAP, PCI_EXP_LNKCAP_SLS_2_5GB | 8 << 4, 4);
  set(at_express + PCI_EXP_LNKCTL, 0, 2, 0x1c3);
  set(at_express + PCI_EXP_LNKSTA, PCI_EXP_LNKSTA_CLS_2_5GB | 8 << 4, 2);
  // Completion time-outs: range A to D, and off. No AtomicOps are completed.
  set(at_express + PCI_EXP_DEVCAP2, 0x1f, 4);
  set(at_express + PCI_EXP_DEVCTL2, 0, 2, PCI_EXP_DEVCTL2_COMP_TIMEOUT | PCI_EXP_DEVCTL2_COMP_TMOUT_DIS);

  set(at_msix, PCI_CAP_ID_MSIX, 1);
  set(at_msix + PCI_MSIX_FLAGS, msix_vectors - 1, 2, PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
  set(at_msix + PCI_MSIX_TABLE, table_bar0, 4);
  set(at_msix + PCI_MSIX_PBA, pending_bar0, 4);

  set(at_aer, PCI_EXT_CAP_ID_ERR | 2 << 16, 4);
  const uint32_t uncorrectable = PCI_ERR_UNC_DLP | PCI_ERR_UNC_POISON_TLP | PCI_ERR_UNC_FCP | PCI_ERR_UNC_COMP_TIME |
                                 PCI_ERR_UNC_COMP_ABORT | PCI_ERR_UNC_UNX_COMP | PCI_ERR_UNC_RX_OVER |
                                 PCI_ERR_UNC_MALF_TLP | PCI_ERR_UNC_ECRC | PCI_ERR_UNC_UNSUP;
  const uint32_t fatal = PCI_ERR_UNC_DLP | PCI_ERR_UNC_FCP | PCI_ERR_UNC_RX_OVER | PCI_ERR_UNC_MALF_TLP;
  const uint32_t correctable = PCI_ERR_COR_RCVR | PCI_ERR_COR_BAD_TLP | PCI_ERR_COR_BAD_DLLP | PCI_ERR_COR_REP_ROLL |
                               PCI_ERR_COR_REP_TIMER | PCI_ERR_COR_ADV_NFAT;
  set(at_aer + PCI_ERR_UNCOR_STATUS, 0, 4, 0, uncorrectable);
  set(at_aer + PCI_ERR_UNCOR_MASK, 0, 4, uncorrectable);
  set(at_aer + PCI_ERR_UNCOR_SEVER, fatal, 4, uncorrectable);
  set(at_aer + PCI_ERR_COR_STATUS, 0, 4, 0, correctable);
  set(at_aer + PCI_ERR_COR_MASK, PCI_ERR_COR_ADV_NFAT, 4, correctable);
}

bool config_space::read(uint64_t offset, std::span<std::byte> to) const {
  if (offset > bytes || to.size() > bytes - offset) return false;
  for (size_t i = 0; i < to.size(); ++i) to[i] = std::byte(value_[offset + i]);
  return true;
}

bool config_space::write(uint64_t offset, std::span<const std::byte> from) {
  if (offset > bytes || from.size() > bytes - offset) return false;
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t at = offset + i;
    const auto b = uint8_t(from[i]);
    value_[at] = uint8_t((value_[at] & ~writable_[at]) | (b & writable_[at]));
    value_[at] = uint8_t(value_[at] & ~(b & clear_by_one_[at]));
  }
  constexpr unsigned control_high = at_express + PCI_EXP_DEVCTL + 1;
  if (offset <= control_high && control_high < offset + from.size() &&
      (uint8_t(from[control_high - offset]) & PCI_EXP_DEVCTL_BCR_FLR >> 8) && on_reset)
    on_reset();
  return true;
}

bool config_space::bus_master() const { return value_[PCI_COMMAND] & PCI_COMMAND_MASTER; }

}  // namespace ggas::device
