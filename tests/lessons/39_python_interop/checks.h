// SPDX-License-Identifier: MIT
// Checks that the tests of lesson 39 share: of shapes, strides and addresses, with the results of
// usual mistakes; of refusals; of the order of streams; and of calls that fail.
//
// All comparisons are exact. Calls are counted at the runtime, which works on a card too. The
// emulator's model timeline (TIMELINE.md) shows whether work waits; on a card only the values show
// it.
#pragma once

#include "cases/timeline.h"
#include "reference.h"
#include "watches/call_checks.h"

namespace {

// Fails if a shape or strides are wrong. Strides in the wrong unit are recognised.
inline void check_shape(const Numbers& got, const Numbers& want) {
    wb::recognize<int64_t>(got, want, {{"the order of the dimensions is reversed", [&] {
                                            return Numbers(want.rbegin(), want.rend());
                                        }}});
    const std::string text = wb::mismatch(
        got, want, [](size_t) { return 0.0; }, "length of dimension");
    INFO(text);
    const bool same_shape = text.empty();
    CHECK(same_shape);
}
inline void check_strides(const Numbers& got, const Numbers& want, const Numbers& shape,
                          int element, bool in_bytes) {
    const int unit = in_bytes ? element : 1;
    const auto each = [](Numbers numbers, auto f) {
        for (int64_t& one : numbers) one = f(one);
        return numbers;
    };
    std::vector<wb::Mistake<int64_t>> mistakes{
        {in_bytes ? "strides in elements, but they should be in bytes"
                  : "strides in bytes, but they should be in elements",
         [&] {
             return each(want, [&](int64_t s) { return in_bytes ? s / element : s * element; });
         }},
        {"the strides of a compact array, not those of this view",
         [&] { return each(compact_strides(shape), [&](int64_t s) { return s * unit; }); }},
        {"column-major order: the first index runs fastest",
         [&] {
             Numbers turned = compact_strides({shape.rbegin(), shape.rend()});
             std::reverse(turned.begin(), turned.end());
             return each(turned, [&](int64_t s) { return s * unit; });
         }},
        {"strides are absolute values, but a reversed view has a negative stride",
         [&] { return each(want, [](int64_t s) { return s < 0 ? -s : s; }); }},
        {"the order of the dimensions is reversed",
         [&] { return Numbers(want.rbegin(), want.rend()); }}};
    if (!in_bytes)
        mistakes.push_back(
            {"strides are divided by the size of an element, but were in elements already",
             [&] { return each(want, [&](int64_t s) { return s / element; }); }});
    wb::recognize<int64_t>(got, want, mistakes);
    const std::string text = wb::mismatch(
        got, want, [](size_t) { return 0.0; }, "stride of dimension");
    INFO(text);
    const bool same_strides = text.empty();
    CHECK(same_strides);
}

// Fails if `got` is not the address `want`, in memory of `bytes` bytes from `memory` on.
inline void check_address(const void* got, const void* want, const void* memory, size_t bytes) {
    const auto distance = [&](const void* p) {
        return std::to_string((const char*)p - (const char*)memory);
    };
    const bool inside = got >= memory && got <= (const char*)memory + bytes;
    INFO((!got     ? "the first element is at address 0"
          : inside ? "the first element is at byte " + distance(got) + " of the memory, want " +
                         distance(want)
                   : "the first element is in other memory: the array is not shared"));
    const bool same_address = got == want;
    CHECK(same_address);
}

// Fails if `got` is not this view of this memory.
inline void check_array(const Array& got, const View& view, Type type,
                        const std::shared_ptr<void>& memory) {
    CHECK(got.layout.ndim == int(view.shape.size()));
    check_shape(shape_of(got.layout), view.shape);
    const bool same_type = got.type.kind == type.kind && got.type.bytes == type.bytes;
    {
        INFO("the type is " << name_of(got.type) << ", want " << name_of(type));
        CHECK(same_type);
    }
    if (count_of(view.shape) == 0 || !same_type) return;
    check_strides(strides_of(got.layout), view.strides, view.shape, type.bytes, false);
    check_address(first_element(got),
                  (const char*)memory.get() + view.offset * type.bytes,
                  memory.get(),
                  size_t(kElements * type.bytes));
}

// Whether work() throws InteropError.
inline bool refused(const std::function<void()>& work) {
    try {
        work();
    } catch (const InteropError&) {
        return true;
    }
    return false;
}

// Fails if work() is not refused. `what`: the reason to refuse it.
#define CHECK_REFUSED(what, ...)                                                                   \
    do {                                                                                           \
        INFO("accepted, and InteropError should refuse it: " << what);                             \
        const bool was_refused = refused([&] { __VA_ARGS__; });                                    \
        CHECK(was_refused);                                                                        \
    } while (false)

// Two streams with work: the producer's stream makes a long copy from the host, then an array is
// handed over, and the consumer's stream makes a copy on the device. The two copies use different
// memory, so only their order can be wrong.
class TwoStreams {
public:
    TwoStreams() {
        CUDA_CHECK(cudaMallocHost(&host_, kBytes));
        CUDA_CHECK(cudaDeviceSynchronize());
    }
    ~TwoStreams() {
        cudaDeviceSynchronize();
        cudaFreeHost(host_);
    }
    TwoStreams(const TwoStreams&) = delete;
    TwoStreams& operator=(const TwoStreams&) = delete;

    // The array that is handed over, with its values from the producer's stream.
    Array array() const {
        Array array{};
        array.memory = shared_;
        array.type = kFloat32;
        array.layout = layout_of({1000}, {1});
        array.stream = producer;
        return array;
    }
    // Fails if the consumer's copy does not wait for the producer's, or waits although `waits` is
    // false. A card has no timeline, so nothing is checked there.
    void check(const std::function<void()>& hand_over, bool waits = true) const {
        const auto timeline = wb::Timeline::of([&] {
            CUDA_CHECK(
                cudaMemcpyAsync(busy_.get(), host_, kBytes, cudaMemcpyHostToDevice, producer));
            hand_over();
            CUDA_CHECK(cudaMemcpyAsync(
                to_.get(), from_.get(), kSmall, cudaMemcpyDeviceToDevice, consumer));
        });
        CHECK(cudaDeviceSynchronize() == cudaSuccess);
        if (!timeline) return;
        uint64_t produced = 0, consumed = 0;
        for (const auto& one : timeline->all()) {
            if (one.kind == wb::Timeline::Kind::kUp) produced = one.end;
            if (one.kind == wb::Timeline::Kind::kOnDevice) consumed = one.begin;
        }
        const bool waited = consumed >= produced;
        INFO((waits ? "the consumer's stream does not wait for the producer's"
                    : "a stream waits, but should not"));
        const bool as_asked = waited == waits;
        CHECK(as_asked);
    }
    const TestStream producer, consumer;

private:
    static constexpr size_t kBytes = 32 << 20, kSmall = 4000;
    char* host_ = nullptr;
    const std::shared_ptr<void> busy_ = device_memory(std::vector<char>(kBytes));
    const std::shared_ptr<void> shared_ = device_memory(std::vector<char>(kSmall));
    const std::shared_ptr<void> from_ = shared_, to_ = device_memory(std::vector<char>(kSmall));
};

// One stream scales an array, gives it to the next stream, and so on. Fails if the values are
// wrong. If a stream does not wait, the emulator reports a race.
inline void check_relay(const std::function<Array(const Array&, const TestStream&)>& hand_over) {
    const auto values = wb::random_floats(1 << 16, 40);
    const auto memory = device_memory(values);
    const TestStream streams[3];
    Array array{};
    array.memory = memory;
    array.type = kFloat32;
    array.layout = layout_of({1 << 8, 1 << 8}, {1 << 8, 1});
    array.stream = streams[0];
    for (int round = 1; round <= 6; ++round) {
        scale(array, 2);
        array = hand_over(array, streams[round % 3]);
        REQUIRE(shape_of(array.layout) == Numbers{1 << 8, 1 << 8});
        REQUIRE(first_element(array) == memory.get());
    }
    std::vector<float> want = values;
    for (float& value : want) value *= 64;
    CHECK_ARRAYS(values_of<float>(memory, values.size()), want);
}

// The number of calls with `part` in their name.
inline size_t count_calls(const wb::CallWatch& watch, const char* part) {
    size_t found = 0;
    for (const wb::CudaCall& call : watch.calls) found += call.name.find(part) != std::string::npos;
    return found;
}

// Runs `work` once for each of its calls, with that call failing, except calls that clean up.
// `work` must throw wb::CudaError and destroy its events.
inline void check_failing_calls(const char* name, const std::function<void()>& work) {
    size_t calls = 0, failed = 0;
    std::string dropped, left;
    for (size_t k = 0; k <= calls; ++k) {
        wb::CallWatch watch;
        watch.fail_call = k;
        watch.error = cudaErrorUnknown;
        bool thrown = false;
        try {
            work();
        } catch (const wb::CudaError&) {
            thrown = true;
        }
        if (k >= watch.calls.size()) break;
        calls = watch.calls.size();
        const std::string call = watch.calls[k].name;
        if (call.find("Destroy") != std::string::npos) continue;
        ++failed;
        if (!thrown && dropped.empty()) dropped = call;
        const bool made = call.find("EventCreate") == std::string::npos;
        if (made && count_calls(watch, "EventCreate") != count_calls(watch, "EventDestroy"))
            left = call;
    }
    {
        INFO(name << "() makes no call that could fail: how does a stream wait?");
        const bool calls_were_made = failed > 0;
        CHECK(calls_were_made);
    }
    {
        INFO("when " << dropped << " fails, " << name << "() returns as if it had not");
        const bool every_call_is_checked = dropped.empty();
        CHECK(every_call_is_checked);
    }
    INFO("when " << left << " fails, " << name << "() does not destroy an event");
    const bool no_event_is_left = left.empty();
    CHECK(no_event_is_left);
}

// Whether `address` is on this thread's stack, near enough to be in any frame of a test.
inline bool on_the_stack(const void* address) {
    const auto here = reinterpret_cast<intptr_t>(__builtin_frame_address(0));
    return std::abs(here - reinterpret_cast<intptr_t>(address)) < (1 << 20);
}

// Checks and returns an exported tensor.
template <class Managed>
Managed* made(Managed* managed) {
    {
        INFO("nothing was exported");
        REQUIRE(managed != nullptr);
    }
    {
        INFO("the tensor has no deleter");
        REQUIRE(managed->deleter != nullptr);
    }
    // Checked before any read through them, since a returned function leaves random values there.
    const DLTensor& tensor = managed->dl_tensor;
    const bool belong_to_the_tensor = !on_the_stack(tensor.shape) && !on_the_stack(tensor.strides);
    if (!belong_to_the_tensor) managed->deleter(managed);
    INFO("the tensor's shape or strides lie on the stack, in a variable that ends with its "
         "function: that of the export, or the caller's");
    REQUIRE(belong_to_the_tensor);
    return managed;
}

}  // namespace
