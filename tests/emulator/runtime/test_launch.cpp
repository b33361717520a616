// SPDX-License-Identifier: MIT
// Launching kernels that were registered from PTX: limits, arguments, and the errors they leave.
#include "device_lab.h"

using Kind = machine::ApiEvent::Kind;

TEST_CASE("launch: a registered kernel runs with the arguments it was given", "[launch]") {
    lab::Device device;
    lab::Program program(lab::kStoreIndex);
    const void* kernel = program.kernel("store_index");
    int* out = lab::device_array<int>(100);
    uint32_t n = 100;
    lab::stub_launch(kernel, 4, 32, {&out, &n});
    REQUIRE(cudaGetLastError() == cudaSuccess);
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    std::vector<int> back(100);
    REQUIRE(cudaMemcpy(back.data(), out, 400, cudaMemcpyDeviceToHost) == cudaSuccess);
    for (int i = 0; i < 100; ++i) CHECK(back[size_t(i)] == i);
    REQUIRE(device.seen.launches.size() == 1);
    CHECK(device.seen.launches[0].kernel == "store_index");
    CHECK((device.seen.launches[0].grid == machine::Dim3{4, 1, 1}));
    CHECK(device.seen.api.empty());
}

TEST_CASE("launch: host pointer and kernel handle are both accepted", "[launch]") {
    lab::Device device;
    lab::Program program(lab::kStoreIndex);
    const void* kernel = program.kernel("store_index");
    int* out = lab::device_array<int>(1);
    uint32_t n = 1;
    void* args[] = {&out, &n};
    CHECK(cudaLaunchKernel(kernel, 1, 1, args, 0, nullptr) == cudaSuccess);
    cudaKernel_t handle = nullptr;
    REQUIRE(cudaGetKernel(&handle, kernel) == cudaSuccess);
    CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(handle), 1, 1, args, 0, nullptr) ==
          cudaSuccess);
    cudaLaunchConfig_t config = {};
    config.gridDim = config.blockDim = 1;
    CHECK(cudaLaunchKernelExC(&config, kernel, args) == cudaSuccess);
    CHECK(cudaLaunchCooperativeKernel(kernel, 1, 1, args, 0, nullptr) == cudaSuccess);
    CHECK(device.seen.launches.size() == 4);
    CHECK(device.seen.launches[3].cooperative);
    CHECK(cudaLaunchKernel(&config, 1, 1, args, 0, nullptr) == cudaErrorInvalidDeviceFunction);
}

TEST_CASE("launch: a shape beyond the limits is refused with a sentence", "[launch]") {
    lab::Device device;
    lab::Program program(lab::kEmpty);
    const void* kernel = program.kernel("empty");
    const auto [grid, block, text] = GENERATE(table<dim3, dim3, std::string>({
        {dim3(0, 1, 1),
         dim3(256, 1, 1),
         "`empty<<<(0,1,1), (256,1,1)>>>`: a grid of 0 blocks; every grid dimension must be at "
         "least 1"},
        {dim3(1, 1, 1),
         dim3(32, 0, 1),
         "`empty<<<(1,1,1), (32,0,1)>>>`: a block of 0 threads; every block dimension must be at "
         "least 1"},
        {dim3(1, 1, 1),
         dim3(33, 32, 1),
         "`empty<<<(1,1,1), (33,32,1)>>>`: a block of 1056 threads; at most 1024 are allowed"},
        {dim3(1, 1, 1),
         dim3(1, 1, 65),
         "`empty<<<(1,1,1), (1,1,65)>>>`: a block of 65 in z; at most 64 are allowed there"},
        {dim3(1, 65536, 1),
         dim3(1, 1, 1),
         "`empty<<<(1,65536,1), (1,1,1)>>>`: a grid of 65536 in y; at most 65535 are allowed "
         "there"},
    }));
    CAPTURE(text);
    lab::stub_launch(kernel, grid, block, {});
    CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaDeviceSynchronize() == cudaSuccess);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(device.seen.api[0].kind == Kind::kInvalidLaunch);
    CHECK(device.seen.api[0].kernel == "empty");
    CHECK(device.seen.api[0].message == text);
    CHECK(device.seen.launches.empty());
}

TEST_CASE("launch: the largest legal shapes run", "[launch]") {
    lab::Device device;
    lab::Program program(lab::kEmpty);
    const void* kernel = program.kernel("empty");
    const auto [grid, block] = GENERATE(table<dim3, dim3>({
        {dim3(1, 1, 1), dim3(1024, 1, 1)},
        {dim3(1, 1, 1), dim3(16, 1, 64)},
        {dim3(1, 1, 1), dim3(1, 1024, 1)},
        {dim3(1, 65535, 1), dim3(1, 1, 1)},
    }));
    CHECK(cudaLaunchKernel(kernel, grid, block, nullptr, 0, nullptr) == cudaSuccess);
    CHECK(device.seen.api.empty());
}

TEST_CASE("launch: more threads than __launch_bounds__ are an invalid value", "[launch]") {
    lab::Device device;
    lab::Program program(lab::kBounded);
    const void* kernel = program.kernel("bounded");
    CHECK(cudaLaunchKernel(kernel, 1, 128, nullptr, 0, nullptr) == cudaSuccess);
    CHECK(cudaLaunchKernel(kernel, 1, 129, nullptr, 0, nullptr) == cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(device.seen.api[0].kind == Kind::kInvalidLaunch);
}

TEST_CASE("launch: a block other than .reqntid asks for is an invalid value", "[launch]") {
    lab::Device device;
    lab::Program program(".visible .entry exact() .reqntid 32, 4 { ret; }\n"
                         ".visible .entry line() .reqntid 64 { ret; }\n");
    const auto launch = [&](const char* kernel, dim3 block) {
        return cudaLaunchKernel(program.kernel(kernel), 1, block, nullptr, 0, nullptr);
    };
    CHECK(launch("exact", dim3(32, 4, 1)) == cudaSuccess);
    CHECK(launch("line", dim3(64, 1, 1)) == cudaSuccess);
    CHECK(device.seen.api.empty());
    // As many threads in another shape, and fewer or more of them.
    CHECK(launch("exact", dim3(4, 32, 1)) == cudaErrorInvalidValue);
    CHECK(launch("exact", dim3(128, 1, 1)) == cudaErrorInvalidValue);
    CHECK(launch("exact", dim3(32, 2, 2)) == cudaErrorInvalidValue);
    CHECK(launch("exact", dim3(32, 2, 1)) == cudaErrorInvalidValue);
    CHECK(launch("line", dim3(32, 1, 1)) == cudaErrorInvalidValue);
    CHECK(launch("line", dim3(65, 1, 1)) == cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 6);
    CHECK(device.seen.api[0].kind == Kind::kInvalidLaunch);
    CHECK(device.seen.api[0].message.find("exactly (32,4,1)") != std::string::npos);
}

TEST_CASE("launch: dynamic shared memory above 48 KiB must be asked for", "[launch]") {
    lab::Device device;
    lab::Program program(lab::kShared);
    const void* kernel = program.kernel("shares");  // 1024 bytes of its own
    const auto launch = [&](size_t bytes) {
        return cudaLaunchKernel(kernel, 1, 32, nullptr, bytes, nullptr);
    };
    CHECK(launch(47 << 10) == cudaSuccess);
    CHECK(launch((47 << 10) + 1) == cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 << 10) ==
          cudaErrorInvalidValue);
    REQUIRE(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 63 << 10) ==
            cudaSuccess);
    CHECK(launch(63 << 10) == cudaSuccess);
    CHECK(launch((63 << 10) + 1) == cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 2);
    CHECK(device.seen.api[0].message.find("cudaFuncSetAttribute") != std::string::npos);
}

TEST_CASE("launch: a cooperative grid must fit on the device at a time", "[launch]") {
    lab::Device device;
    lab::Program program(lab::kEmpty);
    const void* kernel = program.kernel("empty");
    CHECK(cudaLaunchCooperativeKernel(kernel, 40, 1024, nullptr, 0, nullptr) == cudaSuccess);
    CHECK(cudaLaunchCooperativeKernel(kernel, 41, 1024, nullptr, 0, nullptr) ==
          cudaErrorCooperativeLaunchTooLarge);
}

TEST_CASE("launch: a trap is an error of every later call until the device is reset", "[launch]") {
    lab::Device device;
    lab::Program program(std::string(lab::kTrap) + lab::kEmpty);
    const void* kernel = program.kernel("traps");
    const void* empty = program.kernel("empty");
    void* data = lab::device_array<char>(16);
    lab::stub_launch(kernel, 1, 1, {});
    CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
    CHECK(cudaGetLastError() == cudaErrorLaunchFailure);
    CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    void* more = nullptr;
    CHECK(cudaMalloc(&more, 16) == cudaErrorLaunchFailure);
    CHECK(cudaLaunchKernel(empty, 1, 1, nullptr, 0, nullptr) == cudaErrorLaunchFailure);
    CHECK(cudaFree(data) == cudaErrorLaunchFailure);
    CHECK(device.seen.freed.size() == 1);  // so that it is no leak
    int which = -1;
    CHECK(cudaGetDevice(&which) == cudaSuccess);
    // The other device is not affected.
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    CHECK(cudaMalloc(&more, 16) == cudaSuccess);
    REQUIRE(cudaSetDevice(0) == cudaSuccess);
    CHECK(cudaDeviceReset() == cudaSuccess);
    CHECK(cudaGetLastError() == cudaSuccess);
    CHECK(cudaMalloc(&more, 16) == cudaSuccess);
    CHECK(cudaLaunchKernel(empty, 1, 1, nullptr, 0, nullptr) == cudaSuccess);
}

TEST_CASE("launch: PTX that the machine cannot run is refused, and the program continues",
          "[launch]") {
    lab::Device device;
    lab::Program program(".visible .entry strange() { frobnicate.u32 %r1, %r2; ret; }\n" +
                         std::string(lab::kEmpty));
    const void* strange = program.kernel("strange");
    const void* empty = program.kernel("empty");
    CHECK(cudaLaunchKernel(strange, 1, 1, nullptr, 0, nullptr) != cudaSuccess);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(device.seen.api[0].kind == Kind::kUnsupported);
    CHECK(device.seen.api[0].message.find("frobnicate") != std::string::npos);
    CHECK(cudaLaunchKernel(empty, 1, 1, nullptr, 0, nullptr) == cudaSuccess);
}

TEST_CASE("launch: a program without PTX gets the error of a missing kernel image", "[launch]") {
    lab::Device device;
    struct {
        int magic = 0x466243b1, version = 1;
        const void* data;
        const void* extra = nullptr;
    } wrapper;
    const uint32_t empty[4] = {0xba55ed50, 1 | 16 << 16, 0, 0};
    wrapper.data = empty;
    void** handle = __cudaRegisterFatBinary(&wrapper);
    char stub = 0;
    __cudaRegisterFunction(
        handle, &stub, nullptr, "gone", -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    CHECK(cudaLaunchKernel(&stub, 1, 1, nullptr, 0, nullptr) == cudaErrorNoKernelImageForDevice);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(device.seen.api[0].message.find("compute_75") != std::string::npos);
}

TEST_CASE("unchecked errors: a rejected launch whose error is never checked is reported at the end",
          "[launch]") {
    lab::Device device;
    lab::Program program(std::string(lab::kEmpty) + lab::kTrap);
    const void* empty = program.kernel("empty");
    const void* traps = program.kernel("traps");
    const std::string how = GENERATE("never", "get", "peek", "fault", "fault and wait");
    CAPTURE(how);
    if (how.starts_with("fault"))
        lab::stub_launch(traps, 1, 1, {});
    else
        lab::stub_launch(empty, 1, 2000, {});
    if (how == "get") CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
    if (how == "peek") CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
    if (how == "fault and wait") CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
    if (how == "never") CHECK(cudaDeviceSynchronize() == cudaSuccess);  // which does not return it
    device.seen.api.clear();
    runtime::end_process();
    runtime::end_process();
    CHECK(device.seen.ends == 1);
    const bool unchecked = how == "never" || how == "fault";
    REQUIRE(device.seen.api.size() == (unchecked ? 1 : 0));
    if (!unchecked) return;
    CHECK(device.seen.api[0].kind == Kind::kUncheckedError);
    CHECK(device.seen.api[0].message ==
          (how == "never"
               ? "the launch of `empty` was rejected with cudaErrorInvalidConfiguration, and the "
                 "program did not check for the error"
               : "`traps` failed with cudaErrorLaunchFailure while it ran, and the program did not "
                 "check for the error"));
}

TEST_CASE("unchecked errors: an API call that returned its error is not reported", "[launch]") {
    lab::Device device;
    lab::Program program(lab::kEmpty);
    CHECK(cudaLaunchKernel(program.kernel("empty"), 0, 1, nullptr, 0, nullptr) ==
          cudaErrorInvalidConfiguration);
    CHECK(cudaFree(&device) == cudaErrorInvalidValue);
    device.seen.api.clear();
    runtime::end_process();
    CHECK(device.seen.api.empty());
}

TEST_CASE("cudaFuncGetAttributes: tells what the kernel needs", "[launch]") {
    lab::Device device;
    lab::Program program(std::string(lab::kShared) + lab::kBounded);
    const void* shares = program.kernel("shares");
    const void* bounded = program.kernel("bounded");
    cudaFuncAttributes at;
    REQUIRE(cudaFuncGetAttributes(&at, shares) == cudaSuccess);
    CHECK(at.sharedSizeBytes == 1024);
    CHECK(at.maxThreadsPerBlock == 1024);
    CHECK(at.maxDynamicSharedSizeBytes == (47 << 10));
    CHECK(at.ptxVersion == 75);
    CHECK(at.binaryVersion == 75);
    CHECK(at.preferredShmemCarveout == -1);
    REQUIRE(cudaFuncGetAttributes(&at, bounded) == cudaSuccess);
    CHECK(at.maxThreadsPerBlock == 128);
    CHECK(cudaFuncGetAttributes(&at, &at) == cudaErrorInvalidDeviceFunction);
    const char* name = nullptr;
    REQUIRE(cudaFuncGetName(&name, bounded) == cudaSuccess);
    CHECK(std::string(name) == "bounded");
    CHECK(cudaFuncSetAttribute(shares, cudaFuncAttributePreferredSharedMemoryCarveout, 101) ==
          cudaErrorInvalidValue);
    CHECK(cudaFuncSetAttribute(shares, cudaFuncAttributePreferredSharedMemoryCarveout, 50) ==
          cudaSuccess);
    CHECK(cudaFuncSetCacheConfig(shares, cudaFuncCachePreferL1) == cudaSuccess);
}

TEST_CASE("-rdc: images of one binary call functions of each other", "[launch]") {
    lab::Device device;
    const std::string head = ".version 9.0\n.target sm_75\n.address_size 64\n";
    const std::string caller = head + R"(
.extern .func (.param .b32 result) twice(.param .b32 value);
.extern .global .align 4 .u32 base;
.visible .entry calls(.param .u64 out) {
    .reg .b32 %r<4>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    cvta.to.global.u64 %rd2, %rd1;
    ld.global.u32 %r1, [base];
    { .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 q0;
      call.uni (q0), twice, (p0); ld.param.b32 %r2, [q0]; }
    st.global.u32 [%rd2], %r2;
    ret;
}
)";
    const std::string callee = head + R"(
.visible .global .align 4 .u32 base = 21;
.visible .func (.param .b32 result) twice(.param .b32 value) {
    .reg .b32 %r<3>;
    ld.param.u32 %r1, [value];
    add.s32 %r2, %r1, %r1;
    st.param.b32 [result], %r2;
    ret;
}
)";
    lab::Program program(std::vector<std::string>{caller, callee});
    const void* kernel = program.kernel("calls");
    int* out = lab::device_array<int>(1);
    lab::stub_launch(kernel, 1, 1, {&out});
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    int back = 0;
    REQUIRE(cudaMemcpy(&back, out, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(back == 42);
}
