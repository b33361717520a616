// SPDX-License-Identifier: MIT
// Arrays of pointers in device memory, which batched functions get: the pointers are read in stream
// order before the function's operands can be listed.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stand_in.h"

namespace stand_in {

template <class T>
class PointerArray {
public:
    // `api`: the function; `name`: its parameter; `array`: `count` pointers in device memory.
    PointerArray(cudaStream_t stream, const char* api, const char* name, T* const* array,
                 int64_t count) {
        const auto read = std::make_shared<std::vector<T*>>();
        LibraryKernel kernel;
        kernel.api = api;
        kernel.stream = stream;
        kernel.operands = {vector_of(name, array, count)};
        kernel.compute = [=](std::byte* const* at) {
            T* const* first = reinterpret_cast<T* const*>(at[0]);
            read->assign(first, first + count);
        };
        if (emulatorRunLibraryKernel(kernel) != cudaSuccess) return;
        if (read->empty()) {
            // A capture computes nothing yet, and a replay may find other pointers.
            emulatorLibraryLacks((std::string(api) + " while a graph is captured").c_str());
            captured_ = true;
            return;
        }
        pointers_ = std::move(*read);
    }

    bool known() const { return !pointers_.empty(); }
    // Not known since a graph is captured, which is not supported; otherwise a launch has failed.
    bool captured() const { return captured_; }
    auto begin() const { return pointers_.begin(); }
    auto end() const { return pointers_.end(); }

private:
    std::vector<T*> pointers_;
    bool captured_ = false;
};

// An array of the API's pointers as one of pointers to what is computed with.
template <class T>
Number<T>* const* numbers(T* const* array) {
    return reinterpret_cast<Number<T>* const*>(array);
}
template <class T>
const Number<T>* const* numbers(const T* const* array) {
    return reinterpret_cast<const Number<T>* const*>(array);
}

}  // namespace stand_in
