// SPDX-License-Identifier: MIT
// A right answer that also tries to reach what lies outside of its sandbox. The variable HOSTILE
// has a word and an argument; what it could do is printed as `reached`.
#include "double_all.h"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

__global__ void double_all_kernel(float* data, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2.0f;
}

__global__ void count_up_kernel(int* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}

namespace {

std::string word, argument;

void reached(const char* what) {
    std::printf("reached %s\n", what);
    std::fflush(stdout);
}

bool file_can_be_opened(int how) {
    const int file = open(argument.c_str(), how, 0600);
    if (file >= 0) close(file);
    return file >= 0;
}

void connect_to_the_host() {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(uint16_t(std::atoi(argument.c_str())));
    inet_pton(AF_INET, "127.0.0.1", &to.sin_addr);
    const int line = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(line, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0) reached("network");
}

// A process in a session of its own, whose parent has ended.
void leave_a_daemon() {
    if (fork() != 0) return;
    setsid();
    if (fork() != 0) _exit(0);
    for (int number = 0; number < 1024; ++number) close(number);
    for (;;) sleep(1);
}

void fill_the_disk() {
    std::vector<char> block(1 << 20, 'x');
    size_t written = 0;
    signal(SIGXFSZ, SIG_IGN);
    for (int number = 0; number < 64; ++number) {
        const std::string path = argument + "/filler" + std::to_string(number);
        const int file = open(path.c_str(), O_WRONLY | O_CREAT, 0600);
        for (ssize_t got = 1; file >= 0 && got > 0; written += size_t(got > 0 ? got : 0))
            got = write(file, block.data(), block.size());
        if (file >= 0) close(file);
    }
    if (written > (65u << 20)) reached("the disk");
}

// In place of the file that the grader reads: a pipe without a writer, a link, a folder.
void replace_the_details() {
    const char* path = std::getenv("WORKBOOK_DETAILS");
    if (unlink(path) == 0 || rename("/tmp/other", path) == 0) reached("the grader's file");
    if (mkfifo((std::string(path) + "2").c_str(), 0600) == 0) reached("its folder");
    const int file = open(path, O_WRONLY | O_TRUNC);
    const std::string deep(1 << 20, '[');
    if (write(file, deep.data(), deep.size()) < 0) return;
    close(file);
}

const int before_main = [] {
    const std::string all = std::getenv("HOSTILE") ? std::getenv("HOSTILE") : "";
    word = all.substr(0, all.find(' '));
    argument = all.find(' ') == all.npos ? "" : all.substr(all.find(' ') + 1);
    if (word == "read" && file_can_be_opened(O_RDONLY)) reached("a file");
    if (word == "write" && file_can_be_opened(O_WRONLY | O_CREAT)) reached("a file to write");
    if (word == "list")
        if (DIR* folder = opendir(argument.c_str()))
            while (const dirent* one = readdir(folder)) std::printf("seen %s\n", one->d_name);
    if (word == "environment" && std::getenv(argument.c_str())) reached("the environment");
    if (word == "network") connect_to_the_host();
    if (word == "daemon") leave_a_daemon();
    if (word == "disk") fill_the_disk();
    if (word == "details") replace_the_details();
    if (word == "forks")
        for (;;) fork();
    if (word == "memory") {
        for (int child = 0; child < 30; ++child)
            if (fork() == 0) {
                static volatile char block[64 << 20];
                for (size_t i = 0; i < sizeof block; i += 4096) block[i] = 1;
                sleep(60);
            }
        sleep(60);
    }
    if (word == "memfd")
        if (syscall(SYS_memfd_create, "x", 0) >= 0) reached("a file in memory");
    if (word == "namespace" && (syscall(SYS_unshare, 0x10000000) == 0 ||
                                syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0) > 0))
        reached("a namespace");
    if (word == "limits") {
        const rlimit more{1 << 20, 1 << 20};
        if (setrlimit(RLIMIT_NPROC, &more) == 0) reached("limits");
    }
    return 0;
}();

}  // namespace

void double_all(float* d_data, int n) {
    if (n > 0) double_all_kernel<<<(n + 255) / 256, 256>>>(d_data, n);
    CUDA_CHECK(cudaGetLastError());
}

void count_up(int* d_out, int n) {
    if (n > 0) count_up_kernel<<<(n + 255) / 256, 256>>>(d_out, n);
    CUDA_CHECK(cudaGetLastError());
}
