// SPDX-License-Identifier: MIT
// Lesson 39: arrays go to others and come from them by DLPack and by the CUDA Array Interface, with
// the same layout, at the same address, in the order of the streams; and every tensor is deleted
// once.
//
// All comparisons are exact. Calls are counted at the runtime, which works on a card too. Whether
// work waits is read from the emulator's model timeline (TIMELINE.md); on a card only the values
// show it.
#include "host_calls.h"
#include "lesson_test.h"
#include "python_interop.h"
#include "reference.h"

#include <malloc.h>

#include <cstdlib>

namespace {

constexpr Type kFloat32{'f', 4}, kInt64{'i', 8};

// Whether work() throws InteropError.
bool refused(const std::function<void()>& work) {
    try {
        work();
    } catch (const InteropError&) {
        return true;
    }
    return false;
}

// Fails where work() is not refused. `what`: the reason to refuse it.
#define CHECK_REFUSED(what, ...)                                                                   \
    do {                                                                                           \
        INFO("accepted, and InteropError should refuse it: " << what);                             \
        const bool was_refused = refused([&] { __VA_ARGS__; });                                    \
        CHECK(was_refused);                                                                        \
    } while (false)

// Two streams at work: the producer's is busy with a copy from the host for long, then something is
// handed over, and the consumer's makes a copy on the device. The memory of the two copies has
// nothing to do with each other, so that only the order can be wrong.
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

    // What is handed over: its values are those of the producer's stream.
    Array array() const {
        Array array{};
        array.memory = shared_;
        array.type = kFloat32;
        array.layout = layout_of({1000}, {1});
        array.stream = producer;
        return array;
    }
    // Fails where the consumer's copy does not wait for the producer's, or waits although `waits`
    // is false. On a card there is no timeline to see it by.
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
                    : "a stream waits that should not"));
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

// One stream scales an array, gives it to the next stream, and so on. Fails where the values are
// not right. A stream that does not wait makes a race, which the emulator finds.
void check_relay(const std::function<Array(const Array&, const TestStream&)>& hand_over) {
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

// Of the calls, how many have this in their name.
size_t count_calls(const wb::CallWatch& watch, const char* part) {
    size_t found = 0;
    for (const wb::CudaCall& call : watch.calls) found += call.name.find(part) != std::string::npos;
    return found;
}

// Each call of `work` fails once, except those that clean up. That must end as a wb::CudaError, and
// leave no event.
void check_failing_calls(const char* name, const std::function<void()>& work) {
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
    INFO("when " << left << " fails, " << name << "() leaves an event");
    const bool no_event_is_left = left.empty();
    CHECK(no_event_is_left);
}

// A tensor that was exported.
template <class Managed>
Managed* made(Managed* managed) {
    INFO("nothing was exported");
    REQUIRE(managed != nullptr);
    INFO("the tensor has no deleter");
    REQUIRE(managed->deleter != nullptr);
    return managed;
}

}  // namespace

TEST_CASE("task 1: the strides of compact arrays", "[task1]") {
    for (const Numbers& shape : {Numbers{6},
                                 Numbers{3, 4},
                                 Numbers{2, 3, 4},
                                 Numbers{7, 1, 5, 2},
                                 Numbers{},
                                 Numbers{1, 2, 3, 4, 3, 2, 1, 2},
                                 Numbers{3, 70000, 100000}}) {
        const Layout layout = row_major(int(shape.size()), shape.data());
        CHECK(layout.ndim == int(shape.size()));
        check_shape(shape_of(layout), shape);
        check_strides(strides_of(layout), compact_strides(shape), shape, 1, false);
    }
}

TEST_CASE("task 1: where the elements of a view are", "[task1]") {
    for (const View& view : views()) {
        CAPTURE(view.name);
        const Layout layout = layout_of(view.shape, view.strides);
        const Numbers want = positions(view.shape, view.strides);
        Numbers got;
        for (size_t i = 0; i < want.size(); ++i) got.push_back(position(layout, int64_t(i)));
        wb::recognize<int64_t>(got,
                               want,
                               {{"the strides are not used: the elements would follow one another",
                                 [&] {
                                     Numbers plain(want.size());
                                     for (size_t i = 0; i < plain.size(); ++i)
                                         plain[i] = int64_t(i);
                                     return plain;
                                 }},
                                {"the first index runs fastest, and it should be the last", [&] {
                                     Numbers columns;
                                     for (int64_t i = 0; i < int64_t(want.size()); ++i) {
                                         int64_t at = 0, rest = i;
                                         for (size_t d = 0; d < view.shape.size(); ++d) {
                                             at += rest % view.shape[d] * view.strides[d];
                                             rest /= view.shape[d];
                                         }
                                         columns.push_back(at);
                                     }
                                     return columns;
                                 }}});
        CHECK_ARRAYS(got, want);
    }
}

TEST_CASE("task 1: arrays of more than 2^31 elements", "[task1]") {
    // 3 * 2^31 elements, of which all rows are the same memory.
    const Layout layout = layout_of({3, 1 << 16, 1 << 15}, {int64_t(5) << 32, 0, 3});
    CHECK_RESULT(position(layout, (int64_t(2) << 31) + 7), (int64_t(10) << 32) + 21);
    CHECK_RESULT(position(layout, (int64_t(1) << 31) + (1 << 15) + 1), (int64_t(5) << 32) + 3);
}

TEST_CASE("task 2: DLPack's types", "[task2]") {
    for (const char kind : {'f', 'i', 'u'})
        for (const int bytes : {1, 2, 4, 8}) {
            if (kind == 'f' && bytes == 1) continue;
            const Type type{kind, bytes};
            const std::string type_name = name_of(type);
            CAPTURE(type_name);
            const DLDataType got = dlpack_type(type);
            CHECK(int(got.code) == (kind == 'f' ? 2 : kind == 'u' ? 1 : 0));
            CHECK(int(got.bits) == 8 * bytes);
            CHECK(int(got.lanes) == 1);
            const uint8_t code = kind == 'f' ? 2 : kind == 'u' ? 1 : 0;
            const Type back = type_from_dlpack({code, uint8_t(8 * bytes), 1});
            CHECK(back.kind == kind);
            CHECK(back.bytes == bytes);
        }
}

TEST_CASE("task 2: typestr", "[task2]") {
    for (const char* text : {"<f4", "<f8", "<f2", "<i2", "<i4", "<i8", "<u4", "|u1", "|i1"}) {
        const std::string typestr = text;
        CAPTURE(typestr);
        const Type type{text[1], text[2] - '0'};
        char got[8];
        std::memset(got, 'x', sizeof got);
        write_typestr(type, got);
        got[7] = 0;
        CHECK(std::string(got) == text);
        const Type back = type_from_typestr(text);
        CHECK(back.kind == type.kind);
        CHECK(back.bytes == type.bytes);
    }
}

TEST_CASE("task 2: types that cannot be shared are refused", "[task2]") {
    const auto dlpack = [](int code, int bits, int lanes) {
        type_from_dlpack({uint8_t(code), uint8_t(bits), uint16_t(lanes)});
    };
    CHECK_REFUSED("elements with 4 lanes", dlpack(kDLFloat, 32, 4));
    CHECK_REFUSED("complex elements, code 5", dlpack(5, 64, 1));
    CHECK_REFUSED("bfloat16, code 4", dlpack(4, 16, 1));
    CHECK_REFUSED("bool, code 6", dlpack(6, 8, 1));
    CHECK_REFUSED("integers of 4 bits", dlpack(kDLInt, 4, 1));
    CHECK_REFUSED("integers of 12 bits", dlpack(kDLInt, 12, 1));
    CHECK_REFUSED("floats of 8 bits", dlpack(kDLFloat, 8, 1));
    CHECK_REFUSED("floats of 128 bits", dlpack(kDLFloat, 128, 1));
    CHECK_REFUSED("the other order of the bytes, >f4", type_from_typestr(">f4"));
    // The last two begin like a type that is known, and have more bytes.
    for (const char* text :
         {"<c8", "|b1", "<f16", "<f3", "<M8", "", "f4", "|f4", "<U12", "|V12", "<f40", "|u12"})
        CHECK_REFUSED("typestr \"" << text << "\"", type_from_typestr(text));
}

TEST_CASE("task 3: numbers of streams", "[task3]") {
    const TestStream stream;
    const cudaStream_t legacy = stream_from_number(1);
    const bool one_is_legacy = legacy == nullptr || legacy == cudaStreamLegacy;
    CHECK(one_is_legacy);
    CHECK(stream_from_number(2) == cudaStreamPerThread);
    CHECK(stream_from_number(stream.number()) == stream.stream);
    CHECK(number_of_stream(nullptr) == 1);
    CHECK(number_of_stream(cudaStreamLegacy) == 1);
    CHECK(number_of_stream(cudaStreamPerThread) == 2);
    CHECK(number_of_stream(stream) == stream.number());
    CHECK_REFUSED("0 could be either default stream", stream_from_number(0));
    CHECK_REFUSED("-1 is no stream", stream_from_number(-1));
    CHECK_REFUSED("-2 is no stream", stream_from_number(-2));
}

TEST_CASE("task 3: one stream waits for another", "[task3]") {
    const TwoStreams test;
    test.check([&] { wait_for(test.consumer, test.producer); });
}

TEST_CASE("task 3: no event is left, and none is needed within a stream", "[task3]") {
    const TestStream one, other;
    {
        wb::CallWatch watch;
        wait_for(one, other);
        const size_t made = count_calls(watch, "EventCreate");
        CHECK(count_calls(watch, "EventDestroy") == made);
    }
    wb::CallWatch watch;
    wait_for(one, one);
    wait_for(nullptr, nullptr);
    wait_for(nullptr, cudaStreamLegacy);
    wait_for(cudaStreamLegacy, nullptr);
    INFO("the streams are the same, and " << (watch.calls.empty() ? "" : watch.calls[0].name)
                                          << " is called");
    const bool nothing_is_called = watch.calls.empty();
    CHECK(nothing_is_called);
}

TEST_CASE("task 3: a failed call is an exception", "[task3]") {
    const TestStream one, other;
    check_failing_calls("wait_for", [&] { wait_for(one, other); });
}

TEST_CASE("task 4: the fields of an exported tensor", "[task4]") {
    const auto check = [](auto* form) {
        for (const Type type : types())
            for (const View& view : views()) {
                const std::string type_name = name_of(type);
                CAPTURE(type_name, view.name);
                const auto memory = bytes_for(type);
                Array array = array_of(view, type, memory);
                array.device = 3;  // nothing is launched there
                auto* managed = made(exported(array, kNoStream, form));
                const DLTensor tensor = managed->dl_tensor;
                const size_t ndim = view.shape.size();
                CHECK(tensor.ndim == int(ndim));
                CHECK(int(tensor.device.device_type) == 2);
                CHECK(tensor.device.device_id == 3);
                CHECK(int(tensor.dtype.code) == (type.kind == 'f' ? 2 : type.kind == 'u' ? 1 : 0));
                CHECK(int(tensor.dtype.bits) == 8 * type.bytes);
                CHECK(int(tensor.dtype.lanes) == 1);
                REQUIRE(tensor.shape != nullptr);
                REQUIRE(tensor.strides != nullptr);
                check_shape({tensor.shape, tensor.shape + ndim}, view.shape);
                if (count_of(view.shape) == 0) {
                    CHECK(tensor.data == nullptr);
                } else {
                    check_strides({tensor.strides, tensor.strides + ndim},
                                  view.strides,
                                  view.shape,
                                  type.bytes,
                                  false);
                    check_address((const char*)tensor.data + tensor.byte_offset,
                                  (const char*)memory.get() + view.offset * type.bytes,
                                  memory.get(),
                                  size_t(kElements * type.bytes));
                }
                managed->deleter(managed);
            }
    };
    check((DLManagedTensor*)nullptr);
    check((DLManagedTensorVersioned*)nullptr);
}

TEST_CASE("task 4: shape and strides belong to the tensor", "[task4]") {
    const View& view = views()[7];
    const auto check = [&](auto* form) {
        const auto memory = bytes_for(kInt64);
        Array array = array_of(view, kInt64, memory);
        auto* managed = made(exported(array, kNoStream, form));
        const DLTensor& tensor = managed->dl_tensor;
        const bool described = tensor.ndim == 3 && tensor.shape && tensor.strides;
        REQUIRE(described);
        const auto numbers = [&tensor](const int64_t* of) { return Numbers(of, of + tensor.ndim); };
        const Numbers shape = numbers(tensor.shape), strides = numbers(tensor.strides);
        check_shape(shape, view.shape);
        check_strides(strides, view.strides, view.shape, kInt64.bytes, false);
        spoil(array);
        INFO("shape or strides have changed since the tensor was made: they are in memory that is "
             "not the tensor's own, and that is used for something else now");
        const bool unchanged = numbers(tensor.shape) == shape && numbers(tensor.strides) == strides;
        CHECK(unchanged);
        managed->deleter(managed);
    };
    check((DLManagedTensor*)nullptr);
    check((DLManagedTensorVersioned*)nullptr);
}

TEST_CASE("task 4: a tensor keeps the memory until it is deleted", "[task4]") {
    const auto check = [](auto* form) {
        const auto values = wb::random_floats(kElements, 4);
        auto memory = device_memory(values);
        const std::weak_ptr<void> watched = memory;
        Array array = array_of(views()[0], kFloat32, memory);
        auto* managed = made(exported(array, kNoStream, form));
        const DLTensor tensor = managed->dl_tensor;
        memory.reset();
        spoil(array);
        {
            INFO("the memory is freed with the caller's array, while the tensor is in use");
            const bool memory_is_alive = !watched.expired();
            REQUIRE(memory_is_alive);
        }
        std::vector<float> got(kElements);
        CUDA_CHECK(cudaMemcpy(got.data(),
                              (char*)tensor.data + tensor.byte_offset,
                              got.size() * sizeof(float),
                              cudaMemcpyDeviceToHost));
        CHECK_ARRAYS(got, values);
        managed->deleter(managed);
        INFO("the deleter was called, and the memory is not freed");
        const bool memory_is_freed = watched.expired();
        CHECK(memory_is_freed);
    };
    check((DLManagedTensor*)nullptr);
    check((DLManagedTensorVersioned*)nullptr);
}

TEST_CASE("task 4: the deleter frees the tensor, too", "[task4]") {
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    const auto check = [](auto* form) {
        const Array array = array_of(views()[0], kFloat32, bytes_for(kFloat32));
        constexpr int kTimes = 200;
        // The first round is for what is allocated once: caches, tables, the C library's own.
        size_t before = 0;
        for (int round = 0; round < 2; ++round) {
            before = mallinfo2().uordblks;
            for (int i = 0; i < kTimes; ++i) {
                auto* managed = made(exported(array, kNoStream, form));
                managed->deleter(managed);
            }
        }
        const size_t after = mallinfo2().uordblks;
        const size_t left = after > before ? after - before : 0;
        INFO(kTimes << " tensors were exported and deleted, and " << left
                    << " bytes of host memory are not freed");
        // Less than a pointer and its header in malloc for each.
        const bool host_memory_is_freed = left < kTimes * 16;
        CHECK(host_memory_is_freed);
    };
    check((DLManagedTensor*)nullptr);
    check((DLManagedTensorVersioned*)nullptr);
#else
    CHECK(true);  // this C library does not say how much is in use
#endif
}

TEST_CASE("task 4: several tensors of one array", "[task4]") {
    auto memory = bytes_for(kFloat32);
    const std::weak_ptr<void> watched = memory;
    std::vector<DLManagedTensor*> tensors;
    for (const int which : {2, 4, 2}) {
        tensors.push_back(
            made(export_dlpack(array_of(views()[which], kFloat32, memory), kNoStream)));
    }
    memory.reset();
    for (DLManagedTensor* tensor : tensors) {
        INFO("a tensor is left, and the memory is freed");
        const bool memory_is_alive = !watched.expired();
        REQUIRE(memory_is_alive);
        check_shape({tensor->dl_tensor.shape, tensor->dl_tensor.shape + 2},
                    views()[tensor == tensors[1] ? 4 : 2].shape);
        tensor->deleter(tensor);
    }
    INFO("all tensors are deleted, and the memory is not freed");
    const bool memory_is_freed = watched.expired();
    CHECK(memory_is_freed);
}

TEST_CASE("task 4: the consumer's stream waits for the array", "[task4]") {
    const auto check = [](auto* form) {
        const TwoStreams test;
        auto* managed = decltype(form)(nullptr);
        test.check([&] { managed = exported(test.array(), test.consumer.number(), form); });
        made(managed)->deleter(managed);
    };
    check((DLManagedTensor*)nullptr);
    check((DLManagedTensorVersioned*)nullptr);
}

TEST_CASE("task 4: no stream waits with kNoStream", "[task4]") {
    const TwoStreams test;
    DLManagedTensor* managed = nullptr;
    test.check([&] { managed = export_dlpack(test.array(), kNoStream); }, false);
    made(managed)->deleter(managed);
}

TEST_CASE("task 4: what cannot be exported is refused", "[task4]") {
    const auto memory = bytes_for(kFloat32);
    Array array = array_of(views()[0], kFloat32, memory);
    const long owners = memory.use_count();
    CHECK_REFUSED("0 is no stream", export_dlpack(array, 0));
    CHECK_REFUSED("-2 is no stream", export_dlpack_versioned(array, -2));
    array.read_only = true;
    CHECK_REFUSED("the old form cannot say read-only", export_dlpack(array, kNoStream));
    const bool nothing_is_kept = memory.use_count() == owners;
    CHECK(nothing_is_kept);
    auto* managed = made(export_dlpack_versioned(array, kNoStream));
    CHECK(managed->version.major == 1);
    CHECK((managed->flags & 1) == 1);
    managed->deleter(managed);
    array.read_only = false;
    managed = made(export_dlpack_versioned(array, kNoStream));
    CHECK((managed->flags & 1) == 0);
    managed->deleter(managed);
}

TEST_CASE("task 5: an imported array", "[task5]") {
    const auto check = [](auto* form) {
        for (const Type type : types())
            for (const View& view : views())
                for (const int64_t where : {0, 1}) {
                    const std::string type_name = name_of(type);
                    const int64_t byte_offset = where * view.offset * type.bytes;
                    CAPTURE(type_name, view.name, byte_offset);
                    const auto memory = bytes_for(type);
                    const int64_t offset = view.offset * type.bytes;
                    Foreign<std::remove_pointer_t<decltype(form)>> foreign(
                        (char*)memory.get() + (1 - where) * offset, type, view.shape, view.strides);
                    DLTensor& tensor = foreign.managed.dl_tensor;
                    tensor.byte_offset = uint64_t(where * offset);
                    tensor.device.device_id = 2;
                    const TestStream stream;
                    const Array array = imported(&foreign.managed, stream);
                    check_array(array, view, type, memory);
                    CHECK(array.device == 2);
                    CHECK(array.stream == stream.stream);
                    CHECK(!array.read_only);
                }
    };
    check((DLManagedTensor*)nullptr);
    check((DLManagedTensorVersioned*)nullptr);
}

TEST_CASE("task 5: missing strides mean row-major order", "[task5]") {
    for (const Numbers& shape : {Numbers{600},
                                 Numbers{20, 30},
                                 Numbers{4, 5, 6},
                                 Numbers{2, 1, 3, 1, 2, 1, 2, 2},
                                 Numbers{},
                                 Numbers{3, 0, 2}}) {
        CAPTURE(shape.size());
        const auto memory = bytes_for(kInt64);
        Foreign<DLManagedTensor> foreign(memory.get(), kInt64, shape, {});
        const Array array = import_dlpack(&foreign.managed, nullptr);
        check_array(array, {"", shape, compact_strides(shape), 0}, kInt64, memory);
    }
}

TEST_CASE("task 5: the deleter is called once, when the last copy is gone", "[task5]") {
    const auto check = [](auto* form, bool empty) {
        const auto memory = bytes_for(kFloat32);
        Foreign<std::remove_pointer_t<decltype(form)>> foreign(
            empty ? nullptr : memory.get(), kFloat32, {empty ? 0 : 20, 30}, {30, 1});
        CAPTURE(empty);
        {
            Array kept{};
            {
                const Array array = imported(&foreign.managed, nullptr);
                INFO("deleted while the array is in use");
                REQUIRE(foreign.deleted == 0);
                kept = array;
            }
            INFO("deleted while a copy of the array is in use");
            REQUIRE(foreign.deleted == 0);
            const Array other = kept;
            kept = {};
            REQUIRE(foreign.deleted == 0);
        }
        INFO("calls of the deleter after the last copy is gone: " << foreign.deleted);
        const bool deleted_once = foreign.deleted == 1;
        CHECK(deleted_once);
    };
    for (const bool empty : {false, true}) {
        check((DLManagedTensor*)nullptr, empty);
        check((DLManagedTensorVersioned*)nullptr, empty);
    }
}

TEST_CASE("task 5: a tensor without a deleter", "[task5]") {
    const auto memory = bytes_for(kFloat32);
    Foreign<DLManagedTensor> foreign(memory.get(), kFloat32, {20, 30}, {});
    foreign.managed.deleter = nullptr;
    const Array array = import_dlpack(&foreign.managed, nullptr);
    check_array(array, views()[0], kFloat32, memory);
}

TEST_CASE("task 5: what cannot be imported is refused and stays the caller's", "[task5]") {
    const auto memory = bytes_for(kFloat32);
    const auto check = [&](const char* what, auto* form, auto change) {
        Foreign<std::remove_pointer_t<decltype(form)>> foreign(
            memory.get(), kFloat32, {20, 30}, {30, 1});
        change(foreign.managed);
        CHECK_REFUSED(what, imported(&foreign.managed, nullptr));
        INFO("refused (" << what << "), and the deleter is called all the same");
        CHECK(foreign.deleted == 0);
    };
    const auto both = [&](const char* what, auto change) {
        check(what, (DLManagedTensor*)nullptr, change);
        check(what, (DLManagedTensorVersioned*)nullptr, change);
    };
    both("memory of the host", [](auto& m) { m.dl_tensor.device.device_type = kDLCPU; });
    both("pinned memory", [](auto& m) { m.dl_tensor.device.device_type = kDLCUDAHost; });
    both("device type 10", [](auto& m) { m.dl_tensor.device.device_type = DLDeviceType(10); });
    both("complex elements", [](auto& m) { m.dl_tensor.dtype = {5, 64, 1}; });
    both("4 lanes", [](auto& m) { m.dl_tensor.dtype.lanes = 4; });
    both("9 dimensions", [](auto& m) {
        static int64_t shape[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
        m.dl_tensor.ndim = 9;
        m.dl_tensor.shape = m.dl_tensor.strides = shape;
    });
    check("version 2.0", (DLManagedTensorVersioned*)nullptr, [](auto& m) { m.version = {2, 0}; });
    Foreign<DLManagedTensor> managed(memory.get(), kFloat32, {20, 30}, {30, 1});
    managed.managed.dl_tensor.device.device_type = kDLCUDAManaged;
    check_array(import_dlpack(&managed.managed, nullptr), views()[0], kFloat32, memory);
}

TEST_CASE("task 5: a tensor that is read-only", "[task5]") {
    const auto memory = bytes_for(kFloat32);
    for (const uint64_t flags : {0, 1, 2, 3}) {
        CAPTURE(flags);
        Foreign<DLManagedTensorVersioned> foreign(memory.get(), kFloat32, {20, 30}, {30, 1});
        foreign.managed.flags = flags;
        const Array array = import_dlpack_versioned(&foreign.managed, nullptr);
        check_array(array, views()[0], kFloat32, memory);
        CHECK(array.read_only == (flags % 2 == 1));
    }
}

TEST_CASE("task 5: there and back, and one scales what all see", "[task5]") {
    for (const View& view : views()) {
        if (view.strides.size() && view.strides[0] == 0) continue;  // elements of many names
        CAPTURE(view.name);
        const auto values = wb::random_floats(kElements, 5);
        auto memory = device_memory(values);
        const std::weak_ptr<void> watched = memory;
        {
            Array array = array_of(view, kFloat32, memory);
            DLManagedTensor* managed = made(export_dlpack(array, 1));
            spoil(array);
            const Array back = import_dlpack(managed, cudaStreamLegacy);
            check_array(back, view, kFloat32, memory);
            scale(back, -2);
        }
        std::vector<float> want = values;
        for (const int64_t at : positions(view.shape, view.strides))
            want[size_t(view.offset + at)] *= -2;
        CHECK_ARRAYS(values_of<float>(memory, kElements), want);
        memory.reset();
        INFO("the array is gone, and the memory is not freed: the tensor was not deleted");
        const bool memory_is_freed = watched.expired();
        CHECK(memory_is_freed);
    }
}

TEST_CASE("task 5: from stream to stream, each after the one before", "[task5]") {
    const auto relay = [](auto* form) {
        check_relay([form](const Array& array, const TestStream& stream) {
            return imported(made(exported(array, stream.number(), form)), stream);
        });
    };
    relay((DLManagedTensor*)nullptr);
    relay((DLManagedTensorVersioned*)nullptr);
}

TEST_CASE("task 6: the fields of the interface", "[task6]") {
    for (const Type type : types())
        for (const View& view : views()) {
            const std::string type_name = name_of(type);
            CAPTURE(type_name, view.name);
            const auto memory = bytes_for(type);
            const TestStream stream;
            Array array = array_of(view, type, memory);
            array.stream = stream;
            const CudaArrayInterface cai = export_cai(array);
            const size_t ndim = view.shape.size();
            CHECK(cai.ndim == int(ndim));
            check_shape({cai.shape, cai.shape + ndim}, view.shape);
            CHECK(cai.has_strides == 1);
            CHECK(cai.read_only == 0);
            const char digit[] = {char('0' + type.bytes), 0};
            CHECK(std::string(cai.typestr) ==
                  (type.bytes == 1 ? "|" : "<") + std::string(1, type.kind) + digit);
            CHECK(cai.stream == stream.number());
            if (count_of(view.shape) == 0) {
                CHECK(cai.data == nullptr);
                continue;
            }
            Numbers want = view.strides;
            for (int64_t& stride : want) stride *= type.bytes;
            check_strides({cai.strides, cai.strides + ndim}, want, view.shape, type.bytes, true);
            check_address(cai.data,
                          (const char*)memory.get() + view.offset * type.bytes,
                          memory.get(),
                          size_t(kElements * type.bytes));
        }
}

TEST_CASE("task 6: streams and read-only arrays", "[task6]") {
    const auto memory = bytes_for(kFloat32);
    Array array = array_of(views()[0], kFloat32, memory);
    const std::pair<cudaStream_t, int> numbers[] = {
        {nullptr, 1}, {cudaStreamLegacy, 1}, {cudaStreamPerThread, 2}};
    for (const auto& [stream, number] : numbers) {
        array.stream = stream;
        CHECK(export_cai(array).stream == number);
    }
    array.read_only = true;
    CHECK(export_cai(array).read_only == 1);
}

TEST_CASE("task 7: an array from the interface", "[task7]") {
    for (const Type type : types())
        for (const View& view : views()) {
            const std::string type_name = name_of(type);
            CAPTURE(type_name, view.name);
            const auto memory = bytes_for(type);
            const bool empty = count_of(view.shape) == 0;
            const CudaArrayInterface cai =
                foreign_cai(empty ? nullptr : (char*)memory.get() + view.offset * type.bytes,
                            type,
                            view.shape,
                            view.strides);
            const TestStream stream;
            const Array array = import_cai(cai, memory, stream);
            check_array(array, view, type, memory);
            CHECK(array.stream == stream.stream);
            CHECK(array.device == 0);
            CHECK(!array.read_only);
        }
}

TEST_CASE("task 7: missing strides mean row-major order", "[task7]") {
    for (const Numbers& shape : {Numbers{600},
                                 Numbers{20, 30},
                                 Numbers{4, 5, 6},
                                 Numbers{2, 1, 3, 1, 2, 1, 2, 2},
                                 Numbers{}}) {
        CAPTURE(shape.size());
        const auto memory = bytes_for(kInt64);
        const CudaArrayInterface cai = foreign_cai(memory.get(), kInt64, shape, {});
        const Array array = import_cai(cai, memory, nullptr);
        check_array(array, {"", shape, compact_strides(shape), 0}, kInt64, memory);
    }
}

TEST_CASE("task 7: the array keeps its owner", "[task7]") {
    const auto values = wb::random_floats(kElements, 7);
    auto memory = device_memory(values);
    const std::weak_ptr<void> watched = memory;
    {
        Array array =
            import_cai(foreign_cai(memory.get(), kFloat32, {20, 30}, {30, 1}), memory, nullptr);
        memory.reset();
        {
            INFO("the owner is gone, while the array is in use");
            const bool owner_is_alive = !watched.expired();
            REQUIRE(owner_is_alive);
        }
        const Array copy = array;
        spoil(array);
        CHECK_ARRAYS(values_of<float>(copy.memory, kElements), values);
    }
    INFO("the array is gone, and its owner is not");
    const bool owner_is_gone = watched.expired();
    CHECK(owner_is_gone);
}

TEST_CASE("task 7: the stream waits for the producer's", "[task7]") {
    const TwoStreams test;
    Array array{};
    const auto memory = bytes_for(kFloat32);
    CudaArrayInterface cai = foreign_cai(memory.get(), kFloat32, {600}, {});
    cai.stream = test.producer.number();
    test.check([&] { array = import_cai(cai, memory, test.consumer); });
}

TEST_CASE("task 7: no stream waits where the producer names none", "[task7]") {
    const TwoStreams test;
    Array array{};
    const auto memory = bytes_for(kFloat32);
    const CudaArrayInterface cai = foreign_cai(memory.get(), kFloat32, {600}, {});
    test.check([&] { array = import_cai(cai, memory, test.consumer); }, false);
}

TEST_CASE("task 7: from stream to stream, each after the one before", "[task7]") {
    check_relay([](const Array& array, const TestStream& stream) {
        return import_cai(export_cai(array), array.memory, stream);
    });
}

TEST_CASE("task 7: what cannot be imported is refused", "[task7]") {
    const auto memory = bytes_for(kFloat32);
    const long owners = memory.use_count();
    const auto check = [&](const char* what, auto change) {
        CudaArrayInterface cai = foreign_cai(memory.get(), kFloat32, {20, 30}, {30, 1});
        change(cai);
        CHECK_REFUSED(what, import_cai(cai, memory, nullptr));
    };
    check("stream 0", [](auto& cai) { cai.stream = 0; });
    check("stream -2", [](auto& cai) { cai.stream = -2; });
    check("typestr \"<c8\"", [](auto& cai) { std::strcpy(cai.typestr, "<c8"); });
    check("typestr \">f4\"", [](auto& cai) { std::strcpy(cai.typestr, ">f4"); });
    check("a stride of 122 bytes", [](auto& cai) { cai.strides[0] = 122; });
    check("a stride of -2 bytes", [](auto& cai) { cai.strides[1] = -2; });
    check("9 dimensions", [](auto& cai) { cai.ndim = 9; });
    const bool nothing_is_kept = memory.use_count() == owners;
    CHECK(nothing_is_kept);
    CudaArrayInterface cai = foreign_cai(memory.get(), kFloat32, {20, 30}, {30, 1});
    cai.read_only = 1;
    CHECK(import_cai(cai, memory, nullptr).read_only);
}

TEST_CASE("task 7: a failed call is an exception", "[task7]") {
    const TestStream producer, consumer;
    const auto memory = bytes_for(kFloat32);
    CudaArrayInterface cai = foreign_cai(memory.get(), kFloat32, {600}, {});
    cai.stream = producer.number();
    check_failing_calls("import_cai", [&] { import_cai(cai, memory, consumer); });
}

TEST_CASE("task 8: interop_scale multiplies in place", "[task8]") {
    for (const View& view : views()) {
        if (view.strides.size() && view.strides[0] == 0) continue;
        CAPTURE(view.name);
        std::vector<int64_t> values(kElements);
        for (size_t i = 0; i < values.size(); ++i) values[i] = int64_t(wb::random_bits(8, i) >> 20);
        const auto memory = device_memory(values);
        const bool empty = count_of(view.shape) == 0;
        const CudaArrayInterface cai =
            foreign_cai(empty ? nullptr : (int64_t*)memory.get() + view.offset,
                        kInt64,
                        view.shape,
                        view.strides);
        const int status = interop_scale(&cai, 3);
        INFO("interop_error(): " << interop_error());
        CHECK(status == 0);
        std::vector<int64_t> want = values;
        for (const int64_t at : positions(view.shape, view.strides))
            want[size_t(view.offset + at)] *= 3;
        CHECK_ARRAYS(values_of<int64_t>(memory, kElements), want);
    }
}

TEST_CASE("task 8: interop_scale works in the array's stream", "[task8]") {
    const auto memory = bytes_for(kFloat32);
    const TestStream stream;
    CudaArrayInterface cai = foreign_cai(memory.get(), kFloat32, {600}, {});
    struct Case {
        const char* number;
        int64_t value;
        std::vector<cudaStream_t> want;
    };
    const Case cases[] = {{"that of a stream", stream.number(), {stream}},
                          {"1", 1, {nullptr, cudaStreamLegacy}},
                          {"2", 2, {cudaStreamPerThread}},
                          {"kNoStream", kNoStream, {nullptr, cudaStreamLegacy}}};
    for (const auto& [number, value, want] : cases) {
        CAPTURE(number);
        cai.stream = value;
        CUDA_CHECK(cudaDeviceSynchronize());
        wb::CallWatch watch;
        REQUIRE(interop_scale(&cai, 2) == 0);
        REQUIRE(watch.launches() == 1);
        for (const wb::CudaCall& call : watch.calls)
            if (call.name.find("Launch") != std::string::npos) {
                INFO("the work is put into another stream");
                const bool in_the_stream =
                    std::find(want.begin(), want.end(), call.stream) != want.end();
                CHECK(in_the_stream);
            }
    }
}

TEST_CASE("task 8: interop_ramp makes a tensor", "[task8]") {
    const TestStream stream;
    const std::pair<int64_t, int64_t> shapes[] = {{1, 1}, {31, 33}, {300, 1}, {0, 5}};
    for (const auto& [rows, columns] : shapes) {
        CAPTURE(rows, columns);
        DLManagedTensor* tensor = nullptr;
        REQUIRE(interop_ramp(0.5, 0.25, rows, columns, stream.number(), &tensor) == 0);
        REQUIRE(tensor != nullptr);
        const DLTensor& fields = tensor->dl_tensor;
        REQUIRE(fields.ndim == 2);
        check_shape({fields.shape, fields.shape + 2}, {rows, columns});
        CHECK(int(fields.dtype.code) == 2);
        CHECK(int(fields.dtype.bits) == 64);
        std::vector<double> got(size_t(rows * columns)), want;
        for (size_t i = 0; i < got.size(); ++i) want.push_back(0.5 + 0.25 * double(i));
        CUDA_CHECK(cudaMemcpyAsync(got.data(),
                                   (char*)fields.data + fields.byte_offset,
                                   got.size() * sizeof(double),
                                   cudaMemcpyDeviceToHost,
                                   stream));
        CUDA_CHECK(cudaStreamSynchronize(stream));
        CHECK_ARRAYS(got, want);
        wb::CallWatch watch;
        tensor->deleter(tensor);
        CHECK(watch.freed == (got.empty() ? 0 : 1));
    }
}

TEST_CASE("task 8: no exception leaves a function of C", "[task8]") {
    const auto memory = bytes_for(kFloat32);
    const auto check = [](const char* what, const char* word, const std::function<int()>& call) {
        int status = -1;
        bool thrown = false;
        try {
            status = call();
        } catch (...) {
            thrown = true;
        }
        INFO(what << (thrown ? ": an exception leaves the function, and Python would be ended"
                             : ", which must return 1"));
        const bool returns_1 = !thrown && status == 1;
        CHECK(returns_1);
        const std::string text = interop_error();
        INFO("interop_error() is \"" << text << "\"");
        const bool error_is_told = text.find(word) != std::string::npos;
        CHECK(error_is_told);
    };
    CudaArrayInterface cai = foreign_cai(memory.get(), kFloat32, {600}, {});
    cai.read_only = 1;
    check("a read-only array", "read-only", [&] { return interop_scale(&cai, 2); });
    cai.read_only = 0;
    cai.stream = 0;
    check("stream 0", "", [&] { return interop_scale(&cai, 2); });
    DLManagedTensor* tensor = nullptr;
    check("stream 0", "", [&] { return interop_ramp(0, 1, 2, 2, 0, &tensor); });
    check("no memory left", "cudaErrorMemoryAllocation", [&] {
        wb::CallWatch watch;
        watch.fail_name = "cudaMalloc";
        watch.error = cudaErrorMemoryAllocation;
        return interop_ramp(0, 1, 2, 2, 1, &tensor);
    });
    check("a refused launch", "cudaErrorInvalidConfiguration", [&] {
        wb::CallWatch watch;
        watch.refuse_launches = true;
        cai.stream = 1;
        return interop_scale(&cai, 2);
    });
}

TEST_CASE("efficient: the stream that is waited for does not wait itself", "[efficient][task3]") {
    const TwoStreams test;
    test.check([&] { wait_for(test.producer, test.consumer); }, false);
}

TEST_CASE("efficient: DLPack moves no byte", "[efficient][task4][task5]") {
    const auto memory = bytes_for(kFloat32);
    const TestStream producer, consumer;
    Array array = array_of(views()[4], kFloat32, memory);
    array.stream = producer;
    const auto counters = wb::count([&] {
        for (int i = 0; i < 10; ++i) {
            import_dlpack(made(export_dlpack(array, consumer.number())), consumer);
            import_dlpack_versioned(made(export_dlpack_versioned(array, consumer.number())),
                                    consumer);
        }
    });
    NEED_COUNTERS(counters);
    CHECK(counters->host_to_device_bytes == 0);
    CHECK(counters->device_to_host_bytes == 0);
    CHECK(counters->device_to_device_bytes == 0);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->launches == 0);
}

TEST_CASE("efficient: the CUDA Array Interface moves no byte", "[efficient][task6][task7]") {
    const auto memory = bytes_for(kFloat32);
    const TestStream producer, consumer;
    Array array = array_of(views()[4], kFloat32, memory);
    array.stream = producer;
    const auto counters = wb::count([&] {
        for (int i = 0; i < 10; ++i) import_cai(export_cai(array), memory, consumer);
    });
    NEED_COUNTERS(counters);
    CHECK(counters->host_to_device_bytes == 0);
    CHECK(counters->device_to_host_bytes == 0);
    CHECK(counters->device_to_device_bytes == 0);
    CHECK(counters->device_allocations == 0);
    CHECK(counters->launches == 0);
}

TEST_CASE("efficient: the host does not wait when an array changes streams",
          "[efficient][task3][task4][task5][task6][task7]") {
    const auto memory = device_memory(std::vector<float>(1 << 16, 1.0f));
    const TestStream one, other;
    Array array{};
    array.memory = memory;
    array.type = kFloat32;
    array.layout = layout_of({1 << 16}, {1});
    array.stream = one;
    const auto calls = wb::host_calls([&] {
        for (int i = 0; i < 10; ++i) {
            scale(array, 2);
            array = import_dlpack(made(export_dlpack(array, other.number())), other);
            REQUIRE(shape_of(array.layout) == Numbers{1 << 16});
            scale(array, 0.5);
            array = import_cai(export_cai(array), array.memory, one);
            REQUIRE(shape_of(array.layout) == Numbers{1 << 16});
        }
    });
    CHECK(calls.host_waits == 0);
    CHECK(calls.host_launches == 20);
    CUDA_CHECK(cudaDeviceSynchronize());
}

TEST_CASE("efficient: one launch for a view, which loads and stores its elements alone",
          "[efficient][task1][task7][task8]") {
    const auto memory = bytes_for(kFloat32);
    const CudaArrayInterface cai = foreign_cai(memory.get(), kFloat32, {20, 15}, {30, 2});
    const auto counters = wb::count([&] { interop_scale(&cai, 2); });
    NEED_COUNTERS(counters);
    CHECK(counters->launches == 1);
    CHECK(counters->global_load_bytes == 1200);
    CHECK(counters->global_store_bytes == 1200);
    CHECK(counters->device_allocations == 0);
}
