// SPDX-License-Identifier: MIT
#include "checks/source/resolvers.h"

#include <utility>

namespace checks {
namespace {

HostResolver& host_resolver() {
    static HostResolver resolver;
    return resolver;
}

SiteResolver active_site_resolver = nullptr;

}  // namespace

void set_host_resolver(HostResolver resolver) {
    host_resolver() = std::move(resolver);
}

ptx::SourceLine resolve_host(machine::HostSite site) {
    if (site == 0 || !host_resolver()) return {};
    return host_resolver()(site);
}

void set_site_resolver(SiteResolver resolver) {
    active_site_resolver = resolver;
}

const machine::CodeSite& site_of(machine::SiteId site) {
    return active_site_resolver ? active_site_resolver(site) : machine::code_site(site);
}

}  // namespace checks
