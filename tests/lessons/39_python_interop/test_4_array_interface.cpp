// SPDX-License-Identifier: MIT
// Lesson 39: arrays are exported and imported by the CUDA Array Interface, also through C
// functions.
#include "checks.h"

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
            INFO("the owner is gone, but the array is still in use");
            const bool owner_is_alive = !watched.expired();
            REQUIRE(owner_is_alive);
        }
        const Array copy = array;
        spoil(array);
        CHECK_ARRAYS(values_of<float>(copy.memory, kElements), values);
    }
    INFO("the array is gone, but its owner is still kept");
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

TEST_CASE("task 7: no stream waits if the producer names none", "[task7]") {
    const TwoStreams test;
    Array array{};
    const auto memory = bytes_for(kFloat32);
    const CudaArrayInterface cai = foreign_cai(memory.get(), kFloat32, {600}, {});
    test.check([&] { array = import_cai(cai, memory, test.consumer); }, false);
}

TEST_CASE("task 7: a relay from stream to stream keeps the order", "[task7]") {
    check_relay([](const Array& array, const TestStream& stream) {
        return import_cai(export_cai(array), array.memory, stream);
    });
}

TEST_CASE("task 7: interfaces that cannot be imported are refused", "[task7]") {
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
    {
        INFO("an import that was refused keeps the memory: it has " << memory.use_count() - owners
                                                                    << " owners more than before");
        const bool nothing_is_kept = memory.use_count() == owners;
        CHECK(nothing_is_kept);
    }
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

TEST_CASE("task 8: no exception leaves a C function", "[task8]") {
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
