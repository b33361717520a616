// SPDX-License-Identifier: MIT
// Lesson 39: arrays are imported by DLPack, and every tensor is deleted once.
#include "checks.h"

namespace {

// A tensor as another library makes it. It counts how often it is deleted. Like a real tensor, it
// loses its shape and strides when it is deleted.
template <class Managed>
struct Foreign {
    Foreign(void* data, Type type, Numbers shape_, Numbers strides_)
        : shape(std::move(shape_)), strides(std::move(strides_)) {
        DLTensor& tensor = managed.dl_tensor;
        tensor.data = data;
        tensor.device = {kDLCUDA, 0};
        tensor.ndim = int32_t(shape.size());
        const uint8_t code = type.kind == 'f' ? kDLFloat : type.kind == 'i' ? kDLInt : kDLUInt;
        tensor.dtype = {code, uint8_t(8 * type.bytes), 1};
        tensor.shape = shape.empty() ? nullptr : shape.data();
        tensor.strides = strides.empty() ? nullptr : strides.data();
        managed.manager_ctx = this;
        managed.deleter = [](Managed* self) {
            auto* own = static_cast<Foreign*>(self->manager_ctx);
            ++own->deleted;
            std::fill(own->shape.begin(), own->shape.end(), -9);
            std::fill(own->strides.begin(), own->strides.end(), -9);
        };
        if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>)
            managed.version = {1, 7};  // a newer version that can still be read
    }
    Foreign(const Foreign&) = delete;
    Foreign& operator=(const Foreign&) = delete;

    Numbers shape, strides;
    int deleted = 0;
    Managed managed{};
};

}  // namespace

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

TEST_CASE("task 5: a refused tensor still belongs to the caller", "[task5]") {
    const auto memory = bytes_for(kFloat32);
    const auto check = [&](const char* what, auto* form, auto change) {
        Foreign<std::remove_pointer_t<decltype(form)>> foreign(
            memory.get(), kFloat32, {20, 30}, {30, 1});
        change(foreign.managed);
        CHECK_REFUSED(what, imported(&foreign.managed, nullptr));
        INFO("refused (" << what << "), but the deleter is called");
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

TEST_CASE("task 5: an array exported and imported again shares its memory", "[task5]") {
    for (const View& view : views()) {
        if (view.strides.size() && view.strides[0] == 0)
            continue;  // several indexes name one element
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
        INFO("the array is gone, but the memory is not freed: the tensor was not deleted");
        const bool memory_is_freed = watched.expired();
        CHECK(memory_is_freed);
    }
}

TEST_CASE("task 5: a relay from stream to stream keeps the order", "[task5]") {
    const auto relay = [](auto* form) {
        check_relay([form](const Array& array, const TestStream& stream) {
            return imported(made(exported(array, stream.number(), form)), stream);
        });
    };
    relay((DLManagedTensor*)nullptr);
    relay((DLManagedTensorVersioned*)nullptr);
}
