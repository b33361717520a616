// SPDX-License-Identifier: MIT
// Tests of what processes share: a second process, which runs a hidden test case of the same
// program from its start, so that it initialises CUDA itself; and messages between the two.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device_lab.h"

namespace lab {

constexpr const char* kPeerVariable = "WORKBOOK_TEST_PEER";

// One end of the connection between the two.
class Peer {
public:
    explicit Peer(int socket) : socket_(socket) {}
    template <class T>
    void send(const T& value) {
        REQUIRE(write(socket_, &value, sizeof value) == ssize_t(sizeof value));
    }
    template <class T>
    T receive() {
        T value{};
        size_t done = 0;
        while (done < sizeof value) {
            const ssize_t count =
                read(socket_, reinterpret_cast<char*>(&value) + done, sizeof value - done);
            REQUIRE(count > 0);  // else the other process has ended
            done += size_t(count);
        }
        return value;
    }

protected:
    int socket_;
};

// In a hidden test case: the process that has started this one.
inline Peer parent() {
    const char* const socket = std::getenv(kPeerVariable);
    REQUIRE(socket);
    return Peer(std::atoi(socket));
}

// Starts a process that runs the test case `role` and nothing else.
class Process : public Peer {
public:
    explicit Process(const std::string& role) : Peer(-1) {
        int ends[2];
        REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
        socket_ = ends[0];
        child_ = fork();
        if (child_ == 0) {
            close(ends[0]);
            setenv(kPeerVariable, std::to_string(ends[1]).c_str(), 1);
            execl("/proc/self/exe", "test", role.c_str(), "--reporter", "compact", nullptr);
            _exit(127);
        }
        close(ends[1]);
    }
    ~Process() {
        close(socket_);
        if (child_ > 0) waitpid(child_, nullptr, 0);
    }
    Process(const Process&) = delete;
    // Whether its checks hold.
    bool succeeds() {
        int status = -1;
        waitpid(std::exchange(child_, 0), &status, 0);
        return status == 0;
    }

private:
    pid_t child_ = 0;
};

}  // namespace lab
