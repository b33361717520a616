// SPDX-License-Identifier: MIT
// The functions of NVIDIA's device runtime that code without its headers calls, such as Numba's
// cooperative groups: linked into PTX that declares them, where a program links libcudadevrt.
#pragma once

namespace driver {

// A barrier for all blocks of the grid. The last block to arrive begins the next generation, and
// the others wait for it; both counters are as at the start when a launch ends, but for the
// generation.
constexpr char kDeviceRuntime[] = R"(
.weak .global .align 4 .u32 emulator_grid_arrived;
.weak .global .align 4 .u32 emulator_grid_generation;

.weak .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope)
{
    .reg .b64 %rd<1>;
    mov.u64 %rd0, 1;
    st.param.b64 [handle], %rd0;
    ret;
}

.weak .func (.param .b32 result) cudaCGSynchronize(.param .b64 handle, .param .b32 flags)
{
    .reg .pred %p<3>;
    .reg .b32 %r<10>;
    barrier.sync 0;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, %tid.y;
    or.b32 %r0, %r0, %r1;
    mov.u32 %r1, %tid.z;
    or.b32 %r0, %r0, %r1;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra together;
    mov.u32 %r2, %nctaid.x;
    mov.u32 %r3, %nctaid.y;
    mul.lo.u32 %r2, %r2, %r3;
    mov.u32 %r3, %nctaid.z;
    mul.lo.u32 %r2, %r2, %r3;
    fence.acq_rel.gpu;
    ld.acquire.gpu.u32 %r4, [emulator_grid_generation];
    atom.acq_rel.gpu.global.add.u32 %r5, [emulator_grid_arrived], 1;
    add.u32 %r5, %r5, 1;
    setp.ne.u32 %p1, %r5, %r2;
    @%p1 bra wait;
    st.relaxed.gpu.u32 [emulator_grid_arrived], 0;
    add.u32 %r6, %r4, 1;
    st.release.gpu.u32 [emulator_grid_generation], %r6;
    bra together;
wait:
    ld.acquire.gpu.u32 %r7, [emulator_grid_generation];
    setp.eq.u32 %p2, %r7, %r4;
    @%p2 bra wait;
together:
    barrier.sync 0;
    mov.u32 %r8, 0;
    st.param.b32 [result], %r8;
    ret;
}
)";

}  // namespace driver
