// SPDX-License-Identifier: MIT
// libcudart.so.12 as a program of CUDA 12 is linked with it: layouts, changed signatures, versions.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include "catch/catch.h"
#include "declarations.h"

using namespace cuda12;

namespace {

// Bytes that end where a page begins that cannot be touched: one byte too many is a crash.
class Fenced {
public:
    explicit Fenced(size_t bytes) : page_(size_t(sysconf(_SC_PAGESIZE))) {
        base_ = static_cast<char*>(
            mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
        REQUIRE(base_ != MAP_FAILED);
        REQUIRE(mprotect(base_ + page_, page_, PROT_NONE) == 0);
        data_ = base_ + page_ - bytes;
        std::memset(data_, 0, bytes);
    }
    ~Fenced() { munmap(base_, 2 * page_); }
    Fenced(const Fenced&) = delete;
    Fenced& operator=(const Fenced&) = delete;

    void* data() { return data_; }
    template <class T>
    T at(size_t offset) const {
        T value;
        std::memcpy(&value, data_ + offset, sizeof value);
        return value;
    }
    template <class T>
    void put(size_t offset, T value) {
        std::memcpy(data_ + offset, &value, sizeof value);
    }

private:
    const size_t page_;
    char* base_;
    char* data_;
};

int queries = 0;

int attribute(int which) {
    int value = -12345;
    CHECK(cudaDeviceGetAttribute(&value, which, 0) == kSuccess);
    return value;
}

// Where CUDA 12.4 to 12.9 have members of cudaDeviceProp, and the device attribute of the same
// value.
constexpr std::pair<size_t, int> kIntMembers[] = {
    {304, 12},   // regsPerBlock
    {308, 10},   // warpSize
    {320, 1},    // maxThreadsPerBlock
    {324, 2},    // maxThreadsDim[0]
    {344, 7},    // maxGridSize[2]
    {348, 13},   // clockRate
    {360, 75},   // major
    {364, 76},   // minor
    {384, 15},   // deviceOverlap
    {388, 16},   // multiProcessorCount
    {392, 17},   // kernelExecTimeoutEnabled
    {396, 18},   // integrated
    {400, 19},   // canMapHostMemory
    {404, 20},   // computeMode
    {408, 21},   // maxTexture1D
    {412, 77},   // maxTexture1DMipmap
    {416, 69},   // maxTexture1DLinear
    {420, 22},   // maxTexture2D[0]
    {556, 66},   // maxSurfaceCubemap
    {576, 31},   // concurrentKernels
    {584, 33},   // pciBusID
    {600, 40},   // asyncEngineCount
    {604, 41},   // unifiedAddressing
    {608, 36},   // memoryClockRate
    {612, 37},   // memoryBusWidth
    {616, 38},   // l2CacheSize
    {624, 39},   // maxThreadsPerMultiProcessor
    {636, 80},   // localL1CacheSupported
    {648, 82},   // regsPerMultiprocessor
    {652, 83},   // managedMemory
    {668, 87},   // singleToDoublePrecisionPerfRatio
    {676, 89},   // concurrentManagedAccess
    {684, 91},   // canUseHostPointerForRegisteredMem
    {688, 95},   // cooperativeLaunch
    {692, 96},   // cooperativeMultiDeviceLaunch
    {712, 106},  // maxBlocksPerMultiProcessor
};
// Members after the end of CUDA 11's structure.
constexpr std::pair<size_t, int> kNewerMembers[] = {
    {728, 99},   // hostRegisterSupported
    {736, 113},  // hostRegisterReadOnlySupported
    {744, 115},  // memoryPoolsSupported
};
constexpr std::pair<size_t, int> kSizeMembers[] = {
    {296, 8},    // sharedMemPerBlock
    {352, 9},    // totalConstMem
    {368, 14},   // textureAlignment
    {568, 30},   // surfaceAlignment
    {640, 81},   // sharedMemPerMultiprocessor
    {696, 97},   // sharedMemPerBlockOptin
    {720, 111},  // reservedSharedMemPerBlock
};

void check_members(const Fenced& properties) {
    for (const auto& [offset, which] : kIntMembers) {
        CAPTURE(offset, which);
        CHECK(properties.at<int>(offset) == attribute(which));
    }
    for (const auto& [offset, which] : kSizeMembers) {
        CAPTURE(offset, which);
        CHECK(properties.at<size_t>(offset) == size_t(attribute(which)));
    }
    size_t unused = 0, total = 0;
    REQUIRE(cudaMemGetInfo(&unused, &total) == kSuccess);
    CHECK(properties.at<size_t>(288) == total);
    CHECK(std::strstr(static_cast<const char*>(const_cast<Fenced&>(properties).data()),
                      "emulated device"));
}

int preferred_location(const void* memory, size_t bytes, int which) {
    int device = -12345;
    CHECK(cudaMemRangeGetAttribute(&device, sizeof device, which, memory, bytes) == kSuccess);
    return device;
}

}  // namespace

// A program may stand before a function of the library, as lesson 05's test does.
extern "C" int cudaStreamQuery(Stream stream) {
    ++queries;
    return reinterpret_cast<int (*)(Stream)>(dlsym(RTLD_NEXT, "cudaStreamQuery"))(stream);
}

TEST_CASE("a function of the program's own leads on to the library's", "[cuda12]") {
    queries = 0;
    CHECK(cudaStreamQuery(nullptr) == kSuccess);
    CHECK(queries == 1);
}

TEST_CASE("cudaDeviceProp has CUDA 12's layout and size", "[cuda12]") {
    Fenced properties(1032);
    REQUIRE(cudaGetDeviceProperties_v2(properties.data(), 0) == kSuccess);
    check_members(properties);
    for (const auto& [offset, which] : kNewerMembers) {
        CAPTURE(offset, which);
        CHECK(properties.at<int>(offset) == attribute(which));
    }
    CHECK(attribute(13) > 0);  // so that a clock rate of 0 would be seen
    CHECK(attribute(87) > 0);
    CHECK(cudaGetDeviceProperties_v2(properties.data(), 99) == kInvalidDevice);
    CHECK(cudaGetDeviceProperties_v2(nullptr, 0) == kInvalidValue);
    CHECK(cudaGetLastError() == kInvalidValue);
}

TEST_CASE("cudaGetDeviceProperties without a number fills in CUDA 11's structure", "[cuda12]") {
    Fenced properties(728);
    REQUIRE(cudaGetDeviceProperties(properties.data(), 0) == kSuccess);
    check_members(properties);
}

TEST_CASE("versions are CUDA 12's", "[cuda12]") {
    int runtime = 0, driver = 0;
    REQUIRE(cudaRuntimeGetVersion(&runtime) == kSuccess);
    REQUIRE(cudaDriverGetVersion(&driver) == kSuccess);
    CHECK(runtime == 12090);
    CHECK(driver >= runtime);
    CHECK(cudaRuntimeGetVersion(nullptr) == kInvalidValue);
}

TEST_CASE("a name that is looked up is CUDA 12's too", "[cuda12]") {
    void* library = dlopen("libcudart.so.12", RTLD_NOLOAD | RTLD_NOW);
    REQUIRE(library);
    using Advise = int (*)(const void*, size_t, int, int);
    const auto advise = reinterpret_cast<Advise>(dlsym(library, "cudaMemAdvise"));
    REQUIRE(advise);
    void* memory = nullptr;
    REQUIRE(cudaMallocManaged(&memory, 4096, kAttachGlobal) == kSuccess);
    CHECK(advise(memory, 4096, kAdviseSetPreferred, 0) == kSuccess);
    CHECK(preferred_location(memory, 4096, kRangePreferred) == 0);
    CHECK(cudaFree(memory) == kSuccess);
    dlclose(library);
}

TEST_CASE("libcudart.so.13 is the same device, with CUDA 13's layouts", "[cuda12]") {
    void* library = dlopen("libcudart.so.13", RTLD_NOLOAD | RTLD_NOW);
    REQUIRE(library);
    using Attributes = int (*)(void*, const void*);
    const auto attributes_13 =
        reinterpret_cast<Attributes>(dlsym(library, "cudaPointerGetAttributes"));
    REQUIRE(attributes_13);
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, 256) == kSuccess);
    Fenced attributes(88);
    CHECK(attributes_13(attributes.data(), memory) == kSuccess);
    CHECK(attributes.at<void*>(8) == memory);
    CHECK(cudaFree(memory) == kSuccess);
    dlclose(library);
}

TEST_CASE("cudaPointerGetAttributes writes 24 bytes", "[cuda12]") {
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, 256) == kSuccess);
    Fenced attributes(24);
    REQUIRE(cudaPointerGetAttributes(attributes.data(), memory) == kSuccess);
    CHECK(attributes.at<int>(0) == 2);  // cudaMemoryTypeDevice
    CHECK(attributes.at<int>(4) == 0);
    CHECK(attributes.at<void*>(8) == memory);
    CHECK(cudaPointerGetAttributes(nullptr, memory) == kInvalidValue);
    CHECK(cudaFree(memory) == kSuccess);
}

TEST_CASE("advice and prefetching take the number of a device", "[cuda12]") {
    constexpr size_t kBytes = 1 << 16;
    void* memory = nullptr;
    REQUIRE(cudaMallocManaged(&memory, kBytes, kAttachGlobal) == kSuccess);
    CHECK(cudaMemAdvise(memory, kBytes, kAdviseSetPreferred, kCpu) == kSuccess);
    CHECK(preferred_location(memory, kBytes, kRangePreferred) == kCpu);
    CHECK(cudaMemAdvise(memory, kBytes, kAdviseSetPreferred, 0) == kSuccess);
    CHECK(preferred_location(memory, kBytes, kRangePreferred) == 0);
    CHECK(cudaMemAdvise(memory, kBytes, kAdviseSetPreferred, 99) != kSuccess);
    CHECK(cudaMemAdvise_v2(memory, kBytes, kAdviseSetPreferred, {kLocationDevice, 99}) != kSuccess);
    CHECK(cudaMemAdvise_v2(memory, kBytes, kAdviseSetPreferred, {kLocationDevice, 0}) == kSuccess);

    CHECK(cudaMemPrefetchAsync(memory, kBytes, 0, nullptr) == kSuccess);
    CHECK(preferred_location(memory, kBytes, kRangeLastPrefetch) == 0);
    CHECK(cudaMemPrefetchAsync_ptsz(memory, kBytes, kCpu, nullptr) == kSuccess);
    CHECK(preferred_location(memory, kBytes, kRangeLastPrefetch) == kCpu);
    CHECK(cudaMemPrefetchAsync_v2(memory, kBytes, {kLocationDevice, 0}, 0, nullptr) == kSuccess);
    CHECK(preferred_location(memory, kBytes, kRangeLastPrefetch) == 0);
    CHECK(cudaMemPrefetchAsync(memory, kBytes, 99, nullptr) == kInvalidDevice);
    CHECK(cudaFree(memory) == kSuccess);
}

TEST_CASE("a batch of copies takes failIdx", "[cuda12]") {
    const auto batch = GENERATE(&cudaMemcpyBatchAsync, &cudaMemcpyBatchAsync_ptsz);
    std::vector<int> host{1, 2, 3, 4}, back(4);
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, 16) == kSuccess);
    Stream stream = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == kSuccess);
    void* to[] = {memory, static_cast<char*>(memory) + 8};
    void* from[] = {host.data(), host.data() + 2};
    size_t bytes[] = {8, 8}, index = 0, failed = 77;
    CopyAttributes attributes{1, {}, {}, 0};
    CHECK(batch(to, from, bytes, 2, &attributes, &index, 1, &failed, stream) == kSuccess);
    CHECK(failed == 77);
    CHECK(cudaMemcpy(back.data(), memory, 16, 2) == kSuccess);
    CHECK(back == host);
    CHECK(batch(nullptr, from, bytes, 2, &attributes, &index, 1, &failed, stream) == kInvalidValue);
    CHECK(failed == SIZE_MAX);
    CHECK(batch(nullptr, from, bytes, 2, &attributes, &index, 1, nullptr, stream) == kInvalidValue);
    CHECK(cudaStreamDestroy(stream) == kSuccess);
    CHECK(cudaFree(memory) == kSuccess);
}

TEST_CASE("texture objects take a resource of 64 bytes", "[cuda12]") {
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, 1024) == kSuccess);
    Fenced resource(64), texture(72), copy(64);
    resource.put<int>(0, 2);  // cudaResourceTypeLinear
    resource.put<void*>(8, memory);
    resource.put<int>(16, 32);  // 32 bits in x
    resource.put<int>(32, 2);   // cudaChannelFormatKindFloat
    resource.put<size_t>(40, 1024);
    unsigned long long object = 0;
    REQUIRE(cudaCreateTextureObject(&object, resource.data(), texture.data(), nullptr) == kSuccess);
    REQUIRE(cudaGetTextureObjectResourceDesc(copy.data(), object) == kSuccess);
    CHECK(copy.at<void*>(8) == memory);
    CHECK(copy.at<size_t>(40) == 1024);
    CHECK(cudaGetTextureObjectResourceDesc(nullptr, object) == kInvalidValue);
    CHECK(cudaCreateTextureObject(&object, nullptr, texture.data(), nullptr) == kInvalidValue);
    CHECK(cudaDestroyTextureObject(object) == kSuccess);
    CHECK(cudaFree(memory) == kSuccess);
}

TEST_CASE("graphs have edges with and without data", "[cuda12]") {
    Graph graph = nullptr;
    REQUIRE(cudaGraphCreate(&graph, 0) == kSuccess);
    Node a = nullptr, b = nullptr, c = nullptr;
    REQUIRE(cudaGraphAddEmptyNode(&a, graph, nullptr, 0) == kSuccess);
    REQUIRE(cudaGraphAddEmptyNode(&b, graph, nullptr, 0) == kSuccess);
    CHECK(cudaGraphAddDependencies(graph, &a, &b, 1) == kSuccess);

    int params[64] = {5};  // cudaGraphNodeParams, 256 bytes, of cudaGraphNodeTypeEmpty
    const Node needs[] = {b};
    CHECK(cudaGraphAddNode(&c, graph, needs, 1, params) == kSuccess);
    Node from[4]{}, to[4]{}, near[4]{};
    EdgeData data[4];
    size_t count = 4;
    CHECK(cudaGraphGetEdges(graph, from, to, &count) == kSuccess);
    REQUIRE(count == 2);
    CHECK(from[0] == a);
    CHECK(to[0] == b);
    CHECK(from[1] == b);
    CHECK(to[1] == c);
    count = 4;
    std::memset(data, 1, sizeof data);
    CHECK(cudaGraphGetEdges_v2(graph, from, to, data, &count) == kSuccess);
    CHECK(count == 2);
    CHECK(data[0].bytes[0] == 0);
    count = 4;
    CHECK(cudaGraphNodeGetDependencies(b, near, &count) == kSuccess);
    CHECK(count == 1);
    CHECK(near[0] == a);
    count = 4;
    CHECK(cudaGraphNodeGetDependencies_v2(c, near, data, &count) == kSuccess);
    CHECK(near[0] == b);
    count = 4;
    CHECK(cudaGraphNodeGetDependentNodes(a, near, &count) == kSuccess);
    CHECK(near[0] == b);
    count = 4;
    CHECK(cudaGraphNodeGetDependentNodes_v2(b, near, data, &count) == kSuccess);
    CHECK(near[0] == c);

    CHECK(cudaGraphRemoveDependencies(graph, &a, &b, 1) == kSuccess);
    CHECK(cudaGraphRemoveDependencies_v2(graph, &b, &c, nullptr, 1) == kSuccess);
    count = 4;
    CHECK(cudaGraphGetEdges(graph, from, to, &count) == kSuccess);
    CHECK(count == 0);
    CHECK(cudaGraphAddDependencies_v2(graph, &a, &c, nullptr, 1) == kSuccess);
    Node d = nullptr;
    CHECK(cudaGraphAddNode_v2(&d, graph, needs, nullptr, 1, params) == kSuccess);
    CHECK(cudaGraphDestroy(graph) == kSuccess);
}

TEST_CASE("a capture tells what CUDA 12 asks for", "[cuda12]") {
    const bool per_thread = GENERATE(false, true);
    const auto info = per_thread ? cudaStreamGetCaptureInfo_ptsz : cudaStreamGetCaptureInfo;
    const auto info_v2 =
        per_thread ? cudaStreamGetCaptureInfo_v2_ptsz : cudaStreamGetCaptureInfo_v2;
    const auto update =
        per_thread ? cudaStreamUpdateCaptureDependencies_ptsz : cudaStreamUpdateCaptureDependencies;
    Stream stream = nullptr;
    REQUIRE(cudaStreamCreate(&stream) == kSuccess);
    int status = -1;
    unsigned long long id = 0, same = 0;
    CHECK(info(stream, &status, &id) == kSuccess);
    CHECK(status == 0);
    REQUIRE(cudaStreamBeginCapture(stream, 2) == kSuccess);
    CHECK(info(stream, &status, &id) == kSuccess);
    CHECK(status == 1);
    Graph graph = nullptr, ended = nullptr;
    const Node* needs = nullptr;
    size_t count = 99;
    CHECK(info_v2(stream, &status, &same, &graph, &needs, &count) == kSuccess);
    CHECK(same == id);
    REQUIRE(graph);
    CHECK(count == 0);

    Node node = nullptr;
    REQUIRE(cudaGraphAddEmptyNode(&node, graph, nullptr, 0) == kSuccess);
    CHECK(update(stream, &node, 1, 0) == kSuccess);
    const EdgeData* edges = nullptr;
    CHECK(cudaStreamGetCaptureInfo_v3(stream, &status, &same, &graph, &needs, &edges, &count) ==
          kSuccess);
    REQUIRE(count == 1);
    CHECK(needs[0] == node);
    CHECK(cudaStreamUpdateCaptureDependencies_v2(stream, &node, nullptr, 1, 1) == kSuccess);
    CHECK(cudaStreamEndCapture(stream, &ended) == kSuccess);
    CHECK(cudaGraphDestroy(ended) == kSuccess);
    CHECK(cudaStreamDestroy(stream) == kSuccess);
}

TEST_CASE("what CUDA 13 has dropped still does its work", "[cuda12]") {
    size_t stack = 0, same = 0;
    CHECK(cudaThreadGetLimit(&stack, 0) == kSuccess);
    CHECK(cudaThreadSetLimit(0, stack + 1024) == kSuccess);
    CHECK(cudaDeviceGetLimit(&same, 0) == kSuccess);
    CHECK(same >= stack + 1024);
    CHECK(cudaThreadSetLimit(0, stack) == kSuccess);
    int config = -1;
    CHECK(cudaThreadSetCacheConfig(2) == kSuccess);
    CHECK(cudaThreadGetCacheConfig(&config) == kSuccess);
    CHECK(config == 2);
    CHECK(cudaThreadSetCacheConfig(0) == kSuccess);
    double number = 1.5;
    CHECK(cudaSetDoubleForDevice(&number) == kSuccess);
    CHECK(cudaSetDoubleForHost(&number) == kSuccess);
    CHECK(number == 1.5);
    CHECK(cudaLaunchCooperativeKernelMultiDevice(nullptr, 0, 0) == kNotSupported);
    CHECK(cudaGetLastError() == kNotSupported);
    CHECK(cudaThreadSynchronize() == kSuccess);
}

TEST_CASE("events are timed under both names", "[cuda12]") {
    Event begin = nullptr, end = nullptr;
    REQUIRE(cudaEventCreate(&begin) == kSuccess);
    REQUIRE(cudaEventCreate(&end) == kSuccess);
    CHECK(cudaEventRecord(begin, nullptr) == kSuccess);
    CHECK(cudaEventRecord(end, nullptr) == kSuccess);
    CHECK(cudaEventSynchronize(end) == kSuccess);
    float old_name = -1, new_name = -1;
    CHECK(cudaEventElapsedTime(&old_name, begin, end) == kSuccess);
    CHECK(cudaEventElapsedTime_v2(&new_name, begin, end) == kSuccess);
    CHECK(old_name == new_name);
    CHECK(new_name >= 0);
}

TEST_CASE("driver functions are found as CUDA 12 knows them", "[cuda12]") {
    void* function = nullptr;
    int status = -1;
    CHECK(cudaGetDriverEntryPoint("cuMemAlloc", &function, 0, &status) == kSuccess);
    CHECK(status == 0);
    CHECK(function == dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"));
}

TEST_CASE("a launch's configuration passes through", "[cuda12]") {
    CHECK(__cudaPushCallConfiguration({1, 2, 3}, {4, 5, 6}, 7, nullptr) == 0);
    Dim3 grid{}, block{};
    size_t shared = 0;
    Stream stream = nullptr;
    CHECK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream) == kSuccess);
    CHECK(grid.z == 3);
    CHECK(block.y == 5);
    CHECK(shared == 7);
}

// The last one: nothing of the device is left after it.
TEST_CASE("cudaThreadExit resets the device", "[cuda12]") {
    void* memory = nullptr;
    REQUIRE(cudaMalloc(&memory, 256) == kSuccess);
    CHECK(cudaThreadExit() == kSuccess);
    Fenced attributes(24);
    CHECK(cudaPointerGetAttributes(attributes.data(), memory) == kInvalidValue);
}
