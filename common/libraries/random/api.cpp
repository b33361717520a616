// SPDX-License-Identifier: MIT
// cuRAND's host interface. Every pseudorandom generator is Philox here: the distributions are
// cuRAND's, the sequences of numbers are not.
#include <cmath>
#include <cstddef>

#include "curand.h"
#include "random/philox.h"
#include "stand_in.h"

struct curandGenerator_st {
    bool on_host = false;
    uint64_t seed = 0, position = 0;  // position: of the next 32-bit number
    cudaStream_t stream = nullptr;
};

namespace random_numbers {
namespace {

stand_in::Handles<curandGenerator_st>& generators() {
    static auto& instance = *new stand_in::Handles<curandGenerator_st>;
    return instance;
}

const char* status_name(curandStatus_t status) {
    switch (status) {
    case CURAND_STATUS_NOT_INITIALIZED:
        return "CURAND_STATUS_NOT_INITIALIZED";
    case CURAND_STATUS_TYPE_ERROR:
        return "CURAND_STATUS_TYPE_ERROR";
    case CURAND_STATUS_OUT_OF_RANGE:
        return "CURAND_STATUS_OUT_OF_RANGE";
    case CURAND_STATUS_LENGTH_NOT_MULTIPLE:
        return "CURAND_STATUS_LENGTH_NOT_MULTIPLE";
    case CURAND_STATUS_LAUNCH_FAILURE:
        return "CURAND_STATUS_LAUNCH_FAILURE";
    default:
        return "an error of cuRAND";
    }
}

curandStatus_t finish(const char* name, curandStatus_t status) {
    if (status != CURAND_STATUS_SUCCESS) emulatorLibraryFailed(name, status_name(status));
    return status;
}

// In (0, 1], as in cuRAND: 1 is included, 0 is not.
float to_float(uint32_t bits) {
    return float((bits >> 8) + 1) * 0x1p-24f;
}
double to_double(uint32_t low, uint32_t high) {
    return double(((uint64_t(high) << 32 | low) >> 11) + 1) * 0x1p-53;
}

// `count` values that use `draws` numbers of the sequence each; fill(philox, first, to) computes
// them.
template <class T, class F>
curandStatus_t generate(const char* name, curandGenerator_t generator, T* output, size_t count,
                        uint64_t draws, F&& fill) {
    if (!generators().has(generator)) return finish(name, CURAND_STATUS_NOT_INITIALIZED);
    if (count == 0) return CURAND_STATUS_SUCCESS;
    const uint64_t first = (generator->position + draws - 1) / draws * draws;
    const uint64_t seed = generator->seed;
    generator->position = first + count * draws;
    if (generator->on_host) {
        Philox philox(seed);
        fill(philox, first, output);
        return CURAND_STATUS_SUCCESS;
    }
    const cudaError_t error = emulatorRunLibraryKernel(
        {name,
         generator->stream,
         {stand_in::written(stand_in::vector_of("outputPtr", output, int64_t(count)))},
         [=](std::byte* const* at) {
             Philox philox(seed);
             fill(philox, first, reinterpret_cast<T*>(at[0]));
         }});
    return finish(name,
                  error == cudaSuccess ? CURAND_STATUS_SUCCESS : CURAND_STATUS_LAUNCH_FAILURE);
}

// The Box-Muller transform: computes two normal numbers from two uniform ones.
template <class T>
void normal_pair(T u, T v, T* to) {
    const T radius = std::sqrt(T(-2) * std::log(u)), angle = T(6.283185307179586476925) * v;
    to[0] = radius * std::cos(angle);
    to[1] = radius * std::sin(angle);
}

template <class T>
T uniform(Philox& philox, uint64_t index);
template <>
float uniform<float>(Philox& philox, uint64_t index) {
    return to_float(philox(index));
}
template <>
double uniform<double>(Philox& philox, uint64_t index) {
    return to_double(philox(2 * index), philox(2 * index + 1));
}

template <class T>
curandStatus_t uniforms(const char* name, curandGenerator_t generator, T* output, size_t n) {
    constexpr uint64_t kDraws = sizeof(T) / 4;
    return generate(name, generator, output, n, kDraws, [=](Philox& philox, uint64_t first, T* to) {
        for (size_t i = 0; i < n; ++i) to[i] = uniform<T>(philox, first / kDraws + i);
    });
}

// Normal numbers are computed in pairs, so n is even, as cuRAND requires of pseudorandom
// generators.
template <class T, class F>
curandStatus_t normals(const char* name, curandGenerator_t generator, T* output, size_t n, T mean,
                       T deviation, F&& of) {
    if (n % 2) return finish(name, CURAND_STATUS_LENGTH_NOT_MULTIPLE);
    constexpr uint64_t kDraws = sizeof(T) / 4;
    return generate(name, generator, output, n, kDraws, [=](Philox& philox, uint64_t first, T* to) {
        const uint64_t begin = first / kDraws;
        for (size_t i = 0; i < n; i += 2) {
            T pair[2];
            normal_pair(uniform<T>(philox, begin + i), uniform<T>(philox, begin + i + 1), pair);
            to[i] = of(mean + deviation * pair[0]);
            to[i + 1] = of(mean + deviation * pair[1]);
        }
    });
}

// For a small mean: counts multiplications (D. E. Knuth). For a large one: a rounded normal number,
// whose error does not show in a million draws. Uses up to kPoissonDraws numbers of the sequence,
// starting at `first`.
constexpr uint64_t kPoissonDraws = 512;
unsigned poisson(Philox& philox, uint64_t first, double lambda) {
    constexpr double kLarge = 64;
    const uint64_t begin = first / 2;
    if (lambda > kLarge) {
        double pair[2];
        normal_pair(uniform<double>(philox, begin), uniform<double>(philox, begin + 1), pair);
        // The square of a normal number approximates the Poisson distribution better than the
        // number.
        const double root = std::sqrt(lambda - 0.25) + pair[0] / 2;
        return unsigned(std::max(0.0, std::floor(root * root + 0.5)));
    }
    const double limit = std::exp(-lambda);
    double product = 1;
    for (unsigned k = 0;; ++k) {
        product *= uniform<double>(philox, begin + k);
        if (product <= limit || k + 1 == kPoissonDraws / 2) return k;
    }
}

curandStatus_t create(const char* name, curandGenerator_t* generator, curandRngType_t type,
                      bool on_host) {
    if (!generator) return finish(name, CURAND_STATUS_OUT_OF_RANGE);
    if (type < CURAND_RNG_PSEUDO_DEFAULT) return finish(name, CURAND_STATUS_TYPE_ERROR);
    if (type >= CURAND_RNG_QUASI_DEFAULT) {
        emulatorLibraryLacks((std::string(name) + " of a quasirandom generator").c_str());
        return finish(name, CURAND_STATUS_TYPE_ERROR);
    }
    stand_in::note_creation(name, "generator");
    *generator = generators().add(new curandGenerator_st);
    (*generator)->on_host = on_host;
    return CURAND_STATUS_SUCCESS;
}

template <class F>
curandStatus_t change(const char* name, curandGenerator_t generator, F&& apply) {
    if (!generators().has(generator)) return finish(name, CURAND_STATUS_NOT_INITIALIZED);
    apply(*generator);
    return CURAND_STATUS_SUCCESS;
}

}  // namespace
}  // namespace random_numbers

using namespace random_numbers;

STAND_IN_API curandStatus_t curandCreateGenerator(curandGenerator_t* generator,
                                                  curandRngType_t type) {
    return create("curandCreateGenerator", generator, type, false);
}
STAND_IN_API curandStatus_t curandCreateGeneratorHost(curandGenerator_t* generator,
                                                      curandRngType_t type) {
    return create("curandCreateGeneratorHost", generator, type, true);
}
STAND_IN_API curandStatus_t curandDestroyGenerator(curandGenerator_t generator) {
    if (!generators().remove(generator))
        return finish("curandDestroyGenerator", CURAND_STATUS_NOT_INITIALIZED);
    delete generator;
    return CURAND_STATUS_SUCCESS;
}
STAND_IN_API curandStatus_t curandGetVersion(int* version) {
    if (!version) return finish("curandGetVersion", CURAND_STATUS_OUT_OF_RANGE);
    *version = 10400;
    return CURAND_STATUS_SUCCESS;
}
STAND_IN_API curandStatus_t curandSetStream(curandGenerator_t generator, cudaStream_t stream) {
    return change("curandSetStream", generator, [&](auto& g) { g.stream = stream; });
}
STAND_IN_API curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t generator,
                                                               unsigned long long seed) {
    return change("curandSetPseudoRandomGeneratorSeed", generator, [&](auto& g) {
        g.seed = seed;
        g.position = 0;
    });
}
STAND_IN_API curandStatus_t curandSetGeneratorOffset(curandGenerator_t generator,
                                                     unsigned long long offset) {
    return change("curandSetGeneratorOffset", generator, [&](auto& g) { g.position = offset; });
}
STAND_IN_API curandStatus_t curandSetGeneratorOrdering(curandGenerator_t generator,
                                                       curandOrdering_t) {
    return change("curandSetGeneratorOrdering", generator, [](auto&) {});
}
STAND_IN_API curandStatus_t curandGenerateSeeds(curandGenerator_t generator) {
    return change("curandGenerateSeeds", generator, [](auto&) {});
}

STAND_IN_API curandStatus_t curandGenerate(curandGenerator_t generator, unsigned* output,
                                           size_t n) {
    return generate("curandGenerate",
                    generator,
                    output,
                    n,
                    1,
                    [=](Philox& philox, uint64_t first, unsigned* to) {
                        for (size_t i = 0; i < n; ++i) to[i] = philox(first + i);
                    });
}
STAND_IN_API curandStatus_t curandGenerateUniform(curandGenerator_t generator, float* output,
                                                  size_t n) {
    return uniforms("curandGenerateUniform", generator, output, n);
}
STAND_IN_API curandStatus_t curandGenerateUniformDouble(curandGenerator_t generator, double* output,
                                                        size_t n) {
    return uniforms("curandGenerateUniformDouble", generator, output, n);
}
STAND_IN_API curandStatus_t curandGenerateNormal(curandGenerator_t generator, float* output,
                                                 size_t n, float mean, float stddev) {
    const auto same = [](float x) { return x; };
    return normals("curandGenerateNormal", generator, output, n, mean, stddev, same);
}
STAND_IN_API curandStatus_t curandGenerateNormalDouble(curandGenerator_t generator, double* output,
                                                       size_t n, double mean, double stddev) {
    const auto same = [](double x) { return x; };
    return normals("curandGenerateNormalDouble", generator, output, n, mean, stddev, same);
}
STAND_IN_API curandStatus_t curandGenerateLogNormal(curandGenerator_t generator, float* output,
                                                    size_t n, float mean, float stddev) {
    const auto exponential = [](float x) { return std::exp(x); };
    return normals("curandGenerateLogNormal", generator, output, n, mean, stddev, exponential);
}
STAND_IN_API curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t generator,
                                                          double* output, size_t n, double mean,
                                                          double stddev) {
    const auto exponential = [](double x) { return std::exp(x); };
    return normals(
        "curandGenerateLogNormalDouble", generator, output, n, mean, stddev, exponential);
}
STAND_IN_API curandStatus_t curandGeneratePoisson(curandGenerator_t generator, unsigned* output,
                                                  size_t n, double lambda) {
    const char* name = "curandGeneratePoisson";
    if (!(lambda > 0)) return finish(name, CURAND_STATUS_OUT_OF_RANGE);
    return generate(name,
                    generator,
                    output,
                    n,
                    kPoissonDraws,
                    [=](Philox& philox, uint64_t first, unsigned* to) {
                        for (size_t i = 0; i < n; ++i)
                            to[i] = poisson(philox, first + i * kPoissonDraws, lambda);
                    });
}
