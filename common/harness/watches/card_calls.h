// SPDX-License-Identifier: MIT
// The part of cuda_calls.cpp that is about the card that a program sees; included there,
// by nothing else.

WB_RUNTIME cudaGetDevice(int* device) {
    using Function = cudaError_t(int*);
    WB_ENTER({"cudaGetDevice"});
    const wb::CallWatch* watch = wb::CallWatch::current();
    if (!watch || !watch->card) return WB_REAL(cudaGetDevice)(device);
    *device = watch->card_index;
    return cudaSuccess;
}

WB_RUNTIME cudaGetDeviceCount(int* count) {
    using Function = cudaError_t(int*);
    WB_ENTER({"cudaGetDeviceCount"});
    const wb::CallWatch* watch = wb::CallWatch::current();
    if (!watch || !watch->card) return WB_REAL(cudaGetDeviceCount)(count);
    *count = watch->card_index + 1;
    return cudaSuccess;
}

WB_RUNTIME cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
    using Function = cudaError_t(cudaDeviceProp*, int);
    WB_ENTER({"cudaGetDeviceProperties"});
    const wb::CallWatch* watch = wb::CallWatch::current();
    if (!watch || !watch->card || device != watch->card_index)
        return WB_REAL(cudaGetDeviceProperties)(properties, device);
    *properties = *watch->card;
    return cudaSuccess;
}

// The first is C's; the template of the same name, which kernels are passed to, calls the second.
WB_RUNTIME cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* kernel,
                                                         int threads, size_t shared) {
    using Function = cudaError_t(int*, const void*, int, size_t);
    WB_ENTER({"cudaOccupancyMaxActiveBlocksPerMultiprocessor"});
    const auto result =
        WB_REAL(cudaOccupancyMaxActiveBlocksPerMultiprocessor)(blocks, kernel, threads, shared);
    const wb::CallWatch* watch = wb::CallWatch::current();
    if (result == cudaSuccess && watch) *blocks = watch->blocks_that_fit.value_or(*blocks);
    return result;
}

WB_RUNTIME cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* kernel,
                                                                  int threads, size_t shared,
                                                                  unsigned flags) {
    using Function = cudaError_t(int*, const void*, int, size_t, unsigned);
    WB_ENTER({"cudaOccupancyMaxActiveBlocksPerMultiprocessor"});
    const auto result = WB_REAL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(
        blocks, kernel, threads, shared, flags);
    const wb::CallWatch* watch = wb::CallWatch::current();
    if (result == cudaSuccess && watch) *blocks = watch->blocks_that_fit.value_or(*blocks);
    return result;
}

WB_RUNTIME cudaMemGetInfo(size_t* free, size_t* total) {
    using Function = cudaError_t(size_t*, size_t*);
    WB_ENTER({"cudaMemGetInfo"});
    const cudaError_t result = WB_REAL(cudaMemGetInfo)(free, total);
    const wb::CallWatch* watch = wb::CallWatch::current();
    if (result == cudaSuccess && watch && watch->card) *total = watch->card->totalGlobalMem;
    return result;
}

WB_RUNTIME cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
    using Function = cudaError_t(int*, cudaDeviceAttr, int);
    WB_ENTER({"cudaDeviceGetAttribute"});
    const wb::CallWatch* watch = wb::CallWatch::current();
    if (watch && watch->card && device == watch->card_index) {
        const cudaDeviceProp& card = *watch->card;
        const std::map<cudaDeviceAttr, int> known{
            {cudaDevAttrMultiProcessorCount, card.multiProcessorCount},
            {cudaDevAttrWarpSize, card.warpSize},
            {cudaDevAttrMaxThreadsPerBlock, card.maxThreadsPerBlock},
            {cudaDevAttrMaxSharedMemoryPerBlock, int(card.sharedMemPerBlock)},
            {cudaDevAttrComputeCapabilityMajor, card.major},
            {cudaDevAttrComputeCapabilityMinor, card.minor}};
        if (const auto found = known.find(attribute); found != known.end()) {
            *value = found->second;
            return cudaSuccess;
        }
    }
    return WB_REAL(cudaDeviceGetAttribute)(value, attribute, device);
}
