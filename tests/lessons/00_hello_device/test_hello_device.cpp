// SPDX-License-Identifier: MIT
// Lesson 00: the kernel stores, errors of every kind are reported, and the card is asked, not
// guessed.
//
// Tolerance: none. No number of any card is written here: the facts are compared with what the
// runtime says, and with a card that does not exist. Errors are injected by letting calls fail, so
// no real fault has to happen.
#include "hello_device.h"
#include "lesson_test.h"
#include "watches/cuda_calls.h"

#include <cstdio>

namespace {

constexpr int kPoison = -1;  // what DeviceBuffer holds before anyone writes

// "nothing" when work() throws nothing, else the name of the CUDA error in the CudaFailure.
std::string thrown_by(const std::function<void()>& work) {
    try {
        work();
    } catch (const CudaFailure& failure) {
        return cudaGetErrorName(failure.code);
    } catch (const wb::CudaError&) {
        return "a wb::CudaError (CUDA_CHECK throws it), not a CudaFailure";
    } catch (const std::exception& other) {
        return std::string("something other than a CudaFailure, with the text: ") + other.what();
    } catch (...) {
        return "something other than a CudaFailure";
    }
    return "nothing";
}

// Compares what work() throws with the name of an error, or "nothing".
void check_thrown(const std::string& want, const std::function<void()>& work,
                  const std::string& when = "") {
    const std::string got = thrown_by(work);
    INFO(when << "thrown: " << got << ", want: " << want);
    CHECK(got == want);
}

std::string readable_name(const wb::CudaCall& call) {
    return call.name.find("LaunchKernel") != std::string::npos ? "the launch" : call.name;
}

// Makes each of the calls in work() fail once, while the others succeed.
void check_every_error_is_thrown(const std::function<void()>& work) {
    std::vector<wb::CudaCall> calls;
    {
        wb::CallWatch watch;
        work();
        calls = watch.calls;
    }
    {
        INFO("no CUDA call was made");
        REQUIRE(!calls.empty());
    }
    for (size_t k = 0; k < calls.size(); ++k) {
        if (calls[k].name.find("Destroy") != std::string::npos) continue;  // often in a destructor
        wb::CallWatch watch;
        watch.fail_call = k;
        watch.error = cudaErrorUnknown;
        check_thrown("cudaErrorUnknown", work, "when " + readable_name(calls[k]) + " fails, ");
    }
}

std::vector<std::string> shown(const DeviceFacts& facts) {
    return {"name " + facts.name,
            "compute_major " + std::to_string(facts.compute_major),
            "compute_minor " + std::to_string(facts.compute_minor),
            "multiprocessors " + std::to_string(facts.multiprocessors),
            "warp_size " + std::to_string(facts.warp_size),
            "max_threads_per_block " + std::to_string(facts.max_threads_per_block),
            "shared_bytes_per_block " + std::to_string(facts.shared_bytes_per_block),
            "memory_bytes " + std::to_string(facts.memory_bytes)};
}

// Compares field by field; each failing field shows both values.
void check_facts(const DeviceFacts& facts, const cudaDeviceProp& card) {
    DeviceFacts want;
    want.name = card.name;
    want.compute_major = card.major;
    want.compute_minor = card.minor;
    want.multiprocessors = card.multiProcessorCount;
    want.warp_size = card.warpSize;
    want.max_threads_per_block = card.maxThreadsPerBlock;
    want.shared_bytes_per_block = card.sharedMemPerBlock;
    want.memory_bytes = card.totalGlobalMem;
    const auto got_fields = shown(facts), want_fields = shown(want);
    for (size_t i = 0; i < want_fields.size(); ++i) {
        INFO("got: " << got_fields[i] << ", want: " << want_fields[i]);
        CHECK(got_fields[i] == want_fields[i]);
    }
}

// A long text by its start and its length: the rest of it says nothing.
std::string shortened(const std::string& text) {
    if (text.size() <= 100) return text;
    return text.substr(0, 40) + "... (" + std::to_string(text.size()) + " characters)";
}

}  // namespace

TEST_CASE("task 1: a kernel stores the value", "[task1]") {
    for (const int value : {42, 0, -7, 2147483647}) {
        wb::GuardedBuffer<int> d_out(1, wb::guard(64));
        hello(d_out.get(), value);
        const auto got = d_out.download();
        const std::vector<int> want{value};
        wb::recognize<int>(
            got,
            want,
            {{"the value is added to what was there, not stored",
              [&] { return std::vector<int>{int(unsigned(value) + unsigned(kPoison))}; }},
             {"42 is stored, whatever the value is: the number is hard-coded",
              [] { return std::vector<int>{42}; }}});
        CHECK_ARRAYS(got, want);
        CHECK(d_out.intact());
    }
}

TEST_CASE("task 1: it is the kernel that stores, not the host", "[task1]") {
    wb::DeviceBuffer<int> d_out(1);
    {
        wb::CallWatch watch;
        watch.refuse_launches = true;
        thrown_by([&] { hello(d_out.get(), 42); });
    }
    const int stored = d_out.download()[0];
    INFO("no kernel ran, and yet the value is " << stored);
    CHECK(stored == kPoison);
}

TEST_CASE("task 2: success is no error", "[task2]") {
    check_thrown("nothing", [] { check(cudaSuccess, "cudaFree(data)"); });
}

TEST_CASE("task 2: every error is thrown with its code", "[task2]") {
    for (const cudaError_t error : {cudaErrorInvalidValue,
                                    cudaErrorMemoryAllocation,
                                    cudaErrorInvalidConfiguration,
                                    cudaErrorIllegalAddress,
                                    cudaErrorNoDevice,
                                    cudaErrorNotReady,
                                    cudaErrorUnknown}) {
        check_thrown(cudaGetErrorName(error), [&] { check(error, "cudaFree(data)"); });
    }
}

TEST_CASE("task 2: the text names the call, the error and what it means", "[task2]") {
    const auto check_text = [](cudaError_t error, const std::string& call) {
        std::string text = "nothing was thrown";
        try {
            check(error, call.c_str());
        } catch (const std::exception& failure) {
            text = failure.what();
        }
        const std::string name = cudaGetErrorName(error), meaning = cudaGetErrorString(error);
        for (const std::string& part : {call, name, meaning}) {
            INFO("the text of the error is: " << shortened(text)
                                              << "\nand should contain: " << shortened(part));
            CHECK(text.find(part) != std::string::npos);
        }
    };
    check_text(cudaErrorMemoryAllocation, "cudaMalloc(&rows, 1 << 20)");
    check_text(cudaErrorInvalidValue, "cudaFree(columns)");
    check_text(cudaErrorInvalidValue, "cudaMemcpy(" + std::string(2000, 'x') + ")");  // any length
}

TEST_CASE("task 3: the value is there", "[task3]") {
    wb::GuardedBuffer<int> d_out(1, wb::guard(64));
    hello_and_wait(d_out.get(), 12345);
    CHECK_ARRAYS(d_out.download(), std::vector<int>{12345});
    CHECK(d_out.intact());
}

TEST_CASE("task 3: a refused launch is reported", "[task3]") {
    wb::DeviceBuffer<int> d_out(1);
    wb::CallWatch watch;
    watch.refuse_launches = true;
    check_thrown("cudaErrorInvalidConfiguration", [&] { hello_and_wait(d_out.get(), 1); });
}

TEST_CASE("task 3: the launch after a refused one succeeds", "[task3]") {
    wb::DeviceBuffer<int> d_out(1);
    {
        wb::CallWatch watch;
        watch.refuse_launches = true;
        thrown_by([&] { hello_and_wait(d_out.get(), 1); });
        watch.refuse_launches = false;
        check_thrown(
            "nothing",
            [&] { hello_and_wait(d_out.get(), 2); },
            "the first launch was refused, the second was not; an error that is only peeked at is "
            "still there at the next check. The second time, ");
    }
    CHECK_ARRAYS(d_out.download(), std::vector<int>{2});
}

TEST_CASE("task 3: a kernel that fails while it runs is reported here, not later", "[task3]") {
    wb::DeviceBuffer<int> d_out(1);
    wb::CallWatch watch;
    watch.fault_in_kernel = true;
    check_thrown("cudaErrorIllegalAddress", [&] { hello_and_wait(d_out.get(), 1); });
}

TEST_CASE("task 3: no call's error is dropped", "[task3]") {
    wb::DeviceBuffer<int> d_out(1);
    check_every_error_is_thrown([&] { hello_and_wait(d_out.get(), 3); });
}

TEST_CASE("task 4: the facts are those of this device", "[task4]") {
    int device = -1;
    CUDA_CHECK(cudaGetDevice(&device));
    cudaDeviceProp card{};
    CUDA_CHECK(cudaGetDeviceProperties(&card, device));
    check_facts(describe_device(), card);
}

TEST_CASE("task 4: another card has other facts", "[task4]") {
    cudaDeviceProp card{};
    CUDA_CHECK(cudaGetDeviceProperties(&card, 0));
    std::snprintf(card.name, sizeof card.name, "Imaginary 4711");
    card.major = 31;
    card.minor = 4;
    card.multiProcessorCount = 1017;
    card.warpSize = 48;
    card.maxThreadsPerBlock = 1536;
    card.sharedMemPerBlock = 70001;
    card.totalGlobalMem = (size_t(200) << 30) + 5;
    wb::CallWatch watch;
    watch.card = card;
    watch.card_index = 3;  // three devices of this machine's kind come first
    check_facts(describe_device(), card);
}

TEST_CASE("task 4: no call's error is dropped", "[task4]") {
    check_every_error_is_thrown([] { describe_device(); });
}

TEST_CASE("efficient: one launch of one thread stores four bytes", "[efficient][task1][task3]") {
    wb::DeviceBuffer<int> d_out(1);
    const auto counted = wb::count([&] { hello_and_wait(d_out.get(), 9); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->threads == 1);
    CHECK(counted->global_store_bytes == sizeof(int));
    CHECK(counted->host_to_device_bytes == 0);
    const auto by_hello = wb::count([&] { hello(d_out.get(), 8); });
    NEED_COUNTERS(by_hello);
    CHECK(by_hello->launches == 1);
    CHECK(by_hello->threads == 1);
}
