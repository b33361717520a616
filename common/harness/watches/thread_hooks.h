// SPDX-License-Identifier: MIT
// What tells a ThreadWatch of a lesson's host threads: functions that take the place of the C
// library's for threads, mutexes and memory, and of the library that code compiled with
// -fsanitize=thread calls. It *defines* functions: include it in one file of a program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <malloc.h>
#include <map>
#include <new>

#include <dlfcn.h>
#include <pthread.h>

#include "thread_watch.h"

namespace wb::watch_detail {

struct Start {
    void* (*work)(void*);
    void* argument;
    int number;
};
// The C library gives the stack of a thread that has ended to a new one. What the old thread did
// there is no history of the new one.
inline void forget_own_stack() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* lowest = nullptr;
    size_t bytes = 0;
    if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0)
        with_watch([&](ThreadWatch& w) { w.forget(uintptr_t(lowest), bytes); });
    pthread_attr_destroy(&attributes);
}
inline void* run(void* argument) {
    const Start start = *static_cast<Start*>(argument);
    delete static_cast<Start*>(argument);
    self = start.number;
    forget_own_stack();
    return start.work(start.argument);
}
inline std::map<pthread_t, int>& numbers() {
    static std::map<pthread_t, int> map;
    return map;
}
template <class F>
F* real(const char* name, F*) {
    return reinterpret_cast<F*>(dlsym(RTLD_NEXT, name));
}
inline void forget(void* data) {
    if (data)
        with_watch([&](ThreadWatch& w) { w.forget(uintptr_t(data), malloc_usable_size(data)); });
}
inline void* allocated(size_t bytes, size_t alignment) {
    void* data =
        alignment > alignof(std::max_align_t)
            ? std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment)
            : std::malloc(bytes ? bytes : 1);
    if (!data) throw std::bad_alloc();
    return data;
}

}  // namespace wb::watch_detail

// --- threads and mutexes
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                              void* (*work)(void*), void* argument) {
    using namespace wb::watch_detail;
    auto* start = new Start{work, argument, 0};
    with_watch([&](wb::ThreadWatch& w) { start->number = w.start(self); });
    const int number = start->number;
    const int error = real("pthread_create", &pthread_create)(thread, attributes, run, start);
    if (error == 0) with_watch([&](wb::ThreadWatch&) { numbers()[*thread] = number; });
    return error;
}
extern "C" int pthread_join(pthread_t thread, void** result) {
    using namespace wb::watch_detail;
    // Asked for before the join: after it, a new thread may have the same pthread_t.
    int number = 0;
    with_watch([&](wb::ThreadWatch&) {
        const auto found = numbers().find(thread);
        if (found == numbers().end()) return;
        number = found->second;
        numbers().erase(found);
    });
    const int error = real("pthread_join", &pthread_join)(thread, result);
    if (number == 0) return error;
    with_watch([&](wb::ThreadWatch& w) {
        if (error == 0)
            w.join(self, number);
        else
            numbers()[thread] = number;
    });
    return error;
}
// Waiting for a condition gives the mutex back for as long as it lasts. `wait(next)` calls the real
// function, whose current version must be asked for by name: older ones have another memory layout.
namespace wb::watch_detail {
template <class F, class Wait>
int wait_for_condition(const char* name, F* type, pthread_mutex_t* mutex, Wait wait) {
    F* next = nullptr;
    for (const char* version : {"GLIBC_2.30", "GLIBC_2.3.2", "GLIBC_2.17"})
        if (!next) next = reinterpret_cast<F*>(dlvsym(RTLD_NEXT, name, version));
    if (!next) next = real(name, type);
    release(mutex);
    const int error = wait(next);
    acquire(mutex);
    return error;
}
}  // namespace wb::watch_detail

extern "C" int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
    return wb::watch_detail::wait_for_condition("pthread_cond_wait",
                                                &pthread_cond_wait,
                                                mutex,
                                                [&](auto next) { return next(condition, mutex); });
}
extern "C" int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                      const timespec* until) {
    return wb::watch_detail::wait_for_condition(
        "pthread_cond_timedwait", &pthread_cond_timedwait, mutex, [&](auto next) {
            return next(condition, mutex, until);
        });
}
extern "C" int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                      clockid_t clock, const timespec* until) {
    return wb::watch_detail::wait_for_condition(
        "pthread_cond_clockwait", &pthread_cond_clockwait, mutex, [&](auto next) {
            return next(condition, mutex, clock, until);
        });
}
extern "C" int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
    static const auto next =
        wb::watch_detail::real("pthread_mutex_lock", (int (*)(pthread_mutex_t*)) nullptr);
    const int error = next(mutex);
    if (error == 0) wb::watch_detail::acquire(mutex);
    return error;
}
extern "C" int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
    static const auto next =
        wb::watch_detail::real("pthread_mutex_unlock", (int (*)(pthread_mutex_t*)) nullptr);
    wb::watch_detail::release(mutex);
    return next(mutex);
}

void* operator new(size_t bytes) {
    return wb::watch_detail::allocated(bytes, 0);
}
void* operator new(size_t bytes, std::align_val_t alignment) {
    return wb::watch_detail::allocated(bytes, size_t(alignment));
}
void operator delete(void* data) noexcept {
    wb::watch_detail::forget(data);
    std::free(data);
}
void operator delete(void* data, size_t) noexcept {
    operator delete(data);
}
void operator delete(void* data, std::align_val_t) noexcept {
    operator delete(data);
}
void operator delete(void* data, size_t, std::align_val_t) noexcept {
    operator delete(data);
}

// --- what code compiled with -fsanitize=thread calls
extern "C" {
void __tsan_init() {}
void __tsan_func_entry(void* returns_to) {
    wb::watch_detail::calls.enter(uint64_t(returns_to));
}
void __tsan_func_exit() {
    wb::watch_detail::calls.leave();
}
void __tsan_vptr_read(void**) {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_read_range(void* data, unsigned long bytes) {
    if (bytes) wb::watch_detail::access(data, bytes, false, __builtin_return_address(0));
}
void __tsan_write_range(void* data, unsigned long bytes) {
    if (bytes) wb::watch_detail::access(data, bytes, true, __builtin_return_address(0));
}
void __tsan_atomic_thread_fence(int) {
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}
void __tsan_atomic_signal_fence(int) {}

#define WB_ACCESS(bytes)                                                                           \
    void __tsan_read##bytes(void* data) {                                                          \
        wb::watch_detail::access(data, bytes, false, __builtin_return_address(0));                 \
    }                                                                                              \
    void __tsan_write##bytes(void* data) {                                                         \
        wb::watch_detail::access(data, bytes, true, __builtin_return_address(0));                  \
    }                                                                                              \
    void __tsan_volatile_read##bytes(void* data) {                                                 \
        wb::watch_detail::access(data, bytes, false, __builtin_return_address(0));                 \
    }                                                                                              \
    void __tsan_volatile_write##bytes(void* data) {                                                \
        wb::watch_detail::access(data, bytes, true, __builtin_return_address(0));                  \
    }                                                                                              \
    void __tsan_unaligned_read##bytes(void* data) {                                                \
        wb::watch_detail::access(data, bytes, false, __builtin_return_address(0));                 \
    }                                                                                              \
    void __tsan_unaligned_write##bytes(void* data) {                                               \
        wb::watch_detail::access(data, bytes, true, __builtin_return_address(0));                  \
    }
WB_ACCESS(1)
WB_ACCESS(2)
WB_ACCESS(4)
WB_ACCESS(8)
WB_ACCESS(16)
#undef WB_ACCESS

#define WB_ATOMIC_CHANGE(bits, type, change)                                                       \
    type __tsan_atomic##bits##_##change(volatile type* data, type value, int) {                    \
        wb::watch_detail::release_and_write(const_cast<type*>(data));                              \
        const type old = __atomic_##change(data, value, __ATOMIC_SEQ_CST);                         \
        wb::watch_detail::acquire(const_cast<type*>(data));                                        \
        return old;                                                                                \
    }
#define WB_ATOMIC(bits, type)                                                                      \
    type __tsan_atomic##bits##_load(const volatile type* data, int) {                              \
        const type value = __atomic_load_n(data, __ATOMIC_SEQ_CST);                                \
        wb::watch_detail::acquire(const_cast<const type*>(data));                                  \
        return value;                                                                              \
    }                                                                                              \
    void __tsan_atomic##bits##_store(volatile type* data, type value, int) {                       \
        wb::watch_detail::release_and_write(const_cast<type*>(data));                              \
        __atomic_store_n(data, value, __ATOMIC_SEQ_CST);                                           \
    }                                                                                              \
    type __tsan_atomic##bits##_exchange(volatile type* data, type value, int) {                    \
        wb::watch_detail::release_and_write(const_cast<type*>(data));                              \
        const type old = __atomic_exchange_n(data, value, __ATOMIC_SEQ_CST);                       \
        wb::watch_detail::acquire(const_cast<type*>(data));                                        \
        return old;                                                                                \
    }                                                                                              \
    WB_ATOMIC_CHANGE(bits, type, fetch_add)                                                        \
    WB_ATOMIC_CHANGE(bits, type, fetch_sub)                                                        \
    WB_ATOMIC_CHANGE(bits, type, fetch_and)                                                        \
    WB_ATOMIC_CHANGE(bits, type, fetch_or)                                                         \
    WB_ATOMIC_CHANGE(bits, type, fetch_xor)                                                        \
    int __tsan_atomic##bits##_compare_exchange_strong(                                             \
        volatile type* data, type* want, type value, int, int) {                                   \
        wb::watch_detail::release_and_write(const_cast<type*>(data));                              \
        const bool done = __atomic_compare_exchange_n(                                             \
            data, want, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);                         \
        wb::watch_detail::acquire(const_cast<type*>(data));                                        \
        return done;                                                                               \
    }                                                                                              \
    int __tsan_atomic##bits##_compare_exchange_weak(                                               \
        volatile type* data, type* want, type value, int success, int failure) {                   \
        return __tsan_atomic##bits##_compare_exchange_strong(data, want, value, success, failure); \
    }                                                                                              \
    type __tsan_atomic##bits##_compare_exchange_val(                                               \
        volatile type* data, type want, type value, int success, int failure) {                    \
        __tsan_atomic##bits##_compare_exchange_strong(data, &want, value, success, failure);       \
        return want;                                                                               \
    }
WB_ATOMIC(8, uint8_t)
WB_ATOMIC(16, uint16_t)
WB_ATOMIC(32, uint32_t)
WB_ATOMIC(64, uint64_t)
#undef WB_ATOMIC
#undef WB_ATOMIC_CHANGE
}  // extern "C"
