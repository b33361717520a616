// SPDX-License-Identifier: MIT
// Thrust: a result vector that is too small, an index out of range in a functor, a gather with a
// bad map.
#include <thrust/device_vector.h>
#include <thrust/gather.h>
#include <thrust/sequence.h>
#include <thrust/transform.h>

struct Lookup {
    const int* table;
    __device__ int operator()(int i) const {
        return table[i];  // expect: out-of-bounds-global
    }
};

struct Twice {
    __device__ int operator()(int i) const { return 2 * i; }
};

int main() {
    thrust::device_vector<int> in(300), small(256), table(64), out(300);
    thrust::sequence(in.begin(), in.end());
    // expect: out-of-bounds-global
    thrust::transform(in.begin(), in.end(), small.begin(), Twice{});
    thrust::transform(
        in.begin(), in.end(), out.begin(), Lookup{thrust::raw_pointer_cast(table.data())});
    // expect: out-of-bounds-global
    thrust::gather(in.begin(), in.end(), table.begin(), out.begin());
    thrust::transform(in.begin(), in.end(), out.begin(), Twice{});
}
