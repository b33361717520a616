// SPDX-License-Identifier: MIT
// The emulated card as cudaGetDeviceProperties and cudaDeviceGetAttribute describe it: one source
// for both, taken from machine::Limits where the machine enforces a number.
#pragma once

#include "runtime/context.h"

namespace runtime {

cudaDeviceProp device_properties(Context& context, int device);
// False when there is no such attribute.
bool device_attribute(Context& context, int device, cudaDeviceAttr attribute, int& value);
// "0000:01:00.0" of device 0, one bus further for each next one.
std::string pci_bus_id(int device);

}  // namespace runtime
