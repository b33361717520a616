// SPDX-License-Identifier: MIT
// Lesson 14: parts of every size, also short last ones, through tiles that the launch sizes, with
// barriers that the whole block reaches.
//
// Tolerance: none. A difference is one correctly rounded subtraction on host and device; the rest
// moves values. Inputs are random; outputs start as 0xFF bytes (NaN).
#include "cases/shared_work.h"
#include "lesson_test.h"
#include "shared_memory_barriers.h"
#include "watches/call_checks.h"

#include <algorithm>

namespace {

constexpr size_t kGuard = 1024;  // elements on each side of every array, on a real GPU

std::vector<float> differences_of(const std::vector<float>& in) {
    std::vector<float> out(in.size());
    for (size_t i = 0; i < in.size(); ++i) out[i] = (i + 1 < in.size() ? in[i + 1] : 0.0f) - in[i];
    return out;
}

std::vector<float> parts_reversed(std::vector<float> data, size_t threads) {
    for (size_t first = 0; first < data.size(); first += threads)
        std::reverse(data.begin() + first, data.begin() + std::min(data.size(), first + threads));
    return data;
}

std::vector<float> reversed(const std::vector<float>& in) {
    return {in.rbegin(), in.rend()};
}

void check_differences(int n, int threads) {
    CAPTURE(n, threads);
    const auto in = wb::random_floats(n, 1 + n);
    wb::GuardedBuffer<float> d_in(in, wb::guard(kGuard)), d_out(n, wb::guard(kGuard));
    differences(d_in.get(), d_out.get(), n, threads);
    CUDA_CHECK(cudaGetLastError());
    CHECK_ARRAYS(d_out.download(), differences_of(in));
    wb::check_unchanged(d_in.download(), in);
    CHECK(d_out.intact());
}

void check_reverse_blocks(int n, int threads) {
    CAPTURE(n, threads);
    const auto before = wb::random_floats(n, 2 + n);
    wb::GuardedBuffer<float> d_data(before, wb::guard(kGuard));
    reverse_blocks(d_data.get(), n, threads);
    CUDA_CHECK(cudaGetLastError());
    CHECK_ARRAYS(d_data.download(), parts_reversed(before, threads));
    CHECK(d_data.intact());
}

void check_reverse_array(int n, int threads) {
    CAPTURE(n, threads);
    const auto in = wb::random_floats(n, 3 + n);
    wb::GuardedBuffer<float> d_in(in, wb::guard(kGuard)), d_out(n, wb::guard(kGuard));
    reverse_array(d_in.get(), d_out.get(), n, threads);
    CUDA_CHECK(cudaGetLastError());
    CHECK_ARRAYS(d_out.download(), reversed(in));
    wb::check_unchanged(d_in.download(), in);
    CHECK(d_out.intact());
}

// Runs check(n, threads) for block sizes from 1 to the limit, with all parts full or the last not.
template <class Check>
void full_parts(Check check) {
    for (const int threads : {1, 31, 32, 33, 64, 256, 512, 1024})
        for (const int parts : {1, 2, 7}) check(parts * threads, threads);
}
template <class Check>
void ragged_parts(Check check) {
    for (const int threads : {2, 7, 31, 32, 33, 100, 256, 512, 1023, 1024})
        for (const int n : {1, 31, 33, 250, 255, 257, 1000, 1023, 5000}) check(n, threads);
}

// The efficiency tests use full parts and full warps, so that every access can be perfect.
constexpr int kCount = 1 << 16, kThreads = 256, kParts = kCount / kThreads;

// `extra`: requests that may use a bank twice, as for a slot outside of the tile.
void check_tile(const wb::Counters& counted, uint64_t load_sectors, uint64_t extra = 0) {
    CHECK(counted.launches == 1);
    CHECK(counted.global_load_sectors <= load_sectors);
    CHECK(counted.global_store_sectors == kCount / 8);
    CHECK(counted.block_barriers <= kParts);
    CHECK(counted.shared_load_conflicts + counted.shared_store_conflicts <= extra);
    wb::check_shared_work(counted, kCount / 8, 24);
}

// Every element is stored to shared memory and loaded from it.
void check_passes_through_a_tile(const wb::Counters& counted) {
    INFO("shared memory: " << counted.shared_store_requests << " stores and "
                           << counted.shared_load_requests << " loads of a warp for " << kCount / 32
                           << " warps of elements; want one of each: the tile is the exercise");
    CHECK(counted.shared_store_requests >= kCount / 32);
    CHECK(counted.shared_load_requests >= kCount / 32);
}

}  // namespace

TEST_CASE("task 1: subtracts neighbours when all blocks are full", "[task1]") {
    full_parts(check_differences);
}

TEST_CASE("task 1: subtracts neighbours when the last part is short", "[task1]") {
    ragged_parts(check_differences);
}

TEST_CASE("task 1: every thread of a block reaches the barrier", "[task1]") {
    check_differences(1000, 256);
}

TEST_CASE("task 1: launches nothing for an empty array", "[task1]") {
    check_differences(0, 256);
}

TEST_CASE("task 1: a refused launch is an exception", "[task1]") {
    wb::DeviceBuffer<float> d_in(wb::random_floats(100, 4)), d_out(100);
    wb::check_refused_launch("differences", [&] { differences(d_in.get(), d_out.get(), 100, 32); });
}

TEST_CASE("task 2: reverses each block's part when all blocks are full", "[task2]") {
    full_parts(check_reverse_blocks);
}

TEST_CASE("task 2: reverses each block's part when the last part is short", "[task2]") {
    ragged_parts(check_reverse_blocks);
}

TEST_CASE("task 2: every thread of a block reaches the barrier", "[task2]") {
    check_reverse_blocks(1000, 256);
}

TEST_CASE("task 2: restores the input when done twice", "[task2]") {
    const auto before = wb::random_floats(5000, 4);
    wb::GuardedBuffer<float> d_data(before, wb::guard(kGuard));
    reverse_blocks(d_data.get(), 5000, 256);
    CHECK_ARRAYS(d_data.download(), parts_reversed(before, 256));
    reverse_blocks(d_data.get(), 5000, 256);
    CHECK_ARRAYS(d_data.download(), before);
}

TEST_CASE("task 2: launches nothing for an empty array", "[task2]") {
    check_reverse_blocks(0, 256);
}

TEST_CASE("task 3: reverses the whole array when all blocks are full", "[task3]") {
    full_parts(check_reverse_array);
}

TEST_CASE("task 3: reverses the whole array when the last part is short", "[task3]") {
    ragged_parts(check_reverse_array);
}

TEST_CASE("task 3: every thread of a block reaches the barrier", "[task3]") {
    check_reverse_array(1000, 256);
}

TEST_CASE("task 3: restores the input when done twice", "[task3]") {
    const auto in = wb::random_floats(5000, 5);
    wb::GuardedBuffer<float> d_in(in, wb::guard(kGuard)), d_once(5000, 0), d_twice(5000, 0);
    reverse_array(d_in.get(), d_once.get(), 5000, 256);
    reverse_array(d_once.get(), d_twice.get(), 5000, 512);
    CHECK_ARRAYS(d_twice.download(), in);
}

TEST_CASE("task 3: launches nothing for an empty array", "[task3]") {
    check_reverse_array(0, 256);
}

TEST_CASE("task 3: a refused launch of either reversal is an exception", "[task3]") {
    wb::DeviceBuffer<float> d_in(wb::random_floats(100, 9)), d_out(100);
    wb::check_refused_launch("reverse_blocks", [&] { reverse_blocks(d_in.get(), 100, 32); });
    wb::check_refused_launch("reverse_array",
                             [&] { reverse_array(d_in.get(), d_out.get(), 100, 32); });
}

TEST_CASE("efficient: differences loads each element once, plus one for each block",
          "[efficient][task1]") {
    wb::DeviceBuffer<float> in(wb::random_floats(kCount, 6)), out(kCount);
    const auto counted = wb::count([&] { differences(in.get(), out.get(), kCount, kThreads); });
    NEED_COUNTERS(counted);
    CHECK(counted->global_load_bytes <= sizeof(float) * (kCount + kParts));
    // The right neighbour of a part's last element may wait in shared memory, too.
    check_tile(*counted, kCount / 8 + kParts, kParts);
}

TEST_CASE("efficient: reverse_blocks moves whole sectors, with one barrier for each block",
          "[efficient][task2]") {
    wb::DeviceBuffer<float> data(wb::random_floats(kCount, 7));
    const auto counted = wb::count([&] { reverse_blocks(data.get(), kCount, kThreads); });
    NEED_COUNTERS(counted);
    check_tile(*counted, kCount / 8);
    check_passes_through_a_tile(*counted);
}

TEST_CASE("efficient: reverse_array moves whole sectors, with one barrier for each block",
          "[efficient][task3]") {
    wb::DeviceBuffer<float> in(wb::random_floats(kCount, 8)), out(kCount);
    const auto counted = wb::count([&] { reverse_array(in.get(), out.get(), kCount, kThreads); });
    NEED_COUNTERS(counted);
    check_tile(*counted, kCount / 8);
    check_passes_through_a_tile(*counted);
}
