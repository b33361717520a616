// SPDX-License-Identifier: MIT
// Lesson 39, Python interoperability: arrays handed to other libraries and taken from them, by two
// protocols and without a copy.
// Start with README.md in this directory; `make 39` checks this file.
#include "python_interop.h"

#include <cstring>

constexpr int kThreads = 256;

// TODO 1 (about 13 lines): write both functions. In row_major, go from the last dimension to the
// first; in position, find the indexes of element i in the same order.
Layout row_major(int ndim, const int64_t*) {
    Layout layout{};
    layout.ndim = ndim;
    return layout;
}
__host__ __device__ int64_t position(const Layout&, int64_t i) {
    return i;
}
// END 1

// Whether this is a valid Type. Finished.
bool known(Type type) {
    const bool size = type.bytes == 2 || type.bytes == 4 || type.bytes == 8;
    return type.kind == 'f' ? size
                            : (type.kind == 'i' || type.kind == 'u') && (size || type.bytes == 1);
}

// TODO 2 (about 20 lines): translate types in both directions. For types that Type cannot express,
// `throw InteropError("why")`.
DLDataType dlpack_type(Type) {
    return {};
}
Type type_from_dlpack(DLDataType) {
    return {};
}
void write_typestr(Type, char typestr[8]) {
    std::memset(typestr, 0, 8);
}
Type type_from_typestr(const char*) {
    return {};
}
// END 2

// An event that is destroyed even if a call fails. Streams that already wait for it still wait.
// Finished.
struct Event {
    Event() { CUDA_CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming)); }
    ~Event() { cudaEventDestroy(event); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    cudaEvent_t event;
};

// TODO 3 (about 14 lines): translate streams and their numbers, and let one stream wait for the
// other by an Event. Null and cudaStreamLegacy are the same stream.
cudaStream_t stream_from_number(int64_t) {
    return nullptr;
}
int64_t number_of_stream(cudaStream_t) {
    return 0;
}
void wait_for(cudaStream_t, cudaStream_t) {}
// END 3

// A tensor and everything that it points to. Managed is one of DLPack's two structures.
template <class Managed>
struct Exported {
    Array array;  // a copy, which keeps the memory alive
    Managed managed;
};

// TODO 4 (about 18 lines): write release(), the deleter, which deletes the object that
// export_tensor() makes. In export_tensor(), let the consumer's stream wait, if there is one. Make
// an Exported<Managed> with new, and fill in all fields of its tensor except version and flags.
template <class Managed>
void release(Managed*) {}
template <class Managed>
Managed* export_tensor(const Array&, int64_t) {
    return nullptr;
}
// END 4

DLManagedTensor* export_dlpack(const Array& array, int64_t consumer_stream) {
    if (array.read_only) throw InteropError("this form of DLPack cannot say read-only");
    return export_tensor<DLManagedTensor>(array, consumer_stream);
}

DLManagedTensorVersioned* export_dlpack_versioned(const Array& array, int64_t consumer_stream) {
    auto* managed = export_tensor<DLManagedTensorVersioned>(array, consumer_stream);
    if (!managed) return nullptr;  // task 4 is not written yet
    managed->version = kDLPackVersion;
    managed->flags = array.read_only ? kDLReadOnly : 0;
    return managed;
}

template <class Managed>
Array import_tensor(Managed* managed, cudaStream_t stream) {
    Array array{};
    array.stream = stream;
    // TODO 5 (about 18 lines): refuse tensors as the header says. Set type, layout and device.
    // Last, let `memory` point to the first element, with a function that calls the deleter.
    (void)managed;
    // END 5
    return array;
}

Array import_dlpack(DLManagedTensor* tensor, cudaStream_t stream) {
    return import_tensor(tensor, stream);
}

Array import_dlpack_versioned(DLManagedTensorVersioned* tensor, cudaStream_t stream) {
    if (tensor->version.major != kDLPackVersion.major)
        throw InteropError("version %lld of DLPack is not known", tensor->version.major);
    Array array = import_tensor(tensor, stream);
    array.read_only = (tensor->flags & kDLReadOnly) != 0;
    return array;
}

CudaArrayInterface export_cai(const Array& array) {
    CudaArrayInterface cai{};
    // TODO 6 (about 11 lines): describe the array.
    (void)array;
    // END 6
    return cai;
}

Array import_cai(const CudaArrayInterface& cai, [[maybe_unused]] const std::shared_ptr<void>& owner,
                 cudaStream_t stream) {
    Array array{};
    array.stream = stream;
    CUDA_CHECK(cudaGetDevice(&array.device));
    // TODO 7 (about 14 lines): refuse interfaces as the header says. Set type, layout and
    // read_only. Let the stream wait, and let `memory` point to the first element and share the
    // owner.
    (void)cai;
    // END 7
    return array;
}

// Finished, with its launches.
template <class T>
__global__ void scale_kernel(T* first, Layout layout, int64_t count, T factor) {
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < count) first[position(layout, i)] *= factor;
}

template <class T>
void launch_scale(const Array& array, double factor) {
    const int64_t count = element_count(array.layout);
    if (count == 0) return;
    scale_kernel<<<unsigned((count + kThreads - 1) / kThreads), kThreads, 0, array.stream>>>(
        static_cast<T*>(first_element(array)), array.layout, count, T(factor));
    CUDA_CHECK(cudaGetLastError());
}

void scale(const Array& array, double factor) {
    if (array.read_only) throw InteropError("the array is read-only");
    const bool real = array.type.kind == 'f', whole = array.type.kind == 'i';
    if (real && array.type.bytes == 4) return launch_scale<float>(array, factor);
    if (real && array.type.bytes == 8) return launch_scale<double>(array, factor);
    if (whole && array.type.bytes == 4) return launch_scale<int32_t>(array, factor);
    if (whole && array.type.bytes == 8) return launch_scale<int64_t>(array, factor);
    throw InteropError("scale() has no kernel for elements of %lld bytes of this kind",
                       array.type.bytes);
}

__global__ void ramp_kernel(double* out, int64_t count, double first, double step) {
    const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < count) out[i] = first + double(i) * step;
}

Array ramp(double first, double step, int64_t rows, int64_t columns, cudaStream_t stream) {
    const int64_t shape[] = {rows, columns}, strides[] = {columns, 1}, count = rows * columns;
    Array array{};
    array.type = {'f', 8};
    array.layout.ndim = 2;
    std::memcpy(array.layout.shape, shape, sizeof shape);
    std::memcpy(array.layout.strides, strides, sizeof strides);
    array.stream = stream;
    CUDA_CHECK(cudaGetDevice(&array.device));
    if (count == 0) return array;
    void* memory = nullptr;
    CUDA_CHECK(cudaMalloc(&memory, count * sizeof(double)));
    array.memory = std::shared_ptr<void>(memory, cudaFree);
    ramp_kernel<<<unsigned((count + kThreads - 1) / kThreads), kThreads, 0, stream>>>(
        static_cast<double*>(memory), count, first, step);
    CUDA_CHECK(cudaGetLastError());
    return array;
}

// The text of the last failure.
char last_error[200];

extern "C" const char* interop_error() {
    return last_error;
}

// Finished, as a model for the next two.
extern "C" int interop_new_ramp(double first, double step, int64_t rows, int64_t columns,
                                int64_t stream, CudaArrayInterface* array, void** owner) {
    try {
        auto made =
            std::make_unique<Array>(ramp(first, step, rows, columns, stream_from_number(stream)));
        *array = export_cai(*made);
        *owner = made.release();
        return 0;
    } catch (const std::exception& error) {
        std::snprintf(last_error, sizeof last_error, "%s", error.what());
        return 1;
    }
}

extern "C" void interop_delete(void* owner) {
    delete static_cast<Array*>(owner);
}

// TODO 8 (about 18 lines): import and scale; make a ramp and export it. For every exception, copy
// its text to last_error and return 1. interop_scale uses the array only during the call, so it
// needs no owner.
extern "C" int interop_scale(const CudaArrayInterface*, double) {
    std::strcpy(last_error, "interop_scale is not written yet");
    return 2;
}
extern "C" int interop_ramp(double, double, int64_t, int64_t, int64_t, DLManagedTensor**) {
    std::strcpy(last_error, "interop_ramp is not written yet");
    return 2;
}
// END 8
