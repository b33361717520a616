// SPDX-License-Identifier: MIT
// Lesson 39, Python interoperability: arrays handed to other libraries and taken from them, by two
// protocols and without a copy.
// Start with README.md in this directory; `make 39` checks this file.
#include "python_interop.h"

#include <cstring>

constexpr int kThreads = 256;

// TODO 1 (about 13 lines): write both functions. In row_major, go from the last dimension to the
// first; in position, find the indexes of element i in the same order.
//| Layout row_major(int ndim, const int64_t*) {
//|     Layout layout{};
//|     layout.ndim = ndim;
//|     return layout;
//| }
//|
//| __host__ __device__ int64_t position(const Layout&, int64_t i) {
//|     return i;
//| }
Layout row_major(int ndim, const int64_t* shape) {
    Layout layout{};
    layout.ndim = ndim;
    int64_t stride = 1;
    for (int d = ndim - 1; d >= 0; --d) {
        layout.shape[d] = shape[d];
        layout.strides[d] = stride;
        stride *= shape[d];
    }
    return layout;
}

__host__ __device__ int64_t position(const Layout& layout, int64_t i) {
    int64_t at = 0;
    for (int d = layout.ndim - 1; d >= 0; --d) {
        at += i % layout.shape[d] * layout.strides[d];
        i /= layout.shape[d];
    }
    return at;
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
//| DLDataType dlpack_type(Type) {
//|     return {};
//| }
//|
//| Type type_from_dlpack(DLDataType) {
//|     return {};
//| }
//|
//| void write_typestr(Type, char typestr[8]) {
//|     std::memset(typestr, 0, 8);
//| }
//|
//| Type type_from_typestr(const char*) {
//|     return {};
//| }
DLDataType dlpack_type(Type type) {
    const uint8_t code = type.kind == 'f' ? kDLFloat : type.kind == 'i' ? kDLInt : kDLUInt;
    return {code, uint8_t(8 * type.bytes), 1};
}

Type type_from_dlpack(DLDataType type) {
    if (type.code > kDLFloat || type.bits % 8 != 0 || type.lanes != 1)
        throw InteropError("elements of DLPack's type %lld are not supported", type.code);
    const char kinds[] = {'i', 'u', 'f'};  // in the order of DLPack's codes
    const Type found{kinds[type.code], type.bits / 8};
    if (!known(found)) throw InteropError("elements of %lld bits are not supported", type.bits);
    return found;
}

void write_typestr(Type type, char typestr[8]) {
    std::memset(typestr, 0, 8);
    typestr[0] = type.bytes == 1 ? '|' : '<';
    typestr[1] = type.kind;
    typestr[2] = char('0' + type.bytes);
}

Type type_from_typestr(const char* typestr) {
    if (std::strlen(typestr) != 3) throw InteropError("a typestr of this length is not supported");
    const Type type{typestr[1], typestr[2] - '0'};
    const bool order = typestr[0] == '<' || (typestr[0] == '|' && type.bytes == 1);
    if (!order || !known(type)) throw InteropError("this typestr is not supported");
    return type;
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
//| cudaStream_t stream_from_number(int64_t) {
//|     return nullptr;
//| }
//|
//| int64_t number_of_stream(cudaStream_t) {
//|     return 0;
//| }
//|
//| void wait_for(cudaStream_t, cudaStream_t) {}
cudaStream_t stream_from_number(int64_t number) {
    if (number <= 0) throw InteropError("%lld is not the number of a stream", number);
    if (number == 1) return cudaStreamLegacy;
    if (number == 2) return cudaStreamPerThread;
    return reinterpret_cast<cudaStream_t>(number);
}

int64_t number_of_stream(cudaStream_t stream) {
    if (stream == nullptr || stream == cudaStreamLegacy) return 1;
    if (stream == cudaStreamPerThread) return 2;
    return reinterpret_cast<int64_t>(stream);
}

void wait_for(cudaStream_t waiting, cudaStream_t working) {
    if (number_of_stream(waiting) == number_of_stream(working)) return;
    const Event done;
    CUDA_CHECK(cudaEventRecord(done.event, working));
    CUDA_CHECK(cudaStreamWaitEvent(waiting, done.event, 0));
}
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
//| template <class Managed>
//| void release(Managed*) {}
//|
//| template <class Managed>
//| Managed* export_tensor(const Array&, int64_t) {
//|     return nullptr;
//| }
template <class Managed>
void release(Managed* self) {
    delete static_cast<Exported<Managed>*>(self->manager_ctx);
}

template <class Managed>
Managed* export_tensor(const Array& array, int64_t consumer_stream) {
    if (consumer_stream != kNoStream) wait_for(stream_from_number(consumer_stream), array.stream);
    auto* exported = new Exported<Managed>{array, {}};
    Layout& layout = exported->array.layout;
    DLTensor& tensor = exported->managed.dl_tensor;
    tensor.data = element_count(layout) == 0 ? nullptr : first_element(array);
    tensor.device = {kDLCUDA, array.device};
    tensor.ndim = layout.ndim;
    tensor.dtype = dlpack_type(array.type);
    tensor.shape = layout.shape;
    tensor.strides = layout.strides;
    tensor.byte_offset = 0;
    exported->managed.manager_ctx = exported;
    exported->managed.deleter = release<Managed>;
    return &exported->managed;
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
    //| (void)managed;
    const DLTensor& tensor = managed->dl_tensor;
    if (tensor.device.device_type != kDLCUDA && tensor.device.device_type != kDLCUDAManaged)
        throw InteropError("memory of device type %lld is not a card's", tensor.device.device_type);
    if (tensor.ndim < 0 || tensor.ndim > kMaxDims)
        throw InteropError("%lld dimensions are not supported", tensor.ndim);
    array.type = type_from_dlpack(tensor.dtype);
    array.layout = row_major(tensor.ndim, tensor.shape);
    if (tensor.strides)
        for (int d = 0; d < tensor.ndim; ++d) array.layout.strides[d] = tensor.strides[d];
    array.device = tensor.device.device_id;
    void* first = tensor.data ? static_cast<char*>(tensor.data) + tensor.byte_offset : nullptr;
    array.memory = std::shared_ptr<void>(first, [managed](void*) {
        if (managed->deleter) managed->deleter(managed);
    });
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
    //| (void)array;
    const Layout& layout = array.layout;
    cai.data = element_count(layout) == 0 ? nullptr : first_element(array);
    cai.read_only = array.read_only;
    cai.ndim = layout.ndim;
    for (int d = 0; d < layout.ndim; ++d) {
        cai.shape[d] = layout.shape[d];
        cai.strides[d] = layout.strides[d] * array.type.bytes;
    }
    cai.has_strides = 1;
    write_typestr(array.type, cai.typestr);
    cai.stream = number_of_stream(array.stream);
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
    //| (void)cai;
    if (cai.ndim < 0 || cai.ndim > kMaxDims)
        throw InteropError("%lld dimensions are not supported", cai.ndim);
    array.type = type_from_typestr(cai.typestr);
    array.layout = row_major(cai.ndim, cai.shape);
    for (int d = 0; d < cai.ndim && cai.has_strides; ++d) {
        if (cai.strides[d] % array.type.bytes != 0)
            throw InteropError("a stride of %lld bytes is no multiple of the element",
                               cai.strides[d]);
        array.layout.strides[d] = cai.strides[d] / array.type.bytes;
    }
    array.read_only = cai.read_only != 0;
    if (cai.stream != kNoStream) wait_for(stream, stream_from_number(cai.stream));
    array.memory = std::shared_ptr<void>(owner, cai.data);
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
//| extern "C" int interop_scale(const CudaArrayInterface*, double) {
//|     std::strcpy(last_error, "interop_scale is not written yet");
//|     return 2;
//| }
//|
//| extern "C" int interop_ramp(double, double, int64_t, int64_t, int64_t, DLManagedTensor**) {
//|     std::strcpy(last_error, "interop_ramp is not written yet");
//|     return 2;
//| }
extern "C" int interop_scale(const CudaArrayInterface* array, double factor) {
    try {
        const int64_t stream = array->stream == kNoStream ? 1 : array->stream;
        scale(import_cai(*array, nullptr, stream_from_number(stream)), factor);
        return 0;
    } catch (const std::exception& error) {
        std::snprintf(last_error, sizeof last_error, "%s", error.what());
        return 1;
    }
}

extern "C" int interop_ramp(double first, double step, int64_t rows, int64_t columns,
                            int64_t stream, DLManagedTensor** tensor) {
    try {
        *tensor =
            export_dlpack(ramp(first, step, rows, columns, stream_from_number(stream)), stream);
        return 0;
    } catch (const std::exception& error) {
        std::snprintf(last_error, sizeof last_error, "%s", error.what());
        return 1;
    }
}
// END 8
