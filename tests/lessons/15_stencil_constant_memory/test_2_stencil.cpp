// SPDX-License-Identifier: MIT
// Lesson 15, the stencil: the weights that were set last, steps between two arrays, and what both
// kernels load. The steps of repeat_stencil use weights of sum 1 or below on data in [-1, 1]: each
// step adds at most its own error.
#include "cases/shared_work.h"
#include "checks.h"
#include "watches/call_checks.h"

#include <algorithm>

#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr Border kBorders[] = {Border::kClamp, Border::kZero};

Reference stencils(const std::vector<float>& in, const std::vector<float>& weights, Border border) {
    const int n = int(in.size()), radius = int(weights.size() / 2);
    Reference want{std::vector<float>(n), std::vector<double>(n)};
    for (int i = 0; i < n; ++i) {
        double sum = 0, magnitude = 0;
        for (int k = -radius; k <= radius; ++k) {
            const int j = std::min(std::max(i + k, 0), n - 1);
            const double x = j == i + k || border == Border::kClamp ? in[j] : 0.0;
            sum += weights[radius + k] * x;
            magnitude += std::fabs(weights[radius + k] * x);
        }
        want.value[i] = float(sum);
        want.bound[i] = (weights.size() + 2) * kUlp * magnitude;
    }
    return want;
}

// Usual mistakes with the weights.
std::vector<float> backwards(std::vector<float> weights) {
    std::reverse(weights.begin(), weights.end());
    return weights;
}
std::vector<float> without(std::vector<float> weights, size_t which) {
    weights[which] = 0;
    return weights;
}

void recognize_stencil(const std::vector<float>& got, const Reference& want,
                       const std::vector<float>& in, const std::vector<float>& weights,
                       Border border, int threads) {
    const Border other = border == Border::kZero ? Border::kClamp : Border::kZero;
    // The other rule, past one end alone.
    const auto one_sided = [&](bool at_start) {
        auto out = want.value;
        const auto wrong = stencils(in, weights, other).value;
        const size_t radius = weights.size() / 2, last = in.size() - 1;
        for (size_t i = 0; i < out.size(); ++i)
            if (at_start ? i < radius : last - i < radius) out[i] = wrong[i];
        return out;
    };
    const auto of = [&](const std::vector<float>& w, Border b) { return stencils(in, w, b).value; };
    wb::recognize<float>(
        got,
        want.value,
        {{"the weights are taken in the opposite order",
          [&] { return of(backwards(weights), border); }},
         {"the last weight is left out",
          [&] { return of(without(weights, weights.size() - 1), border); }},
         {"the first weight is left out", [&] { return of(without(weights, 0), border); }},
         {"the border rule is applied at the ends of each block: its neighbours are in other "
          "blocks",
          [&] {
              std::vector<float> out;
              for (size_t begin = 0; begin < in.size(); begin += threads) {
                  const size_t end = std::min(in.size(), begin + threads);
                  const std::vector<float> part(in.begin() + begin, in.begin() + end);
                  const auto sums = stencils(part, weights, border).value;
                  out.insert(out.end(), sums.begin(), sums.end());
              }
              return out;
          }},
         {"the other border rule is applied past the ends", [&] { return of(weights, other); }},
         {"the other border rule is applied past the last element",
          [&] { return one_sided(false); }},
         {"the other border rule is applied before the first element",
          [&] { return one_sided(true); }}},
        [&](size_t i) { return want.bound[i]; });
}

std::vector<float> random_weights(int radius) {
    return wb::random_floats(2 * radius + 1, 900 + radius);
}

void check_stencil(int n, const std::vector<float>& weights, Border border, int threads) {
    const int radius = int(weights.size() / 2);
    CAPTURE(n, radius, border, threads);
    const auto in = wb::random_floats(n, 300 + n);
    wb::GuardedBuffer<float> d_in(in, wb::guard(kGuard)), d_out(in.size(), wb::guard(kGuard));
    set_weights(weights.data(), radius);
    stencil(d_in.get(), d_out.get(), n, radius, border, threads);
    CUDA_CHECK(cudaGetLastError());
    const auto got = d_out.download();
    const Reference want = stencils(in, weights, border);
    check_close(got, want);
    recognize_stencil(got, want, in, weights, border, threads);
    wb::check_unchanged(d_in.download(), in);
    CHECK(d_out.intact());
}

void check_weights(const std::vector<float>& got, const std::vector<float>& want) {
    static std::vector<float> first;  // of all calls in this test case
    if (first.empty()) first = want;
    CHECK_ARRAYS(got, want);
    const bool none = std::all_of(got.begin(), got.end(), [](float v) { return v == 0; });
    size_t right = 0;  // how many bytes of the weights have arrived
    const auto* a = reinterpret_cast<const unsigned char*>(got.data());
    const auto* b = reinterpret_cast<const unsigned char*>(want.data());
    while (right < 4 * got.size() && a[right] == b[right]) ++right;
    if (right == 4 * got.size()) return;
    std::vector<std::string> mistakes;
    if (first != want &&
        std::equal(first.begin(), first.begin() + std::min(first.size(), got.size()), got.begin()))
        mistakes.push_back("the weights are still those of the first call");
    if (right == got.size()) mistakes.push_back("as many bytes were copied as there are weights");
    if (right / 4 + 1 == got.size()) mistakes.push_back("the last weight was not copied");
    if (right > got.size() && right / 4 + 1 < got.size())
        mistakes.push_back("only the first weights were copied: how many are there?");
    if (none) mistakes.push_back("no weight has arrived: was anything copied, and to the device?");
    wb::details::note_mistakes(mistakes, 2);
}

std::vector<float> repeated(const std::vector<float>& in, const std::vector<float>& weights,
                            Border border, int threads, int steps) {
    wb::GuardedBuffer<float> d_a(in, wb::guard(kGuard)), d_b(in.size(), wb::guard(kGuard));
    set_weights(weights.data(), int(weights.size() / 2));
    const float* result = repeat_stencil(
        d_a.get(), d_b.get(), int(in.size()), int(weights.size() / 2), border, threads, steps);
    CUDA_CHECK(cudaGetLastError());
    CHECK(d_a.intact());
    CHECK(d_b.intact());
    REQUIRE((result == d_a.get() || result == d_b.get()));
    return result == d_a.get() ? d_a.download() : d_b.download();
}

// The efficiency tests use many full blocks and a short one.
constexpr int kCount = 50021, kBlock = 256;
constexpr uint64_t kBlocks = (kCount + kBlock - 1) / kBlock;

}  // namespace

TEST_CASE("task 2: kernels see the weights", "[task2]") {
    for (const int radius : {0, 1, 7, 63, kMaxRadius}) {
        CAPTURE(radius);
        const auto weights = random_weights(radius), passed = weights;
        wb::GuardedBuffer<float> d_out(weights.size(), wb::guard(kGuard));
        set_weights(passed.data(), radius);
        read_weights(d_out.get(), int(weights.size()));
        check_weights(d_out.download(), weights);
        CHECK(passed == weights);
    }
}

TEST_CASE("task 2: reads no host memory past the last weight", "[task2]") {
    const size_t page = size_t(sysconf(_SC_PAGESIZE));
    auto* memory = static_cast<char*>(
        mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    REQUIRE(memory != MAP_FAILED);
    REQUIRE(mprotect(memory + page, page, PROT_NONE) ==
            0);  // reading there is a segmentation fault
    for (const int radius : {0, 2, kMaxRadius}) {
        CAPTURE(radius);
        const auto weights = random_weights(radius);
        auto* last = reinterpret_cast<float*>(memory + page) - weights.size();
        std::copy(weights.begin(), weights.end(), last);
        set_weights(last, radius);
        wb::DeviceBuffer<float> d_out(weights.size());
        read_weights(d_out.get(), int(weights.size()));
        check_weights(d_out.download(), weights);
    }
    munmap(memory, 2 * page);
}

TEST_CASE("task 2: kernels see the weights that were set last", "[task2]") {
    const auto old = wb::random_floats(2 * kMaxRadius + 1, 21);
    set_weights(old.data(), kMaxRadius);
    auto fresh = wb::random_floats(5, 22);
    const auto want = fresh;
    set_weights(fresh.data(), 2);
    fresh.assign(5, -7.0f);
    wb::DeviceBuffer<float> d_out(5);
    read_weights(d_out.get(), 5);
    check_weights(d_out.download(), want);
}

TEST_CASE("task 2: a failing copy is an exception", "[task2]") {
    const auto weights = random_weights(2);
    wb::check_failing_calls("set_weights", [&] { set_weights(weights.data(), 2); });
}

TEST_CASE("task 3: weighs the neighbours of arrays of any length", "[task3]") {
    for (const int n : kSizes)
        for (const Border border : kBorders) check_stencil(n, random_weights(3), border, 256);
}

TEST_CASE("task 3: any radius, also with more halo than threads", "[task3]") {
    for (const int radius : {0, 1, 2, 15, 16, 17, 31, 32, 33, kMaxRadius}) {
        for (const Border border : kBorders) {
            check_stencil(500, random_weights(radius), border, 32);
            check_stencil(500, random_weights(radius), border, 200);
        }
    }
}

TEST_CASE("task 3: the array may be smaller than the radius", "[task3]") {
    for (const int n : {1, 2, 30, 63, 64, 65})
        for (const Border border : kBorders)
            check_stencil(n, random_weights(kMaxRadius), border, 32);
}

TEST_CASE("task 3: blocks of any size", "[task3]") {
    for (const int threads : {1, 2, 7, 31, 33, 100, 511, 512, 513, 1023, 1024})
        for (const Border border : kBorders) {
            check_stencil(2600, random_weights(4), border, threads);
            check_stencil(40, random_weights(kMaxRadius), border, threads);
        }
}

TEST_CASE("task 3: a refused launch is an exception", "[task3]") {
    const std::vector<float> weights{1, 2, 1};
    wb::DeviceBuffer<float> d_in(wb::random_floats(100, 33)), d_out(100);
    set_weights(weights.data(), 1);
    wb::check_refused_launch("stencil",
                             [&] { stencil(d_in.get(), d_out.get(), 100, 1, Border::kClamp, 32); });
}

TEST_CASE("task 3: uses the weights that were set last", "[task3]") {
    const auto once = wb::random_floats(9, 31), then = wb::random_floats(9, 32);
    for (const auto& weights : {once, then, once}) check_stencil(600, weights, Border::kZero, 128);
}

TEST_CASE("task 3: launches nothing for an empty array", "[task3]") {
    const std::vector<float> weights{1, 2, 1};
    wb::DeviceBuffer<float> d_in(0), d_out(0);
    set_weights(weights.data(), 1);
    const auto counted =
        wb::count([&] { stencil(d_in.get(), d_out.get(), 0, 1, Border::kClamp, 256); });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counted) CHECK(counted->launches == 0);
}

TEST_CASE("task 4: steps from one array to the other", "[task4]") {
    const std::vector<float> weights{0.25f, 0.5f, 0.125f};
    const auto in = wb::random_floats(1000, 41);
    for (const Border border : kBorders) {
        Reference want{in, std::vector<double>(in.size(), 0.0)};
        std::vector<float> before(in.size(), std::nanf(""));
        for (int steps = 0; steps <= 7; ++steps) {
            CAPTURE(steps, border);
            const auto got = repeated(in, weights, border, 256, steps);
            check_close(got, want);
            const auto next = stencils(want.value, weights, border).value;
            wb::recognize<float>(
                got,
                want.value,
                {{"one step too few, or the array of the step before is returned",
                  [&] { return before; }},
                 {"one step too many", [&] { return next; }},
                 {"the data are unchanged: the first array is returned, or nothing was done",
                  [&] { return in; }},
                 {"the other array is returned: nothing has been stored there",
                  [&] { return std::vector<float>(in.size(), std::nanf("")); }}},
                [&](size_t i) { return want.bound[i]; });
            before = want.value;
            want.value = next;
            // Data in [-1, 1]: a step's own error, the reference's rounding, and what was there.
            for (double& bound : want.bound) bound += 6 * kUlp;
        }
    }
}

TEST_CASE("task 4: launches nothing for an empty array", "[task4]") {
    wb::DeviceBuffer<float> d_a(0), d_b(0);
    const auto counted =
        wb::count([&] { repeat_stencil(d_a.get(), d_b.get(), 0, 1, Border::kClamp, 256, 3); });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (counted) CHECK(counted->launches == 0);
}

TEST_CASE("task 4: heat that cannot leave stays constant", "[task4]") {
    const std::vector<float> weights{0.25f, 0.5f, 0.25f}, in(777, 3.0f);
    CHECK_ARRAYS(repeated(in, weights, Border::kClamp, 128, 30), in);
}

TEST_CASE("efficient: the moving average loads its elements and one halo for each block",
          "[efficient][task1]") {
    const int window = GENERATE(2, 33, 300);
    CAPTURE(window);
    wb::DeviceBuffer<float> d_in(wb::random_floats(kCount, 51)), d_out(kCount);
    const auto counted =
        wb::count([&] { moving_average(d_in.get(), d_out.get(), kCount, window, kBlock); });
    NEED_COUNTERS(counted);
    CHECK(counted->global_load_bytes >= sizeof(float) * kCount);
    CHECK(counted->global_load_bytes <= sizeof(float) * kBlocks * (kBlock + window - 1));
    CHECK(counted->global_store_bytes == sizeof(float) * kCount);
    CHECK(counted->device_to_host_bytes == 0);
    // 100 instructions, and 3 to 8 for each element of the window. A warp that sums the windows of
    // its whole block needs eight times as many.
    wb::check_shared_work(*counted, kCount / 8, 24, 500 + 10 * window);
}

TEST_CASE("efficient: the stencil loads its elements and two halos for each block",
          "[efficient][task2][task3]") {
    const int radius = GENERATE(1, 8, kMaxRadius);
    CAPTURE(radius);
    const auto weights = random_weights(radius);
    wb::DeviceBuffer<float> d_in(wb::random_floats(kCount, 52)), d_out(kCount);
    set_weights(weights.data(), radius);
    const auto counted = wb::count(
        [&] { stencil(d_in.get(), d_out.get(), kCount, radius, Border::kClamp, kBlock); });
    NEED_COUNTERS(counted);
    CHECK(counted->global_load_bytes >= sizeof(float) * kCount);
    CHECK(counted->global_load_bytes <= sizeof(float) * kBlocks * (kBlock + 2 * radius));
    CHECK(counted->global_store_bytes == sizeof(float) * kCount);
    CHECK(counted->device_to_host_bytes == 0);
    // 100 instructions, and 3 to 8 for each weight; eight times as many in a warp that works for
    // its whole block.
    wb::check_shared_work(*counted, kCount / 8, 24, 500 + 10 * (2 * radius + 1));
}

TEST_CASE("efficient: neighbouring threads use neighbouring addresses",
          "[efficient][task2][task3]") {
    const auto weights = random_weights(8);
    wb::DeviceBuffer<float> d_in(wb::random_floats(kCount, 53)), d_out(kCount);
    set_weights(weights.data(), 8);
    const auto counted =
        wb::count([&] { stencil(d_in.get(), d_out.get(), kCount, 8, Border::kClamp, kBlock); });
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_sectors > 0);
    CHECK(counted->global_store_sectors <= kCount / 8 + 1);
    // A halo moves the loads out of step with the sectors: at most one more for each 32 loads.
    CHECK(counted->global_load_sectors <= kBlocks * (kBlock / 32 * 5 + 2 * 8));
    CHECK(counted->shared_load_conflicts + counted->shared_store_conflicts == 0);
}

TEST_CASE("efficient: one launch and one barrier for each block",
          "[efficient][task1][task2][task3]") {
    const auto weights = random_weights(8);
    wb::DeviceBuffer<float> d_in(wb::random_floats(kCount, 54)), d_out(kCount);
    set_weights(weights.data(), 8);
    const auto counted = wb::count([&] {
        moving_average(d_in.get(), d_out.get(), kCount, 20, kBlock);
        stencil(d_in.get(), d_out.get(), kCount, 8, Border::kZero, kBlock);
    });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 2);
    CHECK(counted->global_store_bytes == 2 * sizeof(float) * kCount);
    CHECK(counted->block_barriers <= counted->blocks);
}

TEST_CASE("efficient: steps swap the arrays instead of copying them",
          "[efficient][task2][task3][task4]") {
    const std::vector<float> weights{0.25f, 0.5f, 0.25f};
    wb::DeviceBuffer<float> d_a(wb::random_floats(1000, 55)), d_b(1000);
    set_weights(weights.data(), 1);
    const auto counted = wb::count(
        [&] { repeat_stencil(d_a.get(), d_b.get(), 1000, 1, Border::kClamp, kBlock, 10); });
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 10);
    CHECK(counted->device_to_device_bytes + counted->device_to_host_bytes == 0);
    CHECK(counted->device_allocations == 0);
}
