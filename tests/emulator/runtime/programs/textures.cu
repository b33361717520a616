// SPDX-License-Identifier: MIT
// Textures and surfaces against a plain implementation of the programming guide's formulas on the
// host: every address mode, filter, read mode and texel type. Prints one line for each group.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>

static int failures = 0;

#define OK(call)                                                                                   \
    do {                                                                                           \
        const cudaError_t error = (call);                                                          \
        if (error != cudaSuccess) {                                                                \
            std::printf("line %d: %s\n", __LINE__, cudaGetErrorName(error));                       \
            ++failures;                                                                            \
        }                                                                                          \
    } while (0)

static void expect(const char* group, bool good) {
    std::printf("%s: %s\n", group, good ? "ok" : "WRONG");
    failures += !good;
}

// ---- the guide's formulas, in double -----------------------------------------------------------

struct Reference {
    int width, height;
    cudaTextureAddressMode mode;
    bool linear, normalized;
    std::vector<float> texels;
    float border = 0;

    float texel(long i, long j) const {
        const auto fold = [&](long k, long n) -> long {
            if (mode == cudaAddressModeBorder) return k < 0 || k >= n ? -1 : k;
            if (mode == cudaAddressModeWrap && normalized) return ((k % n) + n) % n;
            if (mode == cudaAddressModeMirror && normalized) {
                const long m = ((k % (2 * n)) + 2 * n) % (2 * n);
                return m < n ? m : 2 * n - 1 - m;
            }
            return k < 0 ? 0 : k >= n ? n - 1 : k;
        };
        const long x = fold(i, width), y = fold(j, height);
        return x < 0 || y < 0 ? border : texels[size_t(y * width + x)];
    }
    double at(float x, float y) const {
        double u = normalized ? double(x) * width : x, v = normalized ? double(y) * height : y;
        if (!linear) return texel(long(std::floor(u)), long(std::floor(v)));
        u -= 0.5, v -= 0.5;
        const long i = long(std::floor(u)), j = long(std::floor(v));
        const auto weight = [](double f) { return std::floor(f * 256 + 0.5) / 256; };
        const double a = weight(u - double(i)), b = weight(v - double(j));
        return (1 - a) * (1 - b) * texel(i, j) + a * (1 - b) * texel(i + 1, j) +
               (1 - a) * b * texel(i, j + 1) + a * b * texel(i + 1, j + 1);
    }
};

__global__ void sample(cudaTextureObject_t texture, const float2* at, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2D<float>(texture, at[i].x, at[i].y);
}

static void sampling() {
    const int width = 13, height = 7, n = 1000;
    Reference reference{width, height, cudaAddressModeClamp, false, false, {}, 2.5f};
    for (int i = 0; i < width * height; ++i) reference.texels.push_back(float((i * 37) % 101));
    cudaArray_t array = nullptr;
    const auto format = cudaCreateChannelDesc<float>();
    OK(cudaMallocArray(&array, &format, width, height));
    OK(cudaMemcpy2DToArray(array,
                           0,
                           0,
                           reference.texels.data(),
                           width * 4,
                           width * 4,
                           height,
                           cudaMemcpyHostToDevice));
    float2* at = nullptr;
    float* out = nullptr;
    OK(cudaMallocManaged(&at, n * sizeof *at));
    OK(cudaMallocManaged(&out, n * sizeof *out));
    const cudaTextureAddressMode modes[] = {
        cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder};
    const char* names[] = {"wrap", "clamp", "mirror", "border"};
    for (int mode = 0; mode < 4; ++mode) {
        for (int which = 0; which < 4; ++which) {
            reference.mode = modes[mode];
            reference.linear = which & 1;
            reference.normalized = which & 2;
            cudaResourceDesc resource{};
            resource.resType = cudaResourceTypeArray;
            resource.res.array.array = array;
            cudaTextureDesc texture{};
            texture.addressMode[0] = texture.addressMode[1] = modes[mode];
            texture.filterMode = reference.linear ? cudaFilterModeLinear : cudaFilterModePoint;
            texture.normalizedCoords = reference.normalized;
            texture.borderColor[0] = reference.border;
            cudaTextureObject_t object = 0;
            OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
            for (int i = 0; i < n; ++i) {
                // Multiples of 1/64 of a texel, from far outside to far outside.
                const float x = float((i * 7919) % 4096 - 1500) / 64, y = float(i % 900 - 300) / 64;
                at[i] = reference.normalized ? make_float2(x / 16, y / 8) : make_float2(x, y);
            }
            sample<<<(n + 127) / 128, 128>>>(object, at, out, n);
            OK(cudaDeviceSynchronize());
            bool good = true;
            for (int i = 0; i < n; ++i) {
                const double want = reference.at(at[i].x, at[i].y);
                // Normalized coordinates may round to the neighbouring 1/256 of a texel.
                const double tolerance =
                    reference.linear ? (reference.normalized ? 0.9 : 1e-4) : 0.0;
                good = good && std::fabs(out[i] - want) <= tolerance;
            }
            const std::string name = std::string("2D ") + names[mode] +
                                     (reference.linear ? " linear" : " point") +
                                     (reference.normalized ? " normalized" : "");
            expect(name.c_str(), good);
            OK(cudaDestroyTextureObject(object));
        }
    }
    OK(cudaFree(at));
    OK(cudaFree(out));
    OK(cudaFreeArray(array));
}

// ---- texel types -------------------------------------------------------------------------------

template <class T>
__global__ void fetch(cudaTextureObject_t texture, T* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<T>(texture, i);
}
__global__ void fetch_floats(cudaTextureObject_t texture, float4* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex1Dfetch<float4>(texture, i - 1);
}

template <class T>
static void element(const char* name) {
    const int n = 100;
    T *data = nullptr, *out = nullptr;
    OK(cudaMallocManaged(&data, n * sizeof(T)));
    OK(cudaMallocManaged(&out, n * sizeof(T)));
    for (size_t i = 0; i < n * sizeof(T); ++i)
        reinterpret_cast<unsigned char*>(data)[i] = (unsigned char)(i * 89 + 3);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.desc = cudaCreateChannelDesc<T>();
    resource.res.linear.sizeInBytes = n * sizeof(T);
    const cudaTextureDesc texture{};
    cudaTextureObject_t object = 0;
    OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    fetch<T><<<1, 128>>>(object, out, n);
    OK(cudaDeviceSynchronize());
    expect(name, std::memcmp(data, out, n * sizeof(T)) == 0);
    OK(cudaDestroyTextureObject(object));
    OK(cudaFree(data));
    OK(cudaFree(out));
}

template <class T>
static void normalized(const char* name, float most, bool is_signed) {
    const int n = 64;
    T* data = nullptr;
    float4* out = nullptr;
    OK(cudaMallocManaged(&data, n * sizeof(T)));
    OK(cudaMallocManaged(&out, (n + 2) * sizeof(float4)));
    for (size_t i = 0; i < n * sizeof(T); ++i)
        reinterpret_cast<unsigned char*>(data)[i] = (unsigned char)(i * 41 + 128);
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.desc = cudaCreateChannelDesc<T>();
    resource.res.linear.sizeInBytes = n * sizeof(T);
    cudaTextureDesc texture{};
    texture.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t object = 0;
    OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    fetch_floats<<<1, 128>>>(object, out, n + 2);
    OK(cudaDeviceSynchronize());
    bool good = out[0].x == 0 && out[0].w == 0 && out[n + 1].y == 0;  // outside: zero
    for (int i = 0; i < n; ++i) {
        const auto one = [&](float value) {
            const float unit = value / most;
            return is_signed && unit < -1 ? -1.0f : unit;
        };
        good =
            good && out[i + 1].x == one(float(data[i].x)) && out[i + 1].w == one(float(data[i].w));
    }
    expect(name, good);
    OK(cudaDestroyTextureObject(object));
    OK(cudaFree(data));
    OK(cudaFree(out));
}

// ---- other shapes ------------------------------------------------------------------------------

__global__ void shapes(cudaTextureObject_t volume, cudaTextureObject_t layered,
                       cudaTextureObject_t cube, cudaTextureObject_t mipmapped,
                       cudaTextureObject_t pitched, cudaTextureObject_t line, float* out) {
    out[0] = tex3D<float>(volume, 2.5f, 1.5f, 3.5f);
    out[1] = tex3D<float>(volume, 2.0f, 1.0f, 3.0f);  // the mean of eight texels when linear
    out[2] = tex2DLayered<float>(layered, 1.5f, 0.5f, 2);
    out[3] = tex2DLayered<float>(layered, 1.5f, 0.5f, 9);  // the layer is clamped
    out[4] = texCubemap<float>(cube, 1.0f, 0.1f, 0.1f);
    out[5] = texCubemap<float>(cube, -1.0f, 0.1f, 0.1f);
    out[6] = texCubemap<float>(cube, 0.1f, 1.0f, 0.1f);
    out[7] = texCubemap<float>(cube, 0.1f, 0.1f, -1.0f);
    out[8] = tex2DLod<float>(mipmapped, 0.5f, 0.5f, 0.0f);
    out[9] = tex2DLod<float>(mipmapped, 0.5f, 0.5f, 1.0f);
    out[10] = tex2DLod<float>(mipmapped, 0.5f, 0.5f, 1.5f);
    out[11] = tex2D<float>(pitched, 2.5f, 3.5f);
    const float4 g = tex2Dgather<float4>(pitched, 2.0f, 3.0f, 0);
    out[12] = g.x, out[13] = g.y, out[14] = g.z, out[15] = g.w;
    out[16] = tex1D<float>(line, 3.5f);
    out[17] = tex2DGrad<float>(mipmapped, 0.5f, 0.5f, make_float2(0.25f, 0), make_float2(0, 0));
    bool resident = false;
    out[18] = tex2D<float>(pitched, 0.5f, 0.5f, &resident);
    out[19] = resident;
}

static cudaArray_t array_3d(cudaExtent extent, unsigned flags, float step) {
    const auto format = cudaCreateChannelDesc<float>();
    cudaArray_t array = nullptr;
    OK(cudaMalloc3DArray(&array, &format, extent, flags));
    const size_t rows = extent.height ? extent.height : 1;
    std::vector<float> data(extent.width * rows * extent.depth);
    for (size_t i = 0; i < data.size(); ++i) data[i] = float(i) * step;
    cudaMemcpy3DParms copy{};
    copy.srcPtr = make_cudaPitchedPtr(data.data(), extent.width * 4, extent.width, rows);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(extent.width, rows, extent.depth);
    copy.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&copy));
    std::vector<float> back(data.size());
    cudaMemcpy3DParms home{};
    home.srcArray = array;
    home.dstPtr = make_cudaPitchedPtr(back.data(), extent.width * 4, extent.width, rows);
    home.extent = copy.extent;
    home.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&home));
    expect("3D copy to an array and back", back == data);
    return array;
}

static cudaTextureObject_t object_of(const cudaResourceDesc& resource, bool linear,
                                     bool normalized) {
    cudaTextureDesc texture{};
    for (auto& mode : texture.addressMode) mode = cudaAddressModeClamp;
    texture.filterMode = texture.mipmapFilterMode =
        linear ? cudaFilterModeLinear : cudaFilterModePoint;
    texture.normalizedCoords = normalized;
    texture.maxMipmapLevelClamp = 10;
    cudaTextureObject_t object = 0;
    OK(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
    return object;
}
static cudaResourceDesc resource_of(cudaArray_t array) {
    cudaResourceDesc resource{};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    return resource;
}

static void other_shapes() {
    const cudaArray_t volume = array_3d({5, 4, 6}, 0, 1),
                      layers = array_3d({3, 2, 4}, cudaArrayLayered, 1),
                      cube = array_3d({2, 2, 6}, cudaArrayCubemap, 1);
    const auto format = cudaCreateChannelDesc<float>();
    cudaMipmappedArray_t pyramid = nullptr;
    OK(cudaMallocMipmappedArray(&pyramid, &format, {4, 4, 0}, 3));
    for (unsigned level = 0; level < 3; ++level) {
        cudaArray_t part = nullptr;
        OK(cudaGetMipmappedArrayLevel(&part, pyramid, level));
        const size_t side = 4u >> level;
        const std::vector<float> fill(side * side, float(10 * (level + 1)));
        OK(cudaMemcpy2DToArray(
            part, 0, 0, fill.data(), side * 4, side * 4, side, cudaMemcpyHostToDevice));
    }
    float *pitched = nullptr, *out = nullptr;
    size_t pitch = 0;
    OK(cudaMallocPitch(&pitched, &pitch, 5 * 4, 6));
    std::vector<float> rows(30);
    for (int i = 0; i < 30; ++i) rows[i] = float(i);
    OK(cudaMemcpy2D(pitched, pitch, rows.data(), 20, 20, 6, cudaMemcpyHostToDevice));
    cudaResourceDesc flat{};
    flat.resType = cudaResourceTypePitch2D;
    flat.res.pitch2D = {pitched, format, 5, 6, pitch};
    cudaArray_t line = nullptr;
    OK(cudaMallocArray(&line, &format, 30));
    OK(cudaMemcpyToArray(line, 0, 0, rows.data(), 120, cudaMemcpyHostToDevice));
    cudaResourceDesc levels{};
    levels.resType = cudaResourceTypeMipmappedArray;
    levels.res.mipmap.mipmap = pyramid;
    OK(cudaMallocManaged(&out, 20 * sizeof *out));
    const cudaTextureObject_t objects[] = {object_of(resource_of(volume), true, false),
                                           object_of(resource_of(layers), false, false),
                                           object_of(resource_of(cube), false, true),
                                           object_of(levels, true, true),
                                           object_of(flat, false, false),
                                           object_of(resource_of(line), false, false)};
    shapes<<<1, 1>>>(objects[0], objects[1], objects[2], objects[3], objects[4], objects[5], out);
    OK(cudaDeviceSynchronize());
    const auto texel = [](int x, int y, int z) { return float((z * 4 + y) * 5 + x); };
    float mean = 0;
    for (int k = 0; k < 8; ++k) mean += texel(1 + (k & 1), k >> 1 & 1, 2 + (k >> 2)) / 8;
    expect("3D texel centre", out[0] == texel(2, 1, 3));
    expect("3D linear between texels", out[1] == mean);
    expect("2D layered", out[2] == 13 && out[3] == 19);
    expect("cubemap faces",
           out[4] < 4 && out[5] >= 4 && out[5] < 8 && out[6] >= 8 && out[6] < 12 && out[7] >= 20);
    expect("mipmap levels", out[8] == 10 && out[9] == 20 && out[10] == 25);
    expect("pitched", out[11] == 17);
    expect("gather", out[12] == 16 && out[13] == 17 && out[14] == 12 && out[15] == 11);
    expect("1D array", out[16] == 3);
    expect("gradients", out[17] == 10);
    expect("residency", out[18] == 0 && out[19] == 1);
    for (const cudaTextureObject_t object : objects) OK(cudaDestroyTextureObject(object));
    OK(cudaFreeArray(volume));
    OK(cudaFreeArray(layers));
    OK(cudaFreeArray(cube));
    OK(cudaFreeArray(line));
    OK(cudaFreeMipmappedArray(pyramid));
    OK(cudaFree(pitched));
    OK(cudaFree(out));
}

// ---- surfaces ----------------------------------------------------------------------------------

__global__ void invert(cudaSurfaceObject_t from, cudaSurfaceObject_t to, int width, int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    uchar4 c = surf2Dread<uchar4>(from, x * int(sizeof c), y);
    c.x = 255 - c.x;
    surf2Dwrite(c, to, x * int(sizeof c), y);
}
__global__ void boundaries(cudaSurfaceObject_t surface, int* out, cudaSurfaceObject_t volume) {
    out[0] = surf2Dread<int>(surface, 100 * 4, 1, cudaBoundaryModeZero);
    out[1] = surf2Dread<int>(surface, 100 * 4, 1, cudaBoundaryModeClamp);
    surf2Dwrite(77, surface, -4, 0, cudaBoundaryModeZero);
    surf2Dwrite(99, surface, 100 * 4, 100, cudaBoundaryModeClamp);
    float value = 1.5f;
    surf3Dwrite(value, volume, 2 * 4, 1, 3);
    surf3Dread(&value, volume, 2 * 4, 1, 3);
    out[2] = int(value * 2);
}

static void surfaces() {
    const int width = 33, height = 9;
    const auto format = cudaCreateChannelDesc<uchar4>(), number = cudaCreateChannelDesc<int>(),
               real = cudaCreateChannelDesc<float>();
    cudaArray_t from = nullptr, to = nullptr, small = nullptr, volume = nullptr;
    OK(cudaMallocArray(&from, &format, width, height, cudaArraySurfaceLoadStore));
    OK(cudaMallocArray(&to, &format, width, height, cudaArraySurfaceLoadStore));
    OK(cudaMallocArray(&small, &number, 4, 3, cudaArraySurfaceLoadStore));
    OK(cudaMalloc3DArray(&volume, &real, {4, 3, 5}, cudaArraySurfaceLoadStore));
    std::vector<unsigned char> data(width * height * 4), back(data.size());
    for (size_t i = 0; i < data.size(); ++i) data[i] = (unsigned char)(i * 5);
    OK(cudaMemcpy2DToArray(
        from, 0, 0, data.data(), width * 4, width * 4, height, cudaMemcpyHostToDevice));
    cudaSurfaceObject_t a = 0, b = 0, c = 0, d = 0;
    const auto made = [](cudaSurfaceObject_t& object, cudaArray_t array) {
        const cudaResourceDesc resource = resource_of(array);
        OK(cudaCreateSurfaceObject(&object, &resource));
    };
    made(a, from), made(b, to), made(c, small), made(d, volume);
    invert<<<dim3(3, 2), dim3(16, 8)>>>(a, b, width, height);
    OK(cudaMemcpy2DFromArray(
        back.data(), width * 4, to, 0, 0, width * 4, height, cudaMemcpyDeviceToHost));
    bool good = true;
    for (size_t i = 0; i < data.size(); ++i)
        good = good && back[i] == (i % 4 ? data[i] : (unsigned char)(255 - data[i]));
    expect("surface read and write", good);
    std::vector<int> numbers(12);
    for (int i = 0; i < 12; ++i) numbers[i] = i + 1;
    OK(cudaMemcpy2DToArray(small, 0, 0, numbers.data(), 16, 16, 3, cudaMemcpyHostToDevice));
    int* out = nullptr;
    OK(cudaMallocManaged(&out, 3 * sizeof *out));
    boundaries<<<1, 1>>>(c, out, d);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy2DFromArray(numbers.data(), 16, small, 0, 0, 16, 3, cudaMemcpyDeviceToHost));
    expect("surface boundaries",
           out[0] == 0 && out[1] == 8 && numbers[0] == 1 && numbers[11] == 99);
    expect("3D surface", out[2] == 3);
    for (const cudaSurfaceObject_t object : {a, b, c, d}) OK(cudaDestroySurfaceObject(object));
    for (const cudaArray_t array : {from, to, small, volume}) OK(cudaFreeArray(array));
    OK(cudaFree(out));
}

int main() {
    sampling();
    element<float>("element float");
    element<float4>("element float4");
    element<int>("element int");
    element<uint2>("element uint2");
    element<signed char>("element signed char");
    element<uchar4>("element uchar4");
    element<short2>("element short2");
    element<unsigned short>("element unsigned short");
    normalized<uchar4>("normalized uchar4", 255, false);
    normalized<char4>("normalized char4", 127, true);
    normalized<ushort4>("normalized ushort4", 65535, false);
    normalized<short4>("normalized short4", 32767, true);
    other_shapes();
    surfaces();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
