// SPDX-License-Identifier: MIT
// What lesson 39's test shares: views of one piece of device memory, comparison of arrays, tensors
// as another library makes them, and use of freed memory.
#pragma once

#include "lesson_test.h"
#include "python_interop.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace {

using Numbers = std::vector<int64_t>;

struct View {
    const char* name;
    Numbers shape, strides;
    int64_t offset;
};

constexpr int64_t kElements = 600;  // that the views below are of

inline const std::vector<View>& views() {
    static const std::vector<View> all{
        {"a matrix", {20, 30}, {30, 1}, 0},
        {"one dimension", {600}, {1}, 0},
        {"some rows and columns", {5, 7}, {60, 3}, 37},
        {"a transposed matrix", {30, 20}, {1, 30}, 0},
        {"a transposed slice", {4, 6}, {2, 90}, 31},
        {"reversed", {9}, {-4}, 41},
        {"a row again and again", {4, 30}, {0, 1}, 90},
        {"three dimensions in another order", {6, 4, 5}, {1, 120, 6}, 13},
        {"dimensions of length 1", {1, 33, 1}, {600, 2, 7}, 5},
        {"eight dimensions", {2, 1, 3, 1, 2, 1, 2, 2}, {300, 9, 60, 9, 30, 9, 4, 1}, 11},
        {"no dimension", {}, {}, 17},
        {"no rows", {0, 30}, {30, 1}, 60},
        {"no elements in the middle", {4, 0, 3}, {3, 3, 1}, 8},
    };
    return all;
}

inline const std::vector<Type>& types() {
    static const std::vector<Type> all{
        {'f', 4}, {'f', 8}, {'i', 4}, {'i', 8}, {'u', 1}, {'f', 2}, {'u', 4}};
    return all;
}

// As NumPy calls it: "int64".
inline std::string name_of(Type type) {
    const std::string kind = type.kind == 'f'   ? "float"
                             : type.kind == 'i' ? "int"
                             : type.kind == 'u' ? "uint"
                                                : "a kind without a name, ";
    return kind + std::to_string(8 * type.bytes);
}

inline Layout layout_of(const Numbers& shape, const Numbers& strides) {
    Layout layout{};
    layout.ndim = int(shape.size());
    std::fill_n(layout.shape, kMaxDims, -77);  // beyond ndim: does not matter
    std::fill_n(layout.strides, kMaxDims, -77);
    std::copy(shape.begin(), shape.end(), layout.shape);
    std::copy(strides.begin(), strides.end(), layout.strides);
    return layout;
}

inline Numbers shape_of(const Layout& layout) {
    return {layout.shape, layout.shape + std::clamp(layout.ndim, 0, kMaxDims)};
}
inline Numbers strides_of(const Layout& layout) {
    return {layout.strides, layout.strides + std::clamp(layout.ndim, 0, kMaxDims)};
}

inline int64_t count_of(const Numbers& shape) {
    int64_t count = 1;
    for (const int64_t length : shape) count *= length;
    return count;
}

// Those of a compact array in row-major order.
inline Numbers compact_strides(const Numbers& shape) {
    Numbers strides(shape.size());
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides[d] = stride;
    return strides;
}

// Where the elements are, in row-major order of their indexes.
inline Numbers positions(const Numbers& shape, const Numbers& strides) {
    Numbers index(shape.size()), found;
    for (int64_t i = 0; i < count_of(shape); ++i) {
        int64_t at = 0;
        for (size_t d = 0; d < shape.size(); ++d) at += index[d] * strides[d];
        found.push_back(at);
        for (size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
    }
    return found;
}

// Device memory that is freed with the last pointer to it.
template <class T>
std::shared_ptr<void> device_memory(const std::vector<T>& values) {
    auto buffer = std::make_shared<wb::DeviceBuffer<T>>(values);
    CUDA_CHECK(cudaDeviceSynchronize());
    return {buffer, buffer->get()};
}
template <class T>
std::vector<T> values_of(const std::shared_ptr<void>& memory, size_t elements) {
    std::vector<T> values(elements);
    CUDA_CHECK(cudaDeviceSynchronize());
    CUDA_CHECK(
        cudaMemcpy(values.data(), memory.get(), elements * sizeof(T), cudaMemcpyDeviceToHost));
    wb::note_download({values.data(), memory.get(), elements});
    return values;
}

inline std::shared_ptr<void> bytes_for(Type type) {
    return device_memory(std::vector<char>(size_t(kElements * type.bytes)));
}

inline Array array_of(const View& view, Type type, const std::shared_ptr<void>& memory) {
    Array array{};
    array.memory = memory;
    array.offset = view.offset;
    array.type = type;
    array.layout = layout_of(view.shape, view.strides);
    return array;
}

// Fails where a shape or strides are not those wanted. Strides in the wrong unit are recognised.
inline void check_shape(const Numbers& got, const Numbers& want) {
    wb::recognize<int64_t>(got, want, {{"the order of the dimensions is turned round", [&] {
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
        {in_bytes ? "strides in elements, where they are in bytes"
                  : "strides in bytes, where they are in elements",
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
        {"strides are absolute values: a reversed view has a negative one",
         [&] { return each(want, [](int64_t s) { return s < 0 ? -s : s; }); }},
        {"the order of the dimensions is turned round",
         [&] { return Numbers(want.rbegin(), want.rend()); }}};
    if (!in_bytes)
        mistakes.push_back(
            {"strides are divided by the size of an element, and they were in elements already",
             [&] { return each(want, [&](int64_t s) { return s / element; }); }});
    wb::recognize<int64_t>(got, want, mistakes);
    const std::string text = wb::mismatch(
        got, want, [](size_t) { return 0.0; }, "stride of dimension");
    INFO(text);
    const bool same_strides = text.empty();
    CHECK(same_strides);
}

// Fails where `got` is not the address `want`, in memory of `bytes` bytes from `memory` on.
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

// Fails where `got` is not this view of this memory.
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

// Stores into all memory that was freed a moment ago, on the heap and on the stack. Whoever still
// points there reads other values afterwards.
__attribute__((noinline)) inline void use_freed_memory() {
    volatile char stack[32768];
    for (size_t i = 0; i < sizeof stack; ++i) stack[i] = 0x5C;
    std::vector<std::unique_ptr<char[]>> blocks;
    for (int round = 0; round < 8; ++round)
        for (size_t bytes = 8; bytes <= 1024; bytes += 16) {
            blocks.emplace_back(new char[bytes]);
            std::fill_n(blocks.back().get(), bytes, char(0x5C));
        }
}

// As the memory of an array that its owner gives up and uses for something else.
inline void spoil(Array& array) {
    std::fill_n(array.layout.shape, kMaxDims, -9);
    std::fill_n(array.layout.strides, kMaxDims, -9);
    array = {};
    use_freed_memory();
}

// The part that the two forms of DLPack have in common, by overloads.
inline DLManagedTensor* exported(const Array& array, int64_t stream, DLManagedTensor*) {
    return export_dlpack(array, stream);
}
inline DLManagedTensorVersioned* exported(const Array& array, int64_t stream,
                                          DLManagedTensorVersioned*) {
    return export_dlpack_versioned(array, stream);
}
inline Array imported(DLManagedTensor* tensor, cudaStream_t stream) {
    return import_dlpack(tensor, stream);
}
inline Array imported(DLManagedTensorVersioned* tensor, cudaStream_t stream) {
    return import_dlpack_versioned(tensor, stream);
}

// A tensor as another library makes it. It counts how often it is deleted, and as a real one it
// takes its shape and strides with it.
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
            managed.version = {1, 7};  // a newer one that can be read all the same
    }
    Foreign(const Foreign&) = delete;
    Foreign& operator=(const Foreign&) = delete;

    Numbers shape, strides;
    int deleted = 0;
    Managed managed{};
};

// The interface of an array as another library describes it, without a stream. No strides: None.
inline CudaArrayInterface foreign_cai(void* data, Type type, const Numbers& shape,
                                      const Numbers& strides) {
    CudaArrayInterface cai{};
    cai.data = data;
    cai.ndim = int32_t(shape.size());
    std::fill_n(cai.shape, kMaxDims, -77);
    std::fill_n(cai.strides, kMaxDims, -77);
    std::copy(shape.begin(), shape.end(), cai.shape);
    for (size_t d = 0; d < strides.size(); ++d) cai.strides[d] = strides[d] * type.bytes;
    cai.has_strides = !strides.empty();
    cai.typestr[0] = type.bytes == 1 ? '|' : '<';
    cai.typestr[1] = type.kind;
    cai.typestr[2] = char('0' + type.bytes);
    cai.stream = kNoStream;
    return cai;
}

// A stream that does not wait for the default stream.
struct TestStream {
    TestStream() { CUDA_CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)); }
    ~TestStream() { cudaStreamDestroy(stream); }
    TestStream(const TestStream&) = delete;
    TestStream& operator=(const TestStream&) = delete;
    operator cudaStream_t() const { return stream; }
    int64_t number() const { return int64_t(stream); }
    cudaStream_t stream = nullptr;
};

}  // namespace
