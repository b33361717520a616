// SPDX-License-Identifier: MIT
// Helpers for the tests of lesson 39: views of one piece of device memory, arrays as another
// library makes them, streams, and use of freed memory.
#pragma once

#include "lesson_test.h"
#include "python_interop.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace {

using Numbers = std::vector<int64_t>;

constexpr Type kFloat32{'f', 4}, kInt64{'i', 8};

struct View {
    const char* name;
    Numbers shape, strides;
    int64_t offset;
};

constexpr int64_t kElements = 600;  // in the memory of the views below

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

// NumPy's name for the type: "int64".
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
    std::fill_n(layout.shape, kMaxDims, -77);  // entries from ndim on do not matter
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

// The strides of a compact array in row-major order.
inline Numbers compact_strides(const Numbers& shape) {
    Numbers strides(shape.size());
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d]) strides[d] = stride;
    return strides;
}

// The positions of the elements, in row-major order of their indexes.
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

// Stores into all recently freed memory, on the heap and on the stack. A pointer that still points
// there then reads other values.
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

// Fills memory as if an array's owner had given it up and reused it.
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

// The interface of an array as another library describes it, without a stream. An empty list of
// strides means None.
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
