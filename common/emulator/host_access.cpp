// SPDX-License-Identifier: MIT
#include "host_access.h"

#include <sys/single_threaded.h>

#include "checks/host_watch.h"
#include "runtime/host_watch/host_calls.h"
#include "runtime/host_watch/host_pages.h"

namespace emulator {
namespace {

checks::HostWatch* watch = nullptr;
void (*after_touch)() = nullptr;

void review() {
    watch->review(
        [](const machine::Allocation& allocation, uint64_t page, const checks::PageUse& use) {
            runtime::use_page(allocation, page, use.written, use.touched);
        },
        runtime::use_nothing);
}

void on_touch(const runtime::PageTouch& touch) {
    watch->host_touched({touch.address, touch.bytes, touch.writes, touch.site});
    after_touch();
}

}  // namespace

void watch_host_accesses(const std::vector<checks::Checker>& checkers, runtime::FaultHooks& hooks,
                         void (*on_reported)()) {
    for (const checks::Checker& checker : checkers)
        if (auto* const found = dynamic_cast<checks::HostWatch*>(checker.observer.get()))
            watch = found;
    if (!watch) return;
    after_touch = on_reported;
    runtime::PagePolicy policy{};
    policy.has_news = [] { return watch->has_news(); };
    policy.in_flight = [] { return watch->uses_host_memory(); };
    policy.review = review;
    policy.on_touch = on_touch;
    policy.single_threaded = [] { return bool(__libc_single_threaded); };
    runtime::prepare_host_calls();
    runtime::watch_host_pages(policy);
    hooks.on_closed_page = runtime::open_closed_page;
    hooks.on_step = runtime::close_after_step;
}

}  // namespace emulator
