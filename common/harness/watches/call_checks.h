// SPDX-License-Identifier: MIT
// Checks that a student's function checks what its CUDA calls return: one of them fails, and an
// exception must come out.
#pragma once

#include <string>

#include "cuda_calls.h"
#include "lesson_test.h"

namespace wb {
namespace {

// How `work` ended: as it should, by a wb::CudaError, or in words that complete "returned ...".
struct Ending {
    bool cuda_error = false;
    std::string other;  // what was thrown instead
};

inline Ending ending_of(const std::function<void()>& work) {
    try {
        work();
    } catch (const CudaError&) {
        return {true, ""};
    } catch (const std::exception& error) {
        return {false, error.what()};
    } catch (...) {
        return {false, "something that is no std::exception"};
    }
    return {};
}

inline bool throws_cuda_error(const std::function<void()>& work) {
    return ending_of(work).cuda_error;
}

// Every launch of `work` is refused, which must end as a wb::CudaError. `name`: the function under
// test, as the student reads it.
inline void check_refused_launch(const char* name, const std::function<void()>& work) {
    CallWatch watch;
    watch.refuse_launches = true;
    const Ending ending = ending_of(work);
    const bool thrown = ending.cuda_error;
    const std::string function = std::string(name) + "()";
    INFO((!watch.launches() ? function + " launched no kernel: where is the work done?"
          : ending.other.empty()
              ? "the launch was refused, and " + function + " returned as if it had run"
              : "the launch was refused, and " + function + " threw `" + ending.other +
                    "`, which is not the promised wb::CudaError: CUDA_CHECK throws it"));
    CHECK(thrown);
}

// Each copy, fill and question among the calls of `work` fails once, the others going on as usual;
// that must end as a wb::CudaError. Waits and clean-up may go unchecked: what fails there was not
// asked for by this function.
inline void check_failing_calls(const char* name, const std::function<void()>& work) {
    std::vector<CudaCall> calls;
    {
        CallWatch watch;
        work();
        calls = watch.calls;
    }
    const auto has = [](const CudaCall& call, const char* part) {
        return call.name.find(part) != std::string::npos;
    };
    std::string dropped;
    for (size_t k = 0; k < calls.size() && dropped.empty(); ++k) {
        const CudaCall& call = calls[k];
        if (!has(call, "Mem") && !has(call, "Symbol") && !has(call, "Malloc") &&
            !has(call, "DeviceGet") && !has(call, "GetDevice") && !has(call, "Occupancy"))
            continue;
        CallWatch watch;
        watch.fail_call = k;
        watch.error = cudaErrorUnknown;
        if (!throws_cuda_error(work)) dropped = call.name;
    }
    INFO("when " << dropped << " fails, " << name << "() returns as if it had not");
    const bool every_call_is_looked_at = dropped.empty();
    CHECK(every_call_is_looked_at);
}

}  // namespace
}  // namespace wb
