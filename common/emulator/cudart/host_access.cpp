// SPDX-License-Identifier: MIT
#include "cudart/host_access.h"

#include <mutex>
#include <string>

#include <sys/single_threaded.h>

#include "checks/host_watch.h"
#include "runtime/core/context.h"
#include "runtime/host_watch/host_calls.h"
#include "runtime/host_watch/host_pages.h"
#include "runtime/host_watch/host_sites.h"

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
        if (checker.host_watch) watch = checker.host_watch;
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

int host_uses(const char* api, const void* address, uint64_t bytes, bool writes) {
    runtime::Context& all = runtime::context();
    const std::lock_guard lock(all.mutex);
    const auto at = reinterpret_cast<uint64_t>(address);
    const machine::HostSite site = runtime::capture_host_site();
    const machine::Allocation* const found = all.memory.find(at);
    if (!found || !found->contains(at, 1)) return 0;
    if (!found->host_visible()) {
        machine::ApiEvent event{};
        event.kind = machine::ApiEvent::Kind::kHostDereference;
        event.api = api;
        event.error = cudaErrorIllegalAddress;
        event.address = at;
        event.allocation = found;
        event.site = site;
        event.message = std::string("`") + api + (writes ? "` writes to" : "` reads") +
                        " device memory of " + std::to_string(found->bytes) +
                        " bytes, which host code cannot access: copy to or from host memory";
        all.fire(event);
        return 1;
    }
    if (watch && found->live) {
        watch->host_touched({at, bytes, writes, site});
        after_touch();
    }
    return 0;
}

}  // namespace emulator
