// SPDX-License-Identifier: MIT
// cuRAND's host interface: the distributions, and the same numbers for the same seed.
#include <curand.h>

#include "lab.h"

using namespace lab;

namespace {

constexpr auto kOk = CURAND_STATUS_SUCCESS;
constexpr size_t kCount = 1 << 18;

struct Generator {
    explicit Generator(unsigned long long seed = 42) {
        REQUIRE(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) == kOk);
        REQUIRE(curandSetPseudoRandomGeneratorSeed(generator, seed) == kOk);
    }
    ~Generator() { curandDestroyGenerator(generator); }
    operator curandGenerator_t() const { return generator; }
    curandGenerator_t generator = nullptr;
};

struct Moments {
    double mean = 0, variance = 0;
};
template <class T>
Moments moments(const std::vector<T>& values) {
    Moments out;
    for (T value : values) out.mean += double(value) / double(values.size());
    for (T value : values)
        out.variance += std::pow(double(value) - out.mean, 2) / double(values.size());
    return out;
}

}  // namespace

// Bounds: five standard errors of the mean of 2^18 numbers.
TEST_CASE("uniform: in (0, 1], mean 1/2, variance 1/12", "[random]") {
    Generator generator;
    Device<float> out(kCount);
    REQUIRE(curandGenerateUniform(generator, out, kCount) == kOk);
    const auto values = out.values();
    CHECK(*std::min_element(values.begin(), values.end()) > 0);
    CHECK(*std::max_element(values.begin(), values.end()) <= 1);
    CHECK(moments(values).mean == Approx(0.5).margin(0.003));
    CHECK(moments(values).variance == Approx(1.0 / 12).margin(0.001));
}

TEST_CASE("normal: mean and deviation as asked", "[random]") {
    Generator generator;
    Device<double> out(kCount);
    REQUIRE(curandGenerateNormalDouble(generator, out, kCount, 3, 2) == kOk);
    CHECK(moments(out.values()).mean == Approx(3).margin(0.02));
    CHECK(moments(out.values()).variance == Approx(4).margin(0.06));
    CHECK(curandGenerateNormalDouble(generator, out, 3, 0, 1) == CURAND_STATUS_LENGTH_NOT_MULTIPLE);
}

TEST_CASE("Poisson: mean and variance are lambda", "[random]") {
    const double lambda = GENERATE(0.5, 7.0, 400.0);
    Generator generator;
    constexpr size_t kFew = 1 << 14;
    Device<unsigned> out(kFew);
    REQUIRE(curandGeneratePoisson(generator, out, kFew, lambda) == kOk);
    CHECK(moments(out.values()).mean == Approx(lambda).margin(5 * std::sqrt(lambda / kFew)));
    CHECK(moments(out.values()).variance == Approx(lambda).epsilon(0.06));
}

TEST_CASE("the same seed gives the same numbers, another seed others", "[random]") {
    Device<unsigned> first(64), second(64), other(64);
    Generator a(7), b(7), c(8);
    REQUIRE(curandGenerate(a, first, 64) == kOk);
    REQUIRE(curandGenerate(b, second, 64) == kOk);
    REQUIRE(curandGenerate(c, other, 64) == kOk);
    CHECK(first.values() == second.values());
    CHECK(first.values() != other.values());
    REQUIRE(curandGenerate(a, second, 64) == kOk);  // goes on where it stopped
    CHECK(first.values() != second.values());
}

TEST_CASE("a host generator writes to host memory", "[random]") {
    curandGenerator_t generator;
    REQUIRE(curandCreateGeneratorHost(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10) == kOk);
    std::vector<double> out(1000);
    REQUIRE(curandGenerateUniformDouble(generator, out.data(), out.size()) == kOk);
    CHECK(moments(out).mean == Approx(0.5).margin(0.05));
    curandDestroyGenerator(generator);
}
