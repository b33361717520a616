// SPDX-License-Identifier: MIT
// The emulated card as cudaGetDeviceProperties and cudaDeviceGetAttribute describe it: one source
// for both, taken from machine::Limits where the machine enforces a number.
#pragma once

#include "runtime/context.h"

namespace runtime {

// The compute capability to emulate for code compiled for `wanted` (75, 90, ...): the newest known
// one that is not newer; 75 when `wanted` is 0 or older.
unsigned supported_arch(unsigned wanted);
// What the CUDA programming guide's table "Technical Specifications per Compute Capability" says of
// an architecture from supported_arch(). The number of multiprocessors is always the same.
machine::Limits limits_of(unsigned arch);

cudaDeviceProp device_properties(Context& context, int device);
// False when there is no such attribute.
bool device_attribute(Context& context, int device, cudaDeviceAttr attribute, int& value);
// "0000:01:00.0" of device 0, one bus further for each next one.
std::string pci_bus_id(int device);

}  // namespace runtime
