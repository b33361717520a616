// SPDX-License-Identifier: MIT
// Brings the calls of the ranks together, and finds those that never will be.
#include <algorithm>
#include <chrono>
#include <unistd.h>

#include "collectives/communicator.h"
#include "collectives/other_threads.h"

namespace collectives {

namespace {

using Finding = emulator::CollectiveFinding;
using namespace std::chrono_literals;

constexpr size_t kMostNotes = 8;  // of one finding

std::string quoted(const char* api) {
    return '`' + std::string(api) + '`';
}

std::string list_of(const std::vector<std::string>& words) {
    std::string text;
    for (size_t i = 0; i < words.size(); ++i)
        text += (i == 0 ? "" : i + 1 == words.size() ? " and " : ", ") + words[i];
    return text;
}

// "`ncclSend` to rank 1"
std::string call_text(const Request& r) {
    if (r.kind == Kind::kSend) return quoted(r.api) + " to rank " + std::to_string(r.root);
    if (r.kind == Kind::kReceive) return quoted(r.api) + " from rank " + std::to_string(r.root);
    return quoted(r.api);
}

Finding::Note waits(const Request& r) {
    return {r.site, "rank " + std::to_string(r.rank) + " waits in " + call_text(r)};
}

void mismatch(Clique& clique, const Request& one, const Request& other, const char* detail,
              const std::string& what, const std::string& first, const std::string& second) {
    Finding finding;
    finding.kind = Finding::Kind::kMismatch;
    finding.api = other.api;
    finding.detail = detail;
    finding.message = what + ": " + first + " from rank " + std::to_string(one.rank) + " and " +
                      second + " from rank " + std::to_string(other.rank);
    finding.site = other.site;
    finding.notes = {{one.site, "rank " + std::to_string(one.rank) + " calls " + quoted(one.api)}};
    emulatorReportCollective(finding);
    fail(clique, ncclInvalidUsage, finding.message);
}

// Whether two ranks' calls belong together; else there is a finding and the clique is broken.
bool agree(Clique& clique, const Request& one, const Request& other) {
    const auto differ = [&](const char* detail,
                            const std::string& what,
                            const std::string& first,
                            const std::string& second) {
        mismatch(clique, one, other, detail, what, first, second);
        return false;
    };
    const std::string gets = quoted(other.api) + " gets different ";
    const bool message = one.kind == Kind::kSend;
    if (!message && one.kind != other.kind)
        return differ(
            "call", "the ranks call different collectives", quoted(one.api), quoted(other.api));
    if (one.count != other.count)
        return differ(
            "count", gets + "counts", std::to_string(one.count), std::to_string(other.count));
    if (one.type != other.type)
        return differ("type", gets + "data types", name_of(one.type), name_of(other.type));
    if (message) return true;
    const bool reduces = one.kind == Kind::kAllReduce || one.kind == Kind::kReduce ||
                         one.kind == Kind::kReduceScatter;
    const auto op = [](const Request& r) { return std::min(r.reduction.op, ncclNumOps); };
    if (reduces && op(one) != op(other))
        return differ(
            "op", gets + "operators", name_of(one.reduction.op), name_of(other.reduction.op));
    if (one.root != other.root)
        return differ("root", gets + "roots", std::to_string(one.root), std::to_string(other.root));
    return true;
}

// The next collective, if all ranks have come; false if it cannot run yet.
bool advance_collective(Clique& clique) {
    std::vector<RequestPtr> ranks;
    for (auto& calls : clique.calls)
        if (!calls.empty()) ranks.push_back(calls.front());
    for (size_t i = 1; i < ranks.size(); ++i)
        if (!agree(clique, *ranks.front(), *ranks[i])) return false;
    if (ranks.empty() || int(ranks.size()) < clique.size) return false;
    for (auto& calls : clique.calls) calls.pop_front();
    run(ranks);
    return true;
}

bool advance_messages(Clique& clique) {
    bool any = false;
    for (auto& [ends, sends] : clique.sends) {
        auto& receives = clique.receives[ends];
        while (!sends.empty() && !receives.empty()) {
            const RequestPtr from = sends.front(), to = receives.front();
            if (!agree(clique, *from, *to)) return false;
            sends.pop_front();
            receives.pop_front();
            run({from, to});
            any = true;
        }
    }
    return any;
}

void hand_over(const RequestPtr& request) {
    Clique& clique = *request->clique;
    const auto index = size_t(request->rank);
    switch (request->kind) {
    case Kind::kInit:
        clique.joined[index] = request;
        join(request->clique);
        break;
    case Kind::kSend:
        clique.sends[{request->rank, request->root}].push_back(request);
        break;
    case Kind::kReceive:
        clique.receives[{request->root, request->rank}].push_back(request);
        break;
    default:
        clique.calls[index].push_back(request);
    }
}

// The calls of a clique that wait, those of one rank one after the other.
std::vector<RequestPtr> waiting_in(const Clique& clique) {
    std::vector<RequestPtr> out;
    for (const auto& [thread, requests] : state().waiting)
        for (const RequestPtr& r : requests)
            if (!r->done && r->clique.get() == &clique) out.push_back(r);
    std::stable_sort(out.begin(), out.end(), [](const RequestPtr& a, const RequestPtr& b) {
        return a->rank < b->rank;
    });
    return out;
}

// What the oldest waiting collective, or message, is missing.
std::string missing_text(const Clique& clique, const std::vector<RequestPtr>& waiting) {
    const Request& first = *waiting.front();
    if (first.kind == Kind::kSend || first.kind == Kind::kReceive) {
        const bool sends = first.kind == Kind::kSend;
        return "rank " + std::to_string(first.rank) + " waits in " + call_text(first) +
               ", and rank " + std::to_string(first.root) + " never calls " +
               (sends ? "`ncclRecv` from rank " : "`ncclSend` to rank ") +
               std::to_string(first.rank);
    }
    std::vector<int> here, absent;
    for (int rank = 0; rank < clique.size; ++rank) {
        const bool came = std::any_of(waiting.begin(), waiting.end(), [&](const RequestPtr& r) {
            return r->rank == rank && r->kind == first.kind;
        });
        (came ? here : absent).push_back(rank);
    }
    return ranks_text(here) + (here.size() == 1 ? " waits in " : " wait in ") + quoted(first.api) +
           ", and " + ranks_text(absent) +
           (absent.size() == 1 ? " never calls it" : " never call it");
}

void note_empty(Clique& clique, const Request& r) {
    if (clique.empty.size() == kMostNotes) return;
    clique.empty.push_back({r.site,
                            "rank " + std::to_string(r.rank) + " called " + quoted(r.api) +
                                " with a count of 0, which does nothing"});
}

void report_clique(Clique& clique, bool only_thread) {
    const std::vector<RequestPtr> waiting = waiting_in(clique);
    if (waiting.empty()) return;
    const Request& first = *waiting.front();
    Finding finding;
    finding.kind = Finding::Kind::kDeadlock;
    finding.api = first.api;
    finding.site = first.site;
    // A call outside of a group is alone in what its thread waits for.
    const bool alone = waiting.size() == 1 && !first.grouped;
    finding.detail = only_thread && alone ? "no-group" : "missing-rank";
    finding.message = missing_text(clique, waiting);
    if (only_thread && alone)
        finding.message += ": the thread that calls for all ranks waits in this one, so call them "
                           "between `ncclGroupStart` and `ncclGroupEnd`";
    for (const RequestPtr& r : waiting)
        if (finding.notes.size() < kMostNotes && r->site != first.site)
            finding.notes.push_back(waits(*r));
    for (const Finding::Note& note : clique.empty)
        if (finding.notes.size() < kMostNotes) finding.notes.push_back(note);
    emulatorReportCollective(finding);
    fail(clique, ncclInvalidUsage, finding.message);
}

bool done(const std::vector<RequestPtr>& requests) {
    return std::all_of(requests.begin(), requests.end(), [](auto& r) { return r->done; });
}

// The longest that any thread waits, whatever the others seem to do.
constexpr auto kLongest = 5min;

}  // namespace

std::string ranks_text(const std::vector<int>& ranks) {
    std::vector<std::string> words;
    for (const int rank : ranks) words.push_back(std::to_string(rank));
    return (ranks.size() == 1 ? "rank " : "ranks ") + list_of(words);
}

void fail(Clique& clique, ncclResult_t result, const std::string& message) {
    const auto end = [&](const RequestPtr& r) {
        if (!r) return;
        r->done = true;
        r->result = result;
        if (!communicators().has(r->comm)) return;
        r->comm->error = result;
        r->comm->last_error = message;
    };
    clique.broken = true;
    clique.failure = message;
    clique.gathering = false;
    for (auto* messages : {&clique.sends, &clique.receives}) {
        for (auto& [ends, calls] : *messages) std::for_each(calls.begin(), calls.end(), end);
        messages->clear();
    }
    for (auto& calls : clique.calls) {
        std::for_each(calls.begin(), calls.end(), end);
        calls.clear();
    }
    for (RequestPtr& request : clique.joined) {
        end(request);
        request.reset();
    }
}

void advance(Clique& clique) {
    while (!clique.broken && (advance_messages(clique) || advance_collective(clique))) {
    }
}

void report_deadlock(bool only_thread) {
    std::set<Clique*> cliques;
    std::vector<std::shared_ptr<Clique>> in_order;
    for (const auto& [thread, requests] : state().waiting)
        for (const RequestPtr& r : requests)
            if (!r->done && cliques.insert(r->clique.get()).second) in_order.push_back(r->clique);
    for (const auto& clique : in_order) report_clique(*clique, only_thread);
}

ncclResult_t post(const std::vector<RequestPtr>& requests) {
    State& all = state();
    std::unique_lock lock(all.mutex);
    for (const RequestPtr& request : requests) {
        Clique& clique = *request->clique;
        if (clique.broken) {
            request->done = true;
            request->result = ncclInvalidUsage;
        } else if (request->count == 0 && request->kind != Kind::kInit) {
            request->done = true;
            note_empty(clique, *request);
        } else {
            hand_over(request);
        }
    }
    for (const RequestPtr& request : requests) advance(*request->clique);
    all.changed.notify_all();
    OtherThreads others;
    const auto begin = std::chrono::steady_clock::now();
    const int thread = gettid();
    while (!done(requests)) {
        all.waiting[thread] = requests;
        std::set<int> waiting;
        for (const auto& [id, what] : all.waiting)
            if (!done(what)) waiting.insert(id);
        if (!others.may_come(waiting) || std::chrono::steady_clock::now() - begin > kLongest) {
            report_deadlock(waiting.size() == 1 && others.alone());
            all.changed.notify_all();
            break;
        }
        all.changed.wait_for(lock, 20ms);
    }
    all.waiting.erase(thread);
    ncclResult_t result = ncclSuccess;
    for (const RequestPtr& request : requests)
        if (result == ncclSuccess) result = request->result;
    return result;
}

}  // namespace collectives
