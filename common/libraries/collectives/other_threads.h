// SPDX-License-Identifier: MIT
// Whether another thread of this process may still make a call that a waiting one needs.
#pragma once

#include <chrono>
#include <map>
#include <set>

namespace collectives {

class OtherThreads {
public:
    // `waiting`: threads that themselves wait for a rank. False at once if there are no others.
    // Else the others count as stuck when all of them have slept for a while without waking up
    // once: in a join, or waiting for the threads that wait here.
    bool may_come(const std::set<int>& waiting);

    // Whether the process had no other threads at all.
    bool alone() const { return switches_.empty(); }

private:
    std::map<int, unsigned long> switches_;  // by thread: how often it has gone to sleep
    std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

}  // namespace collectives
