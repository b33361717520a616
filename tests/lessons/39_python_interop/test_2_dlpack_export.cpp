// SPDX-License-Identifier: MIT
// Lesson 39: arrays are exported by DLPack, and a tensor keeps the memory until it is deleted.
#include "checks.h"

#include <malloc.h>

#include <cstdlib>

TEST_CASE("task 4: the fields of an exported tensor", "[task4]") {
    const auto check = [](auto* form) {
        for (const Type type : types())
            for (const View& view : views()) {
                const std::string type_name = name_of(type);
                CAPTURE(type_name, view.name);
                const auto memory = bytes_for(type);
                Array array = array_of(view, type, memory);
                array.device = 3;  // no work is launched on this device
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
        INFO("shape or strides have changed since the tensor was made: they are in memory that "
             "does not belong to the tensor and has been reused");
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
        INFO("the deleter was called, but the memory is not freed");
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
        // The first round makes all allocations that are made only once, such as caches and tables.
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
        // Less than a pointer with malloc's header for each.
        const bool host_memory_is_freed = left < kTimes * 16;
        CHECK(host_memory_is_freed);
    };
    check((DLManagedTensor*)nullptr);
    check((DLManagedTensorVersioned*)nullptr);
#else
    CHECK(true);  // this C library does not report how much memory is in use
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
        INFO("one tensor still exists, but the memory is freed");
        const bool memory_is_alive = !watched.expired();
        REQUIRE(memory_is_alive);
        check_shape({tensor->dl_tensor.shape, tensor->dl_tensor.shape + 2},
                    views()[tensor == tensors[1] ? 4 : 2].shape);
        tensor->deleter(tensor);
    }
    INFO("all tensors are deleted, but the memory is not freed");
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

TEST_CASE("task 4: arrays that cannot be exported are refused", "[task4]") {
    const auto memory = bytes_for(kFloat32);
    Array array = array_of(views()[0], kFloat32, memory);
    const long owners = memory.use_count();
    CHECK_REFUSED("0 is no stream", export_dlpack(array, 0));
    CHECK_REFUSED("-2 is no stream", export_dlpack_versioned(array, -2));
    array.read_only = true;
    CHECK_REFUSED("the old form cannot say read-only", export_dlpack(array, kNoStream));
    {
        INFO("an export that was refused keeps the memory: it has " << memory.use_count() - owners
                                                                    << " owners more than before");
        const bool nothing_is_kept = memory.use_count() == owners;
        CHECK(nothing_is_kept);
    }
    auto* managed = made(export_dlpack_versioned(array, kNoStream));
    CHECK(managed->version.major == 1);
    CHECK((managed->flags & 1) == 1);
    managed->deleter(managed);
    array.read_only = false;
    managed = made(export_dlpack_versioned(array, kNoStream));
    CHECK((managed->flags & 1) == 0);
    managed->deleter(managed);
}
