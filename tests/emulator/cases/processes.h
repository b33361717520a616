// SPDX-License-Identifier: MIT
// For case programs of several processes: children that are forked before the first call of CUDA,
// and messages between them and their parent.
#pragma once

#include <cstdlib>

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct Peer {
    int socket = -1;
    template <class T>
    void send(const T& value) const {
        if (write(socket, &value, sizeof value) != ssize_t(sizeof value)) std::exit(4);
    }
    template <class T>
    T receive() const {
        T value;
        if (recv(socket, &value, sizeof value, MSG_WAITALL) != ssize_t(sizeof value)) std::exit(5);
        return value;
    }
    void tell() const { send('!'); }
    void wait() const { receive<char>(); }
};

struct Child : Peer {
    pid_t process = 0;
    // False if it has failed.
    bool ends() const {
        int status = -1;
        waitpid(process, &status, 0);
        return status == 0;
    }
};

// Starts a process that runs `body`, with its parent as the peer, and then ends.
template <class F>
Child start(F body) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::exit(6);
    Child child;
    child.socket = ends[0];
    child.process = fork();
    if (child.process == 0) {
        close(ends[0]);
        body(Peer{ends[1]});
        std::exit(0);
    }
    close(ends[1]);
    return child;
}
