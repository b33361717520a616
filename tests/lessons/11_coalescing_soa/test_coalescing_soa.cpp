// SPDX-License-Identifier: MIT
// Lesson 11: every layout gives the same numbers, and each kernel wastes hardly a byte.
//
// Tolerance: none. pt_squared is one product and one fma, both correctly rounded on host and
// device; everything else copies.
#include "cases/shared_work.h"
#include "coalescing_soa.h"
#include "lesson_test.h"

#include <cstring>

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU

std::vector<Particle> particles(size_t n, uint64_t seed) {
    const auto numbers = wb::random_floats(4 * n, seed, -50.0f, 50.0f);
    std::vector<Particle> out(n);
    for (size_t i = 0; i < n; ++i)
        out[i] = {numbers[4 * i], numbers[4 * i + 1], numbers[4 * i + 2], numbers[4 * i + 3]};
    return out;
}

std::vector<float> column(const std::vector<Particle>& all, float Particle::*field) {
    std::vector<float> out;
    for (const Particle& p : all) out.push_back(p.*field);
    return out;
}

std::vector<float> pt2(const std::vector<Particle>& all) {
    std::vector<float> out;
    for (const Particle& p : all) out.push_back(pt_squared(p.px, p.py));
    return out;
}

constexpr int kSizes[] = {
    1, 2, 3, 4, 5, 31, 32, 33, 127, 129, 255, 256, 257, 1000, 1023, 100003, 1 << 20};

using FromColumns = void (*)(const float*, const float*, float*, int);

void check_columns(FromColumns compute, int n) {
    CAPTURE(n);
    const auto all = particles(n, 10 + n);
    wb::GuardedBuffer<float> px(column(all, &Particle::px), wb::guard(kGuard));
    wb::GuardedBuffer<float> py(column(all, &Particle::py), wb::guard(kGuard));
    wb::GuardedBuffer<float> out(n, wb::guard(kGuard));
    compute(px.get(), py.get(), out.get(), n);
    CUDA_CHECK(cudaGetLastError());
    const auto got = out.download(), want = pt2(all);
    const auto each = [&](float (*formula)(float, float)) {
        return [&, formula] {
            std::vector<float> values;
            for (const Particle& p : all) values.push_back(formula(p.px, p.py));
            return values;
        };
    };
    wb::recognize<float>(
        got,
        want,
        {{"px is taken twice, and py never", each([](float x, float) { return 2 * x * x; })},
         {"py is taken twice, and px never", each([](float, float y) { return 2 * y * y; })},
         {"px + py, without squares", each([](float x, float y) { return x + y; })},
         {"the root of pt squared", each([](float x, float y) { return std::hypot(x, y); })},
         {"particle i is looked for at 4 i, as if the column still held four numbers of each", [&] {
              std::vector<float> values;
              for (size_t i = 0; i < all.size(); ++i)
                  values.push_back(4 * i < all.size() ? pt_squared(all[4 * i].px, all[4 * i].py)
                                                      : std::nanf(""));
              return values;
          }}});
    CHECK_ARRAYS(got, want);
    CHECK(out.intact());
}

void check_to_columns(int n) {
    CAPTURE(n);
    const auto all = particles(n, 30 + n);
    wb::GuardedBuffer<Particle> d_all(all, wb::guard(kGuard));
    wb::GuardedBuffer<float> px(n, wb::guard(kGuard)), py(n, wb::guard(kGuard));
    wb::GuardedBuffer<float> pz(n, wb::guard(kGuard)), e(n, wb::guard(kGuard));
    to_columns(d_all.get(), {px.get(), py.get(), pz.get(), e.get()}, n);
    CUDA_CHECK(cudaGetLastError());
    const auto exact = [](size_t) { return 0.0; };
    const auto holds =
        [&](const wb::GuardedBuffer<float>& d_column, float Particle::*field, const char* name) {
            const auto got = d_column.download(), want = column(all, field);
            const std::string field_name(name, std::strcspn(name, " "));
            std::vector<std::string> words;
            for (const char* held : {"px", "py", "pz", "e"})
                words.push_back("column " + field_name + " holds " + held);
            const auto other = [&](float Particle::*wrong) {
                return [&, wrong] { return column(all, wrong); };
            };
            wb::recognize<float>(got,
                                 want,
                                 {{words[0].c_str(), other(&Particle::px)},
                                  {words[1].c_str(), other(&Particle::py)},
                                  {words[2].c_str(), other(&Particle::pz)},
                                  {words[3].c_str(), other(&Particle::e)}});
            CHECK_ARRAYS(got, want, exact, name);
        };
    holds(px, &Particle::px, "px of particle");
    holds(py, &Particle::py, "py of particle");
    holds(pz, &Particle::pz, "pz of particle");
    holds(e, &Particle::e, "e of particle");
    CHECK((px.intact() && py.intact() && pz.intact() && e.intact()));
}

// Counters of compute(px, py, out, n).
std::optional<wb::Counters> count_columns(FromColumns compute, int n) {
    const auto all = particles(n, 5);
    wb::DeviceBuffer<float> px(column(all, &Particle::px)), py(column(all, &Particle::py)), out(n);
    return wb::count([&] { compute(px.get(), py.get(), out.get(), n); });
}

constexpr int kCount = 100000;  // a multiple of 32, so that full sectors are possible everywhere

// Useful bytes over bytes that travel, 32 in a sector.
wb::Counted<double> useful(const wb::Counted<uint64_t>& bytes,
                           const wb::Counted<uint64_t>& sectors) {
    return wb::measured("useful", bytes / (32.0 * sectors));
}

}  // namespace

TEST_CASE("task 1: pt squared from columns", "[task1]") {
    for (const int n : kSizes) check_columns(pt2_of_columns, n);
}

TEST_CASE("task 1: columns and structures agree to the last bit", "[task1]") {
    const int n = 10007;
    const auto all = particles(n, 2);
    wb::DeviceBuffer<Particle> d_all(all);
    wb::DeviceBuffer<float> px(column(all, &Particle::px)), py(column(all, &Particle::py));
    wb::DeviceBuffer<float> from_structures(n), from_columns(n);
    pt2_of_particles(d_all.get(), from_structures.get(), n);
    pt2_of_columns(px.get(), py.get(), from_columns.get(), n);
    CHECK_ARRAYS(from_columns.download(), from_structures.download());
}

TEST_CASE("task 2: changes the layout", "[task2]") {
    for (const int n : kSizes) check_to_columns(n);
}

TEST_CASE("task 3: four particles for each thread", "[task3]") {
    for (const int n : {4, 8, 128, 1000, 4096, 100000, 1 << 20})
        check_columns(pt2_of_columns_wide, n);
}

TEST_CASE("task 3: up to three particles are left over", "[task3]") {
    for (const int n : {1, 2, 3, 5, 6, 7, 127, 1021, 1022, 1023, 1025, 1026, 1027, 100003})
        check_columns(pt2_of_columns_wide, n);
}

TEST_CASE("task 4: a slice that does not start at a multiple of 16 bytes", "[task4]") {
    const size_t total = 4096;
    const auto all = particles(total, 3);
    const auto before = wb::random_floats(total, 4);
    const size_t x_first = GENERATE(0, 1, 4), y_first = GENERATE(0, 2, 8);
    const size_t out_first = GENERATE(0, 3, 12), n = GENERATE(1, 7, 1000, 1023);
    CAPTURE(x_first, y_first, out_first, n);
    wb::DeviceBuffer<float> px(column(all, &Particle::px)), py(column(all, &Particle::py));
    wb::DeviceBuffer<float> out(before);
    pt2_of_columns_wide(px.get() + x_first, py.get() + y_first, out.get() + out_first, int(n));
    CUDA_CHECK(cudaGetLastError());
    auto want = before;
    for (size_t i = 0; i < n; ++i)
        want[out_first + i] = pt_squared(all[x_first + i].px, all[y_first + i].py);
    CHECK_ARRAYS(
        out.download(), want, [](size_t) { return 0.0; }, "element of the whole array");
}

TEST_CASE("task 4: nothing is launched for no particles", "[task4]") {
    wb::DeviceBuffer<float> some(4), other(4), out(4);
    wb::DeviceBuffer<Particle> particles(4), copies(4);
    wb::DeviceBuffer<int> index(std::vector<int>{3, 2, 1, 0});
    const auto none = wb::count([&] {
        pt2_of_columns(some.get(), other.get(), out.get(), 0);
        pt2_of_columns_wide(some.get(), other.get(), out.get(), 0);
        to_columns(particles.get(), {some.get(), other.get(), out.get(), out.get()}, 0);
        gather(particles.get(), index.get(), copies.get(), 0);
    });
    CHECK(cudaGetLastError() == cudaSuccess);
    if (none) {
        INFO("for n = 0: launched kernels: " << none->launches << ", want none");
        CHECK(none->launches == 0);
    }
}

TEST_CASE("task 5: gathers whole particles", "[task5]") {
    for (const int n : kSizes) {
        CAPTURE(n);
        const int count = n < 1 << 20 ? 777 : n;
        const auto all = particles(count, 6);
        const auto index = wb::random_ints(n, 7 + n, 0, count - 1);
        wb::GuardedBuffer<Particle> d_all(all, wb::guard(kGuard)), out(n, wb::guard(kGuard));
        wb::GuardedBuffer<int> d_index(index, wb::guard(kGuard));
        gather(d_all.get(), d_index.get(), out.get(), n);
        CUDA_CHECK(cudaGetLastError());
        std::vector<float> got, want;
        for (const Particle& p : out.download())
            for (const float number : {p.px, p.py, p.pz, p.e}) got.push_back(number);
        for (const int i : index)
            for (const float number : {all[i].px, all[i].py, all[i].pz, all[i].e})
                want.push_back(number);
        // Where several particles go to one place, any of them may be there last.
        const auto scattered = [&] {
            std::vector<float> numbers(got.size(), std::nanf(""));
            for (int k = 0; k < std::min(n, count); ++k) {
                if (index[k] >= n) continue;
                const size_t to = 4 * size_t(index[k]);
                const float of_k[] = {all[k].px, all[k].py, all[k].pz, all[k].e};
                if (std::equal(of_k, of_k + 4, got.begin() + to))
                    std::copy(of_k, of_k + 4, numbers.begin() + to);
            }
            return numbers;
        };
        const auto in_order = [&] {
            std::vector<float> numbers;
            for (int k = 0; k < n; ++k)
                for (const auto field : {&Particle::px, &Particle::py, &Particle::pz, &Particle::e})
                    numbers.push_back(k < count ? all[k].*field : std::nanf(""));
            return numbers;
        };
        wb::recognize<float>(
            got,
            want,
            {{"particle k itself is copied: the index is never used", in_order},
             {"particle k is stored at the place that index k names: it is to be read there",
              scattered}});
        CHECK_ARRAYS(
            got, want, [](size_t) { return 0.0; }, "number");
        CHECK(out.intact());
    }
}

TEST_CASE("efficient: columns need 4 sectors for each request of a warp", "[efficient][task1]") {
    const auto counted = count_columns(pt2_of_columns, kCount);
    NEED_COUNTERS(counted);
    CHECK(counted->global_load_bytes == 8 * kCount);
    CHECK(counted->global_store_bytes == 4 * kCount);
    CHECK(counted->global_load_sectors <= 4 * counted->global_load_requests);
    CHECK(useful(counted->global_load_bytes, counted->global_load_sectors) >= 0.95);
    CHECK(useful(counted->global_store_bytes, counted->global_store_sectors) >= 0.95);
}

TEST_CASE("efficient: wide loads ask a quarter as often", "[efficient][task1][task3][task4]") {
    const auto counted = count_columns(pt2_of_columns_wide, kCount);
    NEED_COUNTERS(counted);
    CHECK(counted->launches == 1);
    CHECK(counted->global_load_bytes == 8 * kCount);
    CHECK(counted->global_store_bytes == 4 * kCount);
    CHECK(useful(counted->global_load_bytes, counted->global_load_sectors) >= 0.95);
    CHECK(useful(counted->global_store_bytes, counted->global_store_sectors) >= 0.95);
    CHECK(counted->global_load_requests <= 2 * kCount / 128 + 8);
    CHECK(counted->global_store_requests <= kCount / 128 + 8);
    CHECK(counted->threads <= kCount / 4 + 1024);
}

TEST_CASE("efficient: the change of layout wastes no byte on either side", "[efficient][task2]") {
    const auto all = particles(kCount, 8);
    wb::DeviceBuffer<Particle> d_all(all);
    wb::DeviceBuffer<float> px(kCount), py(kCount), pz(kCount), e(kCount);
    const auto counted = wb::count([&] {
        to_columns(d_all.get(), {px.get(), py.get(), pz.get(), e.get()}, kCount);
    });
    NEED_COUNTERS(counted);
    CHECK(counted->global_load_bytes == 16 * kCount);
    CHECK(counted->global_store_bytes == 16 * kCount);
    CHECK(useful(counted->global_load_bytes, counted->global_load_sectors) >= 0.95);
    CHECK(useful(counted->global_store_bytes, counted->global_store_sectors) >= 0.95);
}

TEST_CASE("efficient: a gather asks once for each particle", "[efficient][task5]") {
    const auto all = particles(kCount, 9);
    wb::DeviceBuffer<Particle> d_all(all), out(kCount);
    wb::DeviceBuffer<int> index(wb::random_ints(kCount, 10, 0, kCount - 1));
    const auto counted = wb::count([&] { gather(d_all.get(), index.get(), out.get(), kCount); });
    NEED_COUNTERS(counted);
    CHECK(counted->global_store_bytes == 16 * kCount);
    // A particle lies in one sector wherever it is; the indexes come 8 to a sector.
    CHECK(counted->global_load_sectors <= kCount + kCount / 8 + 8);
    CHECK(useful(counted->global_store_bytes, counted->global_store_sectors) >= 0.95);
}

TEST_CASE("efficient: the warps of the grid share the work", "[efficient]") {
    const auto all = particles(kCount, 11);
    wb::DeviceBuffer<Particle> d_all(all), copies(kCount);
    wb::DeviceBuffer<int> index(wb::random_ints(kCount, 12, 0, kCount - 1));
    wb::DeviceBuffer<float> px(kCount), py(kCount), pz(kCount), e(kCount), out(kCount);
    to_columns(d_all.get(), {px.get(), py.get(), pz.get(), e.get()}, kCount);
    wb::check_shared_work("to_columns", px.get(), kCount);
    pt2_of_columns(px.get(), py.get(), out.get(), kCount);
    wb::check_shared_work("pt2_of_columns", out.get(), kCount);
    pt2_of_columns_wide(px.get(), py.get(), out.get(), kCount);
    wb::check_shared_work("pt2_of_columns_wide", out.get(), kCount);
    gather(d_all.get(), index.get(), copies.get(), kCount);
    wb::check_shared_work("gather", copies.get(), kCount);
}

TEST_CASE("efficient: every thread takes its share", "[efficient][task1][task3][task4]") {
    const FromColumns both[] = {pt2_of_columns, pt2_of_columns_wide};
    for (const auto compute : both) {
        const auto counted = count_columns(compute, kCount);
        NEED_COUNTERS(counted);
        CHECK(counted->global_store_bytes == 4 * kCount);
        CHECK(counted->threads >= 2048);              // one block is not enough
        CHECK(counted->warp_instructions <= kCount);  // serial code needs 8 or more each
        CHECK(counted->device_allocations == 0);
        CHECK(counted->host_to_device_bytes + counted->device_to_host_bytes == 0);
    }
}
