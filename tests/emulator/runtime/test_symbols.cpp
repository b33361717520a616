// SPDX-License-Identifier: MIT
// Module variables: their addresses and sizes, copies to and from them, and managed ones.
#include "device_lab.h"

static const char* const kVariables = R"(
.visible .global .align 4 .u32 counters[4] = {10, 20, 30};
.visible .const .align 4 .b8 table[64];
.visible .global .attribute(.managed) .align 4 .u32 hits = 5;
)";

TEST_CASE("symbols: initial values come from the PTX", "[symbol]") {
    lab::Device device;
    lab::Program program(kVariables);
    const void* counters = program.variable("counters", 16);
    int back[4] = {};
    REQUIRE(cudaMemcpyFromSymbol(back, counters, 16, 0, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK((back[0] == 10 && back[1] == 20 && back[2] == 30 && back[3] == 0));
    int one = 0;
    REQUIRE(cudaMemcpyFromSymbol(&one, counters, 4, 8, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(one == 30);
}

TEST_CASE("symbols: address and size agree with the copies", "[symbol]") {
    lab::Device device;
    lab::Program program(kVariables);
    const void* table = program.variable("table", 64, true);
    void* address = nullptr;
    size_t bytes = 0;
    REQUIRE(cudaGetSymbolAddress(&address, table) == cudaSuccess);
    REQUIRE(cudaGetSymbolSize(&bytes, table) == cudaSuccess);
    CHECK(bytes == 64);
    const int value = 1234;
    REQUIRE(cudaMemcpyToSymbol(table, &value, 4, 60, cudaMemcpyHostToDevice) == cudaSuccess);
    int back = 0;
    REQUIRE(cudaMemcpy(&back, static_cast<char*>(address) + 60, 4, cudaMemcpyDeviceToHost) ==
            cudaSuccess);
    CHECK(back == 1234);
}

TEST_CASE("symbols: a name that is passed as a device pointer is reported as a variable's name",
          "[symbol]") {
    lab::Device device;
    lab::Program program(kVariables);
    const void* table = program.variable("table", 64, true);
    const int value = 5;
    CHECK(cudaMemcpy(const_cast<void*>(table), &value, 4, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 1);
    CHECK(
        device.seen.api[0].message.find("`cudaMemcpy` writes to `table`, a __constant__ variable, "
                                        "whose name is not a device pointer") == 0);
    int plain = 0;
    CHECK(cudaMemset(&plain, 0, 4) == cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 2);
    CHECK(device.seen.api[1].message.find("host memory that was not allocated or registered") !=
          std::string::npos);
}

TEST_CASE("symbols: a copy past the end names the variable and copies nothing", "[symbol]") {
    lab::Device device;
    lab::Program program(kVariables);
    const void* table = program.variable("table", 64, true);
    const std::vector<char> host(100);
    CHECK(cudaMemcpyToSymbol(table, host.data(), 100, 0, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    CHECK(cudaMemcpyToSymbol(table, host.data(), 4, 61, cudaMemcpyHostToDevice) ==
          cudaErrorInvalidValue);
    REQUIRE(device.seen.api.size() == 2);
    CHECK(device.seen.api[0].message ==
          "`cudaMemcpyToSymbol` copies 100 bytes into `table` (64 bytes)");
    CHECK(cudaMemcpyToSymbol(table, host.data(), 4, 0, cudaMemcpyDeviceToHost) ==
          cudaErrorInvalidMemcpyDirection);
}

TEST_CASE("symbols: something that is no symbol has an error of its own", "[symbol]") {
    lab::Device device;
    int host = 0;
    void* address = nullptr;
    CHECK(cudaGetSymbolAddress(&address, &host) == cudaErrorInvalidSymbol);
    CHECK(cudaMemcpyToSymbol(&host, &host, 4, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidSymbol);
}

TEST_CASE("symbols: a managed variable is initialised before the host first reads it", "[symbol]") {
    lab::Device device;
    lab::Program program(kVariables);
    int* hits = nullptr;
    __cudaRegisterManagedVar(
        program.handle, reinterpret_cast<void**>(&hits), nullptr, "hits", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(program.handle);
    CHECK(__cudaInitModule(program.handle) != 0);
    REQUIRE(hits != nullptr);
    CHECK(*hits == 5);
    *hits = 6;
    int back = 0;
    REQUIRE(cudaMemcpy(&back, hits, 4, cudaMemcpyDefault) == cudaSuccess);
    CHECK(back == 6);
}

TEST_CASE("symbols: the host keeps its managed variable when another device loads the module",
          "[symbol]") {
    lab::Device device;
    lab::Program program(kVariables);
    const void* counters = program.variable("counters", 16);
    int* hits = nullptr;
    __cudaRegisterManagedVar(
        program.handle, reinterpret_cast<void**>(&hits), nullptr, "hits", 0, 4, 0, 0);
    REQUIRE(__cudaInitModule(program.handle) != 0);
    int* const before = hits;
    *hits = 8;
    REQUIRE(cudaSetDevice(1) == cudaSuccess);
    void* address = nullptr;
    REQUIRE(cudaGetSymbolAddress(&address, counters) == cudaSuccess);
    CHECK(hits == before);
    CHECK(*hits == 8);
    cudaSetDevice(0);
}

TEST_CASE("symbols: cudaDeviceReset brings back the initial values", "[symbol]") {
    lab::Device device;
    lab::Program program(kVariables);
    const void* counters = program.variable("counters", 16);
    const int value = 77;
    REQUIRE(cudaMemcpyToSymbol(counters, &value, 4, 0, cudaMemcpyHostToDevice) == cudaSuccess);
    REQUIRE(cudaDeviceReset() == cudaSuccess);
    int back = 0;
    REQUIRE(cudaMemcpyFromSymbol(&back, counters, 4, 0, cudaMemcpyDeviceToHost) == cudaSuccess);
    CHECK(back == 10);
}
