// SPDX-License-Identifier: MIT
// NCCL: values, groups, threads, arguments. With one card everything runs with one rank; on the
// emulated device with as many ranks as it has devices.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <limits>
#include <nccl.h>
#include <thread>

#include "ranks.h"

using namespace lab;

namespace {

template <class T>
constexpr ncclDataType_t kType = ncclFloat32;
template <>
constexpr ncclDataType_t kType<int8_t> = ncclInt8;
template <>
constexpr ncclDataType_t kType<uint8_t> = ncclUint8;
template <>
constexpr ncclDataType_t kType<int32_t> = ncclInt32;
template <>
constexpr ncclDataType_t kType<uint32_t> = ncclUint32;
template <>
constexpr ncclDataType_t kType<int64_t> = ncclInt64;
template <>
constexpr ncclDataType_t kType<uint64_t> = ncclUint64;
template <>
constexpr ncclDataType_t kType<double> = ncclFloat64;
template <>
constexpr ncclDataType_t kType<__half> = ncclFloat16;
template <>
constexpr ncclDataType_t kType<__nv_bfloat16> = ncclBfloat16;

double number(__half x) {
    return __half2float(x);
}
double number(__nv_bfloat16 x) {
    return __bfloat162float(x);
}
template <class T>
double number(T x) {
    return double(x);
}
template <class T>
T from(double x) {
    if constexpr (std::is_same_v<T, __half>)
        return __float2half(float(x));
    else if constexpr (std::is_same_v<T, __nv_bfloat16>)
        return __float2bfloat16(float(x));
    else
        return T(x);
}

constexpr size_t kCount = 1000;

// Small whole numbers: every type and every operator gives exact results.
double input(int rank, size_t i) {
    return double((i * 7 + size_t(rank) * 3) % 5 + 1);
}
template <class T>
std::vector<T> inputs(int rank, size_t count = kCount) {
    std::vector<T> out(count);
    for (size_t i = 0; i < count; ++i) out[i] = from<T>(input(rank, i));
    return out;
}
double expected(ncclRedOp_t op, int ranks, size_t i) {
    double value = input(0, i);
    for (int rank = 1; rank < ranks; ++rank) {
        const double x = input(rank, i);
        value = op == ncclProd  ? value * x
                : op == ncclMax ? std::max(value, x)
                : op == ncclMin ? std::min(value, x)
                                : value + x;
    }
    return op == ncclAvg ? value / ranks : value;
}

template <class T>
void check_all_reduce(ncclRedOp_t op) {
    const Ranks ranks;
    auto in = ranks.arrays<T>([](int rank) { return inputs<T>(rank); });
    auto out = ranks.arrays<T>([](int) { return std::vector<T>(kCount); });
    REQUIRE(ranks.group([&](int rank, ncclComm_t comm, cudaStream_t stream) {
        return ncclAllReduce(
            *in[size_t(rank)], *out[size_t(rank)], kCount, kType<T>, op, comm, stream);
    }) == ncclSuccess);
    const bool whole = std::numeric_limits<T>::is_integer;
    for (const auto& values : ranks.values(out))
        for (size_t i = 0; i < kCount; ++i) {
            double want = expected(op, ranks.count(), i);
            if (whole) want = std::trunc(want);
            if (number(values[i]) != want) {
                CAPTURE(int(op), i, want);
                REQUIRE(number(values[i]) == Approx(want).epsilon(whole ? 0 : 0.01));
            }
        }
}

}  // namespace

TEMPLATE_TEST_CASE("ncclAllReduce: every operator of every type", "[collectives]", int8_t, uint8_t,
                   int32_t, uint32_t, int64_t, uint64_t, __half, float, double, __nv_bfloat16) {
    check_all_reduce<TestType>(ncclSum);
    check_all_reduce<TestType>(ncclMax);
    check_all_reduce<TestType>(ncclMin);
    check_all_reduce<TestType>(ncclAvg);
    if (sizeof(TestType) > 1) check_all_reduce<TestType>(ncclProd);
}

TEST_CASE("ncclAllReduce: sums of int8 wrap", "[collectives]") {
    const Ranks ranks;
    auto in = ranks.arrays<int8_t>([](int) { return std::vector<int8_t>(4, 100); });
    REQUIRE(ranks.group([&](int rank, ncclComm_t comm, cudaStream_t stream) {
        int8_t* const x = *in[size_t(rank)];
        return ncclAllReduce(x, x, 4, ncclInt8, ncclSum, comm, stream);
    }) == ncclSuccess);
    for (const auto& values : ranks.values(in)) CHECK(values[3] == int8_t(100 * ranks.count()));
}

TEST_CASE("ncclAllReduce: a NaN stays in a maximum", "[collectives]") {
    const Ranks ranks;
    auto in = ranks.arrays<float>([](int rank) {
        return std::vector<float>{rank == 0 ? float(NAN) : 1.0f, 2.0f};
    });
    REQUIRE(ranks.group([&](int rank, ncclComm_t comm, cudaStream_t stream) {
        float* const x = *in[size_t(rank)];
        return ncclAllReduce(x, x, 2, ncclFloat, ncclMax, comm, stream);
    }) == ncclSuccess);
    for (const auto& values : ranks.values(in)) {
        CHECK(std::isnan(values[0]));
        CHECK(values[1] == 2.0f);
    }
}

TEST_CASE("ncclAllReduce: in place, several in one group", "[collectives]") {
    const Ranks ranks;
    auto a = ranks.arrays<float>([](int rank) { return inputs<float>(rank); });
    auto b = ranks.arrays<int32_t>([](int rank) { return inputs<int32_t>(rank); });
    REQUIRE(ranks.group([&](int rank, ncclComm_t comm, cudaStream_t stream) {
        float* const x = *a[size_t(rank)];
        int32_t* const y = *b[size_t(rank)];
        const ncclResult_t first = ncclAllReduce(x, x, kCount, ncclFloat, ncclSum, comm, stream);
        const ncclResult_t second = ncclAllReduce(y, y, kCount, ncclInt32, ncclMax, comm, stream);
        return first == ncclSuccess ? second : first;
    }) == ncclSuccess);
    for (const auto& values : ranks.values(a))
        CHECK(values[17] == float(expected(ncclSum, ranks.count(), 17)));
    for (const auto& values : ranks.values(b))
        CHECK(values[17] == int32_t(expected(ncclMax, ranks.count(), 17)));
}

TEST_CASE("ncclReduce: only the root has the result", "[collectives]") {
    const Ranks ranks;
    const int root = ranks.count() - 1;
    auto in = ranks.arrays<double>([](int rank) { return inputs<double>(rank); });
    auto out = ranks.arrays<double>([](int) { return std::vector<double>(kCount, -1); });
    REQUIRE(ranks.group([&](int rank, ncclComm_t comm, cudaStream_t stream) {
        double* const to = rank == root ? static_cast<double*>(*out[size_t(rank)]) : nullptr;
        return ncclReduce(*in[size_t(rank)], to, kCount, ncclDouble, ncclSum, root, comm, stream);
    }) == ncclSuccess);
    const auto values = ranks.values(out);
    for (int rank = 0; rank < ranks.count(); ++rank)
        CHECK(values[size_t(rank)][9] ==
              (rank == root ? expected(ncclSum, ranks.count(), 9) : -1.0));
}

TEST_CASE("ncclBroadcast and ncclBcast: everyone has what the root had", "[collectives]") {
    const Ranks ranks;
    const int root = ranks.count() - 1;
    auto in = ranks.arrays<float>([](int rank) { return inputs<float>(rank); });
    auto out = ranks.arrays<float>([](int) { return std::vector<float>(kCount); });
    REQUIRE(ranks.group([&](int rank, ncclComm_t comm, cudaStream_t stream) {
        return ncclBroadcast(
            *in[size_t(rank)], *out[size_t(rank)], kCount, ncclFloat, root, comm, stream);
    }) == ncclSuccess);
    REQUIRE(ranks.group([&](int rank, ncclComm_t comm, cudaStream_t stream) {
        return ncclBcast(*in[size_t(rank)], kCount, ncclFloat, root, comm, stream);
    }) == ncclSuccess);
    for (const auto& values : ranks.values(out)) CHECK(values == inputs<float>(root));
    for (const auto& values : ranks.values(in)) CHECK(values == inputs<float>(root));
}

TEST_CASE("ncclAllGather: all parts in the order of the ranks, also in place", "[collectives]") {
    const Ranks ranks;
    const size_t n = size_t(ranks.count());
    auto out = ranks.arrays<int32_t>([&](int rank) {
        std::vector<int32_t> values(kCount * n, -1);
        const auto own = inputs<int32_t>(rank);
        std::copy(own.begin(), own.end(), values.begin() + std::ptrdiff_t(size_t(rank) * kCount));
        return values;
    });
    REQUIRE(ranks.group([&](int rank, ncclComm_t comm, cudaStream_t stream) {
        int32_t* const all = *out[size_t(rank)];
        return ncclAllGather(all + size_t(rank) * kCount, all, kCount, ncclInt32, comm, stream);
    }) == ncclSuccess);
    for (const auto& values : ranks.values(out))
        for (size_t i = 0; i < values.size(); ++i)
            if (values[i] != int32_t(input(int(i / kCount), i % kCount)))
                REQUIRE(values[i] == int32_t(input(int(i / kCount), i % kCount)));
}

TEST_CASE("ncclReduceScatter: every rank has its part of the sum", "[collectives]") {
    const Ranks ranks;
    const size_t n = size_t(ranks.count());
    auto in = ranks.arrays<float>([&](int rank) { return inputs<float>(rank, kCount * n); });
    auto out = ranks.arrays<float>([](int) { return std::vector<float>(kCount); });
    REQUIRE(ranks.group([&](int rank, ncclComm_t comm, cudaStream_t stream) {
        return ncclReduceScatter(
            *in[size_t(rank)], *out[size_t(rank)], kCount, ncclFloat, ncclSum, comm, stream);
    }) == ncclSuccess);
    const auto values = ranks.values(out);
    for (size_t rank = 0; rank < n; ++rank)
        for (const size_t i : {size_t(0), kCount - 1})
            CHECK(values[rank][i] == float(expected(ncclSum, int(n), rank * kCount + i)));
}

TEST_CASE("ncclSend and ncclRecv: a ring, all in one group", "[collectives]") {
    const Ranks ranks;
    const int n = ranks.count();
    auto in = ranks.arrays<float>([](int rank) { return inputs<float>(rank); });
    auto out = ranks.arrays<float>([](int) { return std::vector<float>(kCount); });
    REQUIRE(ranks.group([&](int rank, ncclComm_t comm, cudaStream_t stream) {
        const ncclResult_t sent =
            ncclSend(*in[size_t(rank)], kCount, ncclFloat, (rank + 1) % n, comm, stream);
        const ncclResult_t received =
            ncclRecv(*out[size_t(rank)], kCount, ncclFloat, (rank + n - 1) % n, comm, stream);
        return sent == ncclSuccess ? received : sent;
    }) == ncclSuccess);
    const auto values = ranks.values(out);
    for (int rank = 0; rank < n; ++rank)
        CHECK(values[size_t(rank)] == inputs<float>((rank + n - 1) % n));
}

TEST_CASE("PreMulSum: each rank's values times its own scalar", "[collectives]") {
    const Ranks ranks;
    auto in = ranks.arrays<float>([](int) { return std::vector<float>(4, 1); });
    auto scalars = ranks.arrays<float>([](int rank) { return std::vector<float>{rank + 2.0f}; });
    for (const bool on_device : {false, true}) {
        auto out = ranks.arrays<float>([](int) { return std::vector<float>(4); });
        std::vector<ncclRedOp_t> ops(size_t(ranks.count()));
        ranks.each([&](int rank) {
            float scalar = float(rank) + 2;
            float* const there = *scalars[size_t(rank)];
            REQUIRE(ncclRedOpCreatePreMulSum(&ops[size_t(rank)],
                                             on_device ? there : &scalar,
                                             ncclFloat,
                                             on_device ? ncclScalarDevice : ncclScalarHostImmediate,
                                             ranks.comms[size_t(rank)]) == ncclSuccess);
        });
        REQUIRE(ranks.group([&](int rank, ncclComm_t comm, cudaStream_t stream) {
            return ncclAllReduce(*in[size_t(rank)],
                                 *out[size_t(rank)],
                                 4,
                                 ncclFloat,
                                 ops[size_t(rank)],
                                 comm,
                                 stream);
        }) == ncclSuccess);
        float want = 0;
        for (int rank = 0; rank < ranks.count(); ++rank) want += float(rank) + 2;
        for (const auto& values : ranks.values(out)) CHECK(values[3] == want);
        for (int rank = 0; rank < ranks.count(); ++rank)
            CHECK(ncclRedOpDestroy(ops[size_t(rank)], ranks.comms[size_t(rank)]) == ncclSuccess);
    }
}

TEST_CASE("a thread for each rank, with ncclCommInitRank", "[collectives]") {
    const int n = devices();
    ncclUniqueId id;
    REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
    std::vector<float> results(size_t(n), 0);
    std::vector<int> failures(size_t(n), 0);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < n; ++rank)
        threads.emplace_back([&, rank] {
            int& failed = failures[size_t(rank)];
            const auto need = [&](bool ok) { failed += !ok; };
            need(cudaSetDevice(rank) == cudaSuccess);
            ncclComm_t comm = nullptr;
            need(ncclCommInitRank(&comm, n, id, rank) == ncclSuccess);
            int device = -1, own = -1, count = -1;
            need(ncclCommCuDevice(comm, &device) == ncclSuccess && device == rank);
            need(ncclCommUserRank(comm, &own) == ncclSuccess && own == rank);
            need(ncclCommCount(comm, &count) == ncclSuccess && count == n);
            float* x = nullptr;
            const float mine = float(rank + 1);
            need(cudaMalloc(&x, sizeof *x) == cudaSuccess);
            need(cudaMemcpy(x, &mine, sizeof mine, cudaMemcpyHostToDevice) == cudaSuccess);
            for (int step = 0; step < 20; ++step)
                need(ncclAllReduce(x, x, 1, ncclFloat, step ? ncclMax : ncclSum, comm, nullptr) ==
                     ncclSuccess);
            need(cudaMemcpy(&results[size_t(rank)], x, sizeof mine, cudaMemcpyDeviceToHost) ==
                 cudaSuccess);
            need(cudaFree(x) == cudaSuccess);
            need(ncclCommDestroy(comm) == ncclSuccess);
        });
    for (std::thread& thread : threads) thread.join();
    for (int rank = 0; rank < n; ++rank) {
        CHECK(failures[size_t(rank)] == 0);
        CHECK(results[size_t(rank)] == float(n * (n + 1) / 2));
    }
}

TEST_CASE("ncclCommInitRank for all ranks of one thread, in a group", "[collectives]") {
    const int n = devices();
    ncclUniqueId id;
    REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
    std::vector<ncclComm_t> comms(size_t(n), nullptr);
    REQUIRE(ncclGroupStart() == ncclSuccess);
    for (int rank = 0; rank < n; ++rank) {
        REQUIRE(cudaSetDevice(n - 1 - rank) == cudaSuccess);
        REQUIRE(ncclCommInitRank(&comms[size_t(rank)], n, id, rank) == ncclSuccess);
    }
    REQUIRE(ncclGroupEnd() == ncclSuccess);
    for (int rank = 0; rank < n; ++rank) {
        int device = -1;
        CHECK(ncclCommCuDevice(comms[size_t(rank)], &device) == ncclSuccess);
        CHECK(device == n - 1 - rank);
        CHECK(ncclCommDestroy(comms[size_t(rank)]) == ncclSuccess);
    }
    cudaSetDevice(0);
}

TEST_CASE("two cliques in one group", "[collectives]") {
    const Ranks ranks;
    std::vector<int> order;
    for (int rank = ranks.count() - 1; rank >= 0; --rank) order.push_back(rank);
    std::vector<ncclComm_t> reversed(order.size());
    REQUIRE(ncclCommInitAll(reversed.data(), ranks.count(), order.data()) == ncclSuccess);
    auto sum = ranks.arrays<float>([](int rank) { return std::vector<float>{float(rank + 1)}; });
    auto first = ranks.arrays<float>([](int rank) { return std::vector<float>{float(rank)}; });
    REQUIRE(ranks.group([&](int device, ncclComm_t comm, cudaStream_t stream) {
        float *const x = *sum[size_t(device)], *const y = *first[size_t(device)];
        const ncclResult_t one = ncclAllReduce(x, x, 1, ncclFloat, ncclSum, comm, stream);
        const ncclComm_t other = reversed[size_t(ranks.count() - 1 - device)];
        const ncclResult_t two = ncclBroadcast(y, y, 1, ncclFloat, 0, other, stream);
        return one == ncclSuccess ? two : one;
    }) == ncclSuccess);
    for (const auto& values : ranks.values(sum))
        CHECK(values[0] == float(ranks.count() * (ranks.count() + 1) / 2));
    for (const auto& values : ranks.values(first)) CHECK(values[0] == float(ranks.count() - 1));
    for (const ncclComm_t comm : reversed) CHECK(ncclCommDestroy(comm) == ncclSuccess);
}

TEST_CASE("NCCL: arguments that it refuses", "[collectives]") {
    const Ranks ranks;
    auto array = ranks.arrays<float>([](int) { return std::vector<float>(4, 1); });
    float* const x = *array[0];
    const ncclComm_t comm = ranks.comms[0];
    const cudaStream_t stream = ranks.streams[0];
    const auto reduce = [&](ncclDataType_t type, int root, ncclComm_t with) {
        return ncclReduce(x, x, 4, type, ncclSum, root, with, stream);
    };
    CHECK(reduce(ncclDataType_t(99), 0, comm) == ncclInvalidArgument);
    CHECK(reduce(ncclFloat, ranks.count(), comm) == ncclInvalidArgument);
    CHECK(reduce(ncclFloat, -1, comm) == ncclInvalidArgument);
    CHECK(reduce(ncclFloat, 0, nullptr) == ncclInvalidArgument);
    ncclComm_t made = nullptr;
    ncclUniqueId id;
    REQUIRE(ncclGetUniqueId(&id) == ncclSuccess);
    CHECK(ncclCommInitRank(&made, 2, id, 2) == ncclInvalidArgument);
    CHECK(ncclCommInitRank(&made, 0, id, 0) == ncclInvalidArgument);
    CHECK(ncclGroupEnd() == ncclInvalidUsage);
    CHECK(ncclGetUniqueId(nullptr) == ncclInvalidArgument);
    CHECK(ncclCommDestroy(nullptr) == ncclSuccess);
    int version = 0;
    CHECK(ncclGetVersion(&version) == ncclSuccess);
    CHECK(version > 20000);
    CHECK(ncclGetErrorString(ncclSuccess) == std::string("no error"));
    ncclResult_t state = ncclInternalError;
    CHECK(ncclCommGetAsyncError(comm, &state) == ncclSuccess);
    CHECK(state == ncclSuccess);
}

TEST_CASE("NCCL: nothing to reduce", "[collectives]") {
    const Ranks ranks;
    REQUIRE(ranks.group([&](int, ncclComm_t comm, cudaStream_t stream) {
        return ncclAllReduce(nullptr, nullptr, 0, ncclFloat, ncclSum, comm, stream);
    }) == ncclSuccess);
}
