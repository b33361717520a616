// SPDX-License-Identifier: MIT
// The emulated card as cudaGetDeviceProperties and cudaDeviceGetAttribute describe it: one source
// for both. Numbers that the machine enforces come from machine::Limits.
#pragma once

#include "runtime/core/context.h"

namespace runtime {

// The compute capability to emulate for code compiled for `wanted` (75, 90, ...): the newest known
// one that is not newer; 75 when `wanted` is 0 or older.
unsigned supported_arch(unsigned wanted);
// The values of the programming guide's table "Technical Specifications per Compute Capability" for
// an architecture from supported_arch(). The number of multiprocessors is always the same.
machine::Limits limits_of(unsigned arch);

cudaDeviceProp device_properties(Context& context, int device);
// False when there is no such attribute.
bool device_attribute(Context& context, int device, cudaDeviceAttr attribute, int& value);
// "0000:01:00.0" for device 0; the bus number increases by one per device.
std::string pci_bus_id(int device);

}  // namespace runtime
