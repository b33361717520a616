// SPDX-License-Identifier: MIT
// Lesson 39, Python interoperability: what python_interop.cu implements and the test calls.
//
// No function here copies an array, makes the host wait, or changes an array unless its comment
// says so. A CUDA call that fails throws wb::CudaError. An array that cannot be shared is refused
// with InteropError; then its owner is still the same.
#pragma once

#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>

#include "cuda_check.h"

class InteropError : public std::exception {
public:
    // The text may have one %lld, which stands for `number`.
    explicit InteropError(const char* text, long long number = 0) {
        std::snprintf(text_, sizeof text_, text, number);
    }
    const char* what() const noexcept override { return text_; }

private:
    char text_[160];
};

// ---------------------------------------------------------------------------------------------
// Arrays in device memory. Several may be views of the same memory.

constexpr int kMaxDims = 8;

// An element's type as NumPy names it: {'f', 4} is float32, {'i', 8} is int64, {'u', 1} is uint8.
// kind 'f' has 2, 4 or 8 bytes, 'i' and 'u' have 1, 2, 4 or 8.
struct Type {
    char kind;
    int bytes;
};

// The element with the indexes i0, i1, ... is i0 strides[0] + i1 strides[1] + ... elements after
// the one whose indexes are all 0. Strides may be 0 or negative. ndim is 0 to kMaxDims; an array
// with 0 dimensions has one element, without indexes. Entries from ndim on do not matter.
struct Layout {
    int ndim;
    int64_t shape[kMaxDims];
    int64_t strides[kMaxDims];  // in elements
};

struct Array {
    std::shared_ptr<void> memory;  // the last copy frees it
    int64_t offset;  // of the element whose indexes are all 0, in elements from memory.get()
    Type type;
    Layout layout;
    int device;           // number of the memory's device
    bool read_only;       // this array must not be used to write
    cudaStream_t stream;  // the values are ready when the present work of this stream is done
};

inline __host__ __device__ int64_t element_count(const Layout& layout) {
    int64_t count = 1;
    for (int d = 0; d < layout.ndim; ++d) count *= layout.shape[d];
    return count;
}

// The address of the element whose indexes are all 0.
inline void* first_element(const Array& array) {
    return static_cast<char*>(array.memory.get()) + array.offset * array.type.bytes;
}

// ---------------------------------------------------------------------------------------------
// DLPack (https://dmlc.github.io/dlpack), with the memory layout of its specification: the
// functions below take tensors of any library that has DLPack.

enum DLDeviceType : int32_t {
    kDLCPU = 1,
    kDLCUDA = 2,
    kDLCUDAHost = 3,      // pinned memory of the host
    kDLCUDAManaged = 13,  // cudaMallocManaged
};

struct DLDevice {
    DLDeviceType device_type;
    int32_t device_id;
};

enum DLDataTypeCode : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2 };  // and more: 3 to 17

// `lanes` is more than 1 for elements that are vectors, such as float4.
struct DLDataType {
    uint8_t code;
    uint8_t bits;
    uint16_t lanes;
};

struct DLTensor {
    void* data;
    DLDevice device;
    int32_t ndim;
    DLDataType dtype;
    int64_t* shape;
    int64_t* strides;      // in elements; null: compact, in row-major order
    uint64_t byte_offset;  // from `data` to the element whose indexes are all 0
};

// A consumer that accepts a tensor owns it, and calls `deleter` once when it no longer needs the
// tensor. If `deleter` is null, the consumer calls nothing.
struct DLManagedTensor {
    DLTensor dl_tensor;
    void* manager_ctx;  // for the producer's own use
    void (*deleter)(DLManagedTensor* self);
};

// The newer form, since version 1.0 of DLPack.
struct DLPackVersion {
    uint32_t major, minor;
};

constexpr DLPackVersion kDLPackVersion{
    1, 1};                           // consumers can read every version with the same `major`
constexpr uint64_t kDLReadOnly = 1;  // a bit of `flags`

struct DLManagedTensorVersioned {
    DLPackVersion version;
    void* manager_ctx;
    void (*deleter)(DLManagedTensorVersioned* self);
    uint64_t flags;
    DLTensor dl_tensor;
};

// ---------------------------------------------------------------------------------------------
// The CUDA Array Interface, version 3: in Python, the dictionary `__cuda_array_interface__`. This C
// structure has the same contents, for ctypes.

struct CudaArrayInterface {
    void* data;         // the element whose indexes are all 0; null if there are no elements
    int32_t read_only;  // 1: the interface must not be used to write
    int32_t ndim;
    int64_t shape[kMaxDims];
    int64_t strides[kMaxDims];  // in bytes
    int32_t has_strides;        // 0, None in Python: compact, in row-major order
    char typestr[8];            // "<f4": order of the bytes, kind, bytes
    int64_t stream;             // a stream's number, or kNoStream, None in Python
};

// ---------------------------------------------------------------------------------------------
// Task 1. The layout of a compact array in row-major order: the last index runs fastest.
Layout row_major(int ndim, const int64_t* shape);

// Task 1. The position of element i, in elements after the first, for 0 <= i <
// element_count(layout). For all strides, elements are counted in row-major order of their indexes.
__host__ __device__ int64_t position(const Layout& layout, int64_t i);

// Task 2. Types in both protocols. The second function refuses lanes other than 1, and types that
// Type cannot express.
DLDataType dlpack_type(Type type);
Type type_from_dlpack(DLDataType type);

// Task 2. A typestr is "<f4", or "|u1" with '|' in front for types of one byte. The second function
// refuses other orders of the bytes, and types that Type cannot express, such as "<f40".
void write_typestr(Type type, char typestr[8]);
Type type_from_typestr(const char* typestr);

// Task 3. Streams are passed as numbers: 1 is the legacy default stream, 2 the default stream of
// the thread, and a greater number is the handle of a stream. 0 is refused, since it could mean
// either default stream. Negative numbers are refused, too.
constexpr int64_t kNoStream = -1;  // passed by callers who need no wait
cudaStream_t stream_from_number(int64_t number);
int64_t number_of_stream(cudaStream_t stream);  // null is the legacy default stream

// Task 3. Later work in `waiting` runs after the present work of `working`. The host does not wait.
// Destroys every event that it makes. Makes no CUDA call if both are the same stream.
void wait_for(cudaStream_t waiting, cudaStream_t working);

// Task 4. A tensor that shares the array's memory, and keeps it until the tensor's deleter is
// called. The deleter also frees the tensor itself. The caller may change or destroy `array` at
// once. `data` is null if there are no elements; shape and strides are never null. consumer_stream
// is the number of the stream in which the consumer will use the tensor: that stream waits for the
// array's values. With kNoStream no stream waits. The first function refuses a read-only array; the
// second marks it as read-only.
DLManagedTensor* export_dlpack(const Array& array, int64_t consumer_stream);
DLManagedTensorVersioned* export_dlpack_versioned(const Array& array, int64_t consumer_stream);

// Task 5. An array of the same memory, which now owns the tensor: the deleter is called once, when
// the last copy of `memory` is gone. `stream` is the consumer's stream, whose number was passed to
// the producer. The functions refuse memory other than kDLCUDA and kDLCUDAManaged, types that Type
// cannot express, more than kMaxDims dimensions, and another major version. A refused tensor still
// belongs to the caller.
Array import_dlpack(DLManagedTensor* tensor, cudaStream_t stream);
Array import_dlpack_versioned(DLManagedTensorVersioned* tensor, cudaStream_t stream);

// Task 6. Describes the array. The description has strides even if the array is compact. The
// consumer must keep the array's memory alive, and wait for `stream`.
CudaArrayInterface export_cai(const Array& array);

// Task 7. An array of the same memory, which keeps `owner` as long as it exists: in Python, the
// object that has the interface. If `owner` is null, the caller keeps the memory alive. `stream` is
// the stream in which the array will be used: it waits for the producer's stream, if there is one.
// `device` becomes the current device. The function refuses types that Type cannot express, more
// than kMaxDims dimensions, and strides that are no multiple of an element's size.
Array import_cai(const CudaArrayInterface& cai, const std::shared_ptr<void>& owner,
                 cudaStream_t stream);

// Given. Multiplies every element by `factor`, in place, in the array's stream. The type is
// float32, float64, int32 or int64 (with a whole number as factor). Refuses other types, and
// read-only arrays.
void scale(const Array& array, double factor);

// Given. A new array of float64, compact: element i is first + i * step, computed in `stream`.
Array ramp(double first, double step, int64_t rows, int64_t columns, cudaStream_t stream);

// C functions for Python. They return 0, or 1 after a failure or a refusal; interop_error() is the
// text of the last failure. No exception leaves them. A stream is passed by its number.
extern "C" {
const char* interop_error();

// Given. Describes a new ramp(), computed in `stream`. Its memory exists until
// interop_delete(*owner).
int interop_new_ramp(double first, double step, int64_t rows, int64_t columns, int64_t stream,
                     CudaArrayInterface* array, void** owner);
void interop_delete(void* owner);

// Task 8. scale() for the caller's array. The work is put into array->stream, or into the legacy
// default stream if that is kNoStream.
int interop_scale(const CudaArrayInterface* array, double factor);

// Task 8. Exports a new ramp(), computed in `stream`, to a consumer that uses it in that stream.
int interop_ramp(double first, double step, int64_t rows, int64_t columns, int64_t stream,
                 DLManagedTensor** tensor);
}
