// SPDX-License-Identifier: MIT
#include "collectives/other_threads.h"

#include <dirent.h>
#include <fstream>
#include <string>

namespace collectives {
namespace {

constexpr auto kAsleep = std::chrono::seconds(3);
// A thread of the emulated device, which calls no library.
constexpr const char* kOwnThread = "emulator";

struct Status {
    bool sleeps = false, own = false;
    unsigned long switches = 0;
};

Status status_of(const std::string& thread) {
    std::ifstream file("/proc/self/task/" + thread + "/status");
    Status status;
    for (std::string word; file >> word;) {
        std::string value;
        if (word == "Name:" && file >> value) status.own = value == kOwnThread;
        if (word == "State:" && file >> value) status.sleeps = value == "S";
        if (word == "voluntary_ctxt_switches:") file >> status.switches;
    }
    return status;
}

}  // namespace

bool OtherThreads::may_come(const std::set<int>& waiting) {
    std::map<int, unsigned long> now;
    bool awake = false;
    if (DIR* tasks = opendir("/proc/self/task")) {
        while (const dirent* entry = readdir(tasks)) {
            const std::string name = entry->d_name;
            if (name.find_first_not_of("0123456789") != name.npos) continue;
            const int thread = std::stoi(name);
            if (waiting.contains(thread)) continue;
            const Status status = status_of(name);
            if (status.own) continue;
            now[thread] = status.switches;
            awake |= !status.sleeps;
        }
        closedir(tasks);
    }
    if (now.empty()) return false;
    const auto time = std::chrono::steady_clock::now();
    if (awake || now != switches_) {
        switches_ = now;
        since_ = time;
    }
    return time - since_ < kAsleep;
}

}  // namespace collectives
