// SPDX-License-Identifier: MIT
// Lesson 05: memory has one owner and is freed once, sizes are bytes, and data travel once.
//
// Tolerance: none. Copies are exact, and the pipeline computes with whole numbers below 2^24, which
// float adds and multiplies without rounding. Allocations, frees and copies are counted from the
// calls to the runtime, which works on a card too.
#include "host_device_memory.h"
#include "lesson_test.h"
#include "watches/cuda_calls.h"

#include <stdexcept>
#include <utility>

namespace {

constexpr int kSteps = 10;

bool on_the_device(const void* data) {
    cudaPointerAttributes about{};
    CUDA_CHECK(cudaPointerGetAttributes(&about, data));
    return about.type == cudaMemoryTypeDevice || about.type == cudaMemoryTypeManaged;
}

// What work() allocated and freed, including the destruction of its objects.
struct Balance {
    size_t allocated = 0, freed = 0, bytes = 0;
};
Balance balance(const std::function<void()>& work) {
    wb::CallWatch watch;
    work();
    Balance result{watch.allocated, watch.freed, 0};
    for (const wb::CudaCall& call : watch.calls)
        if (call.name.find("lloc") != std::string::npos) result.bytes += call.bytes;
    return result;
}

std::string times(size_t count) {
    return count == 1 ? "once" : count == 2 ? "twice" : std::to_string(count) + " times";
}

void check_balance(const Balance& counted, size_t allocations) {
    INFO("allocated " << times(counted.allocated) << ", freed " << times(counted.freed) << ", want "
                      << allocations << " of each");
    CHECK(counted.allocated == allocations);
    CHECK(counted.freed == counted.allocated);
}

// n whole numbers, and steps that keep them below 2^24.
std::vector<float> whole_numbers(size_t n, uint64_t seed) {
    const auto random = wb::random_ints(n, seed, -1000, 1000);
    return {random.begin(), random.end()};
}

std::vector<Step> random_steps(size_t count, uint64_t seed) {
    const auto factors = wb::random_ints(count, seed, 0, 3);
    const auto summands = wb::random_ints(count, seed + 1000, -100, 100);
    constexpr float kFactors[] = {-1, 1, 2, -2};
    std::vector<Step> steps(count);
    for (size_t i = 0; i < count; ++i) steps[i] = {kFactors[factors[i]], float(summands[i])};
    return steps;
}

void require_memory(const DeviceFloats& data) {
    INFO("get() is null: nothing was allocated");
    const bool allocated = data.get() != nullptr;
    REQUIRE(allocated);
}

// The size of an allocation for n floats.
void check_bytes(size_t bytes, size_t n) {
    const char* known = "";
    if (bytes == n) known = ", the number of floats";
    if (bytes == n * sizeof(float*)) known = ", as if each had the size of a pointer";
    if (n >> 30 && bytes == uint32_t(n * sizeof(float)))
        known = ", what is left of the number in 32 bits: size_t has 64";
    INFO("asked for " << bytes << (bytes == 1 ? " byte" : " bytes") << " for " << n
                      << (n == 1 ? " float" : " floats") << known << ", want "
                      << n * sizeof(float));
    const bool as_many_bytes_as_needed = bytes == n * sizeof(float);
    CHECK(as_many_bytes_as_needed);
}

std::vector<float> by_hand(std::vector<float> values, const std::vector<Step>& steps) {
    for (float& value : values)
        for (const Step& step : steps) value = value * step.factor + step.summand;
    return values;
}

// The name of the CUDA error that work() throws, or "nothing".
std::string thrown_by(const std::function<void()>& work) {
    try {
        work();
    } catch (const wb::CudaError& error) {
        return cudaGetErrorName(error.code);
    }
    return "nothing";
}

void check_thrown(const std::string& want, const std::function<void()>& work) {
    const std::string got = thrown_by(work);
    INFO("thrown: " << got << ", want: " << want);
    CHECK(got == want);
}

}  // namespace

TEST_CASE("task 1: the constructor allocates room for floats on the device", "[task1]") {
    for (const size_t n : {1, 31, 1000, 1000000}) {
        size_t bytes = 0;
        {
            wb::CallWatch watch;
            const DeviceFloats data(n);
            for (const wb::CudaCall& call : watch.calls) bytes += call.bytes;
            CAPTURE(n);
            CHECK_RESULT(data.size(), n);
            check_bytes(bytes, n);
            INFO("get() is " << (data.get() ? "not a device address" : "null")
                             << ": the member data_ must hold the address of the memory");
            const bool is_device_memory = on_the_device(data.get());
            CHECK(is_device_memory);
        }
    }
}

TEST_CASE("task 1: nothing is allocated for size 0", "[task1]") {
    const Balance counted = balance([] {
        const DeviceFloats data(0);
        CHECK_RESULT(data.size(), 0);
        INFO("get() of an empty buffer is not null");
        CHECK(data.get() == nullptr);
    });
    check_balance(counted, 0);
}

TEST_CASE("task 1: counts the bytes of more than 2^32", "[task1]") {
    const size_t n = (size_t(1) << 31) + 5;
    wb::CallWatch watch;
    watch.fail_call = 0;  // nothing is allocated: only the number is of interest
    watch.error = cudaErrorMemoryAllocation;
    thrown_by([&] { DeviceFloats data(n); });
    size_t bytes = 0;
    for (const wb::CudaCall& call : watch.calls) bytes += call.bytes;
    check_bytes(bytes, n);
}

TEST_CASE("task 1: no memory left is an exception", "[task1]") {
    wb::CallWatch watch;
    watch.fail_call = 0;
    watch.error = cudaErrorMemoryAllocation;
    check_thrown("cudaErrorMemoryAllocation", [] { DeviceFloats data(1000); });
}

TEST_CASE("task 2: the destructor frees", "[task2]") {
    check_balance(balance([] { DeviceFloats first(1000), second(7); }), 2);
}

TEST_CASE("task 2: a destructor that cannot free does not throw", "[task2]") {
    auto data = std::make_unique<DeviceFloats>(10);
    float* const memory = data->get();
    {
        INFO("nothing was allocated for 10 floats");
        const bool allocated = memory != nullptr;
        REQUIRE(allocated);
    }
    size_t freed = 0;
    {
        wb::CallWatch watch;
        watch.fail_call = 0;
        watch.error = cudaErrorUnknown;
        data.reset();
        freed = watch.freed;
    }
    if (!freed) cudaFree(memory);
}

TEST_CASE("task 2: moving transfers the memory", "[task2]") {
    const Balance counted = balance([] {
        DeviceFloats first(1000);
        const float* const memory = first.get();
        const DeviceFloats second(std::move(first));
        CHECK_RESULT(second.get(), memory);
        CHECK_RESULT(second.size(), 1000);
        CHECK_RESULT(first.get(), nullptr);
        CHECK_RESULT(first.size(), 0);
    });
    check_balance(counted, 1);
}

TEST_CASE("task 2: assigning transfers the memory and leaks none", "[task2]") {
    const Balance counted = balance([] {
        DeviceFloats first(1000), second(20);
        const float* const memory = first.get();
        second = std::move(first);
        CHECK_RESULT(second.get(), memory);
        CHECK_RESULT(second.size(), 1000);
        // Nothing is left, or what `second` had before; in either case memory and size agree.
        INFO("after the assignment the other object has " << (first.get() ? "memory" : "no memory")
                                                          << " and says that its size is "
                                                          << first.size());
        const bool memory_and_size_agree = first.size() == (first.get() ? 20 : 0);
        CHECK(memory_and_size_agree);
    });
    check_balance(counted, 2);
}

TEST_CASE("task 2: an object that is assigned to itself keeps its memory", "[task2]") {
    const Balance counted = balance([] {
        DeviceFloats data(1000);
        const float* const memory = data.get();
        DeviceFloats& same = data;
        data = std::move(same);
        CHECK_RESULT(data.get(), memory);
        CHECK_RESULT(data.size(), 1000);
    });
    check_balance(counted, 1);
}

TEST_CASE("task 2: a vector of buffers grows and shrinks", "[task2]") {
    const Balance counted = balance([] {
        std::vector<DeviceFloats> rows;
        for (size_t i = 1; i <= 20; ++i) rows.emplace_back(10 * i);
        rows.erase(rows.begin(), rows.begin() + 5);
        for (size_t i = 0; i < rows.size(); ++i) {
            CAPTURE(i);
            CHECK_RESULT(rows[i].size(), 10 * (i + 6));
        }
    });
    check_balance(counted, 20);
}

TEST_CASE("task 2: an exception frees too", "[task2]") {
    const Balance counted = balance([] {
        try {
            DeviceFloats first(100), second(200);
            throw std::runtime_error("on purpose");
        } catch (const std::runtime_error&) {
        }
    });
    check_balance(counted, 2);
}

TEST_CASE("task 3: upload copies every float to the device", "[task3]") {
    for (const size_t n : {1, 33, 1000, 100003}) {
        CAPTURE(n);
        const auto host = wb::random_floats(n, 10 + n);
        DeviceFloats data(n);
        require_memory(data);
        CUDA_CHECK(cudaMemset(data.get(), 0xFF, n * sizeof(float)));
        data.upload(host);
        std::vector<float> arrived(n);
        CUDA_CHECK(
            cudaMemcpy(arrived.data(), data.get(), n * sizeof(float), cudaMemcpyDeviceToHost));
        CHECK_ARRAYS(arrived, host);
    }
    // A vector may have room for more than it holds.
    auto roomy = wb::random_floats(33, 9);
    roomy.reserve(1000);
    DeviceFloats data(33);
    require_memory(data);
    data.upload(roomy);
    std::vector<float> arrived(33);
    CUDA_CHECK(cudaMemcpy(arrived.data(), data.get(), 33 * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK_ARRAYS(arrived, roomy);
}

TEST_CASE("task 3: a failing copy is an exception", "[task3]") {
    DeviceFloats data(10);
    wb::CallWatch watch;
    watch.fail_call = 0;
    watch.error = cudaErrorInvalidValue;
    check_thrown("cudaErrorInvalidValue", [&] { data.upload(std::vector<float>(data.size())); });
}

TEST_CASE("task 3: refuses a vector of another size", "[task3]") {
    DeviceFloats data(10);
    for (const size_t n : {0, 9, 11}) {
        bool refused = false;
        try {
            data.upload(std::vector<float>(n));
        } catch (const std::invalid_argument&) {
            refused = true;
        }
        INFO("upload() of " << n << " floats into a buffer of " << data.size()
                            << " returned, want a std::invalid_argument");
        CHECK(refused);
    }
}

TEST_CASE("task 4: download copies every float back", "[task4]") {
    for (const size_t n : {1, 33, 1000, 100003}) {
        CAPTURE(n);
        const auto host = wb::random_floats(n, 20 + n);
        DeviceFloats data(n);
        require_memory(data);
        CUDA_CHECK(cudaMemcpy(data.get(), host.data(), n * sizeof(float), cudaMemcpyHostToDevice));
        const auto got = std::as_const(data).download();
        std::vector<float> still(n);
        CUDA_CHECK(cudaMemcpy(still.data(), data.get(), n * sizeof(float), cudaMemcpyDeviceToHost));
        {
            INFO("download() has changed the values on the device: does it copy the other way?");
            const bool unchanged = still == host;
            CHECK(unchanged);
        }
        CHECK_ARRAYS(got, host);
    }
}

TEST_CASE("task 4: an empty buffer goes there and back", "[task4]") {
    DeviceFloats data(0);
    data.upload({});
    CHECK_RESULT(data.download().size(), 0);
}

TEST_CASE("task 4: a failing copy is an exception", "[task4]") {
    DeviceFloats data(10);
    data.upload(std::vector<float>(data.size(), 1.0f));
    wb::CallWatch watch;
    watch.fail_call = 0;
    watch.error = cudaErrorInvalidValue;
    check_thrown("cudaErrorInvalidValue", [&] { data.download(); });
}

TEST_CASE("task 5: ten steps in order", "[task5]") {
    for (const size_t n : {0, 1, 33, 1000, 70001}) {
        CAPTURE(n);
        const auto input = whole_numbers(n, 30 + n);
        const auto steps = random_steps(kSteps, 40 + n);
        const auto got = run_pipeline(input, steps), want = by_hand(input, steps);
        wb::recognize<float>(
            got,
            want,
            {{"only the first step is done", [&] { return by_hand(input, {steps[0]}); }},
             {"only the last step is done", [&] { return by_hand(input, {steps.back()}); }},
             {"the first step is missing",
              [&] {
                  return by_hand(input, {steps.begin() + 1, steps.end()});
              }},
             {"the last step is missing",
              [&] {
                  return by_hand(input, {steps.begin(), steps.end() - 1});
              }},
             {"the steps are done in the reverse order",
              [&] {
                  return by_hand(input, {steps.rbegin(), steps.rend()});
              }},
             {"the input comes back as it was", [&] { return input; }}});
        CHECK_ARRAYS(got, want);
    }
}

TEST_CASE("task 5: no step at all gives the input back", "[task5]") {
    const auto input = whole_numbers(1000, 50);
    CHECK_ARRAYS(run_pipeline(input, {}), input);
}

TEST_CASE("task 5: whatever fails, nothing leaks", "[task5]") {
    const auto input = whole_numbers(1000, 60);
    const auto steps = random_steps(3, 61);
    std::vector<wb::CudaCall> calls;
    {
        wb::CallWatch watch;
        run_pipeline(input, steps);
        calls = watch.calls;
    }
    {
        INFO("no CUDA call was made");
        REQUIRE(!calls.empty());
    }
    for (size_t k = 0; k < calls.size(); ++k) {
        if (calls[k].freed || calls[k].name == "cudaFree") continue;  // destructors cannot report
        wb::CallWatch watch;
        watch.fail_call = k;
        watch.error = cudaErrorUnknown;
        const std::string thrown = thrown_by([&] { run_pipeline(input, steps); });
        const std::string now = k < watch.calls.size() ? watch.calls[k].name : "none";
        {
            INFO("call number " << k + 1 << " was " << calls[k].name << " in the first run and is "
                                << now << " in a later one: what is kept between runs?");
            const bool each_run_makes_the_same_calls = now == calls[k].name;
            REQUIRE(each_run_makes_the_same_calls);
        }
        INFO("when " << calls[k].name << " fails, thrown: " << thrown << ", allocated "
                     << times(watch.allocated) << ", freed " << times(watch.freed));
        CHECK(thrown == "cudaErrorUnknown");
        CHECK(watch.freed == watch.allocated);
    }
}

TEST_CASE("efficient: the data travel up once and down once", "[efficient]") {
    const size_t n = 100003;
    const auto input = whole_numbers(n, 70);
    const auto steps = random_steps(kSteps, 71);
    const auto counted = wb::count([&] { run_pipeline(input, steps); });
    NEED_COUNTERS(counted);
    CHECK(counted->host_to_device_bytes == sizeof(float) * n);
    CHECK(counted->device_to_host_bytes == sizeof(float) * n);
}

TEST_CASE("efficient: ten launches, and memory for two arrays at most", "[efficient]") {
    const size_t n = 100003;
    const auto input = whole_numbers(n, 80);
    const auto steps = random_steps(kSteps, 81);
    const auto counted = wb::count([&] { run_pipeline(input, steps); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == kSteps);
    CHECK(counted->global_load_bytes == kSteps * sizeof(float) * n);
    CHECK(counted->global_store_bytes == kSteps * sizeof(float) * n);
    CHECK(counted->device_allocations <= 2);
    CHECK(counted->device_frees == counted->device_allocations);
}
