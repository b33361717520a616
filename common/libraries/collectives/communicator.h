// SPDX-License-Identifier: MIT
// Communicators: the ranks of a clique, what each of them has called, and who waits for whom.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "collectives/arithmetic.h"
#include "runtime/core/collective.h"
#include "stand_in.h"

namespace collectives {

enum class Kind : uint8_t {
    kAllReduce,
    kReduce,
    kBroadcast,
    kAllGather,
    kReduceScatter,
    kSend,
    kReceive,
    kInit
};

struct Clique;

// One call of one rank, until the others have made theirs.
struct Request {
    Kind kind;
    const char* api;
    ncclComm* comm = nullptr;
    std::shared_ptr<Clique> clique;
    int rank = 0, device = 0;
    const void* send = nullptr;
    void* receive = nullptr;
    size_t count = 0;
    ncclDataType_t type = ncclFloat32;
    Reduction reduction{};
    int root = 0;  // the peer of a kSend or kReceive
    cudaStream_t stream = nullptr;
    uint64_t site = 0;
    std::vector<std::byte> scalar = {};  // of PreMulSum, where it was in host memory
    ncclComm** created = nullptr;        // kInit
    bool grouped = false;                // between ncclGroupStart and ncclGroupEnd
    bool done = false;
    ncclResult_t result = ncclSuccess;
};
using RequestPtr = std::shared_ptr<Request>;

// The communicators of all ranks that belong together.
struct Clique {
    int size = 0;
    bool gathering = false;  // until all ranks have called ncclCommInitRank
    bool broken = false;     // calls that did not belong together, or would wait for ever
    std::string failure;     // why it is broken
    std::vector<int> devices;
    std::vector<std::deque<RequestPtr>> calls;                              // collectives, by rank
    std::map<std::pair<int, int>, std::deque<RequestPtr>> sends, receives;  // by (from, to)
    std::vector<RequestPtr> joined;  // while gathering, by rank
    // The first calls with a count of 0, which wait for nobody.
    std::vector<emulator::CollectiveFinding::Note> empty;
};

}  // namespace collectives

struct ncclComm {
    std::shared_ptr<collectives::Clique> clique;
    int rank = 0, device = 0;
    uint64_t site = 0;  // where it was made
    ncclResult_t error = ncclSuccess;
    std::string last_error;
    struct Operator {
        ncclDataType_t type;
        std::vector<std::byte> value;  // in host memory
        const void* on_device = nullptr;
    };
    std::map<int, Operator> operators;
};

namespace collectives {

struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::map<std::string, std::shared_ptr<Clique>> gathering;  // by ncclUniqueId
    std::set<std::string> known_ids;
    std::map<int, std::vector<RequestPtr>> waiting;  // by thread
    uint64_t next_id = 1;
    int next_operator = ncclNumOps;
};
State& state();
stand_in::Handles<ncclComm>& communicators();

const char* name_of(ncclResult_t result);
// Returns `result`, and notes where the program ignores it.
ncclResult_t finish(const char* api, ncclResult_t result);
// The same with a message for ncclGetLastError.
ncclResult_t refuse(const char* api, ncclComm* comm, ncclResult_t result,
                    const std::string& message);

// Hands the calls over, runs what is complete, and waits until all of `requests` are done: so the
// work that a thread gives to a stream afterwards comes after them. A wait that cannot end is
// reported, and ends with ncclInvalidUsage. Returns the first error.
ncclResult_t post(const std::vector<RequestPtr>& requests);
// Called by each function, in a group or not.
ncclResult_t enqueue(RequestPtr request);

// With state().mutex held:
// Makes the communicators once all ranks have called ncclCommInitRank.
void join(const std::shared_ptr<Clique>& clique);
// Runs all calls of the clique for which every rank has come.
void advance(Clique& clique);
// Ends every call that waits in the clique.
void fail(Clique& clique, ncclResult_t result, const std::string& message);
// Reports the waits that cannot end, and fails their cliques. `only_thread`: the process has no
// thread but the one that waits.
void report_deadlock(bool only_thread);
// Starts a call that all its ranks have made; `requests` in the order of the ranks.
void run(const std::vector<RequestPtr>& requests);

std::string ranks_text(const std::vector<int>& ranks);  // "ranks 1, 2 and 3"

}  // namespace collectives
