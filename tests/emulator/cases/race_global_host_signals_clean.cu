// SPDX-License-Identifier: MIT
// twin: race-global
// A program with signal handlers of its own, threads with all signals blocked, and a child process,
// while kernels use parts of the pages that it touches.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <cuda_runtime.h>

__global__ void add(int* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}

static sigjmp_buf back;
static volatile int caught = 0;
static void on_fault(int) {
    ++caught;
    siglongjmp(back, 1);
}

int main() {
    const int n = 500;
    int* x;
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    cudaMallocManaged(&x, 2 * n * sizeof(int));
    for (int i = 0; i < 2 * n; ++i) x[i] = i;
    char* closed =
        static_cast<char*>(mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));

    add<<<2, 256, 0, stream>>>(x, n);
    std::signal(SIGSEGV, on_fault);  // behind the launch
    x[n] += 1;                       // no fault of the program's
    if (sigsetjmp(back, 1) == 0) *closed = 1;
    x[n + 1] += 1;
    struct sigaction action = {};
    action.sa_handler = on_fault;
    sigaction(SIGSEGV, &action, nullptr);
    if (sigsetjmp(back, 1) == 0) *closed = 1;
    x[n + 2] += 1;
    cudaStreamSynchronize(stream);
    if (caught != 2 || x[0] != 1 || x[n] != n + 1 || x[n + 2] != n + 3) return 1;

    // A child may use its copy, also through the system.
    add<<<2, 256, 0, stream>>>(x, n);
    int ends[2];
    if (pipe(ends) != 0) return 2;
    const pid_t child = fork();
    if (child == 0) {
        x[n + 3] = 7;
        _exit(write(ends[1], x, 2 * n * sizeof(int)) == long(2 * n * sizeof(int)) ? x[n + 3] : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 7) return 3;
    cudaStreamSynchronize(stream);
    if (x[n + 3] != n + 3) return 4;

    // Many threads beside the one that launches, each with its own piece of the page.
    bool good[4] = {};
    std::thread threads[4];
    for (int t = 0; t < 4; ++t) {
        threads[t] = std::thread([&, t] {
            sigset_t all;
            sigfillset(&all);
            if (t == 0) pthread_sigmask(SIG_SETMASK, &all, nullptr);
            int* const own = x + n + 100 + t * 50;
            for (int i = 0; i < 50; ++i) own[i] = 0;
            for (int round = 0; round < 200; ++round)
                for (int i = 0; i < 50; ++i) own[i] += 1;
            good[t] = true;
            for (int i = 0; i < 50; ++i) good[t] &= own[i] == 200;
        });
    }
    for (int i = 0; i < 50; ++i) add<<<2, 256, 0, stream>>>(x, n);
    for (std::thread& thread : threads) thread.join();
    cudaStreamSynchronize(stream);
    if (!good[0] || !good[1] || !good[2] || !good[3] || x[0] != 52) return 5;

    // A thread waits in the system for what will come into its part of the page.
    if (pipe(ends) != 0) return 7;
    bool came = false;
    std::thread reads([&] { came = read(ends[0], x + n + 400, 4) == 4; });
    for (int i = 0; i < 20; ++i) {
        add<<<2, 256, 0, stream>>>(x, n);
        usleep(1000);
    }
    if (write(ends[1], "abc", 4) != 4) return 8;
    reads.join();
    cudaStreamSynchronize(stream);
    if (!came || std::memcmp(x + n + 400, "abc", 4) != 0) return 9;

    // With the signal blocked the system would end the thread that faults.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    add<<<2, 256, 0, stream>>>(x, n);
    x[n] += 1;
    add<<<2, 256, 0, stream>>>(x, n);
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    cudaStreamSynchronize(stream);
    if (x[1] != 1 + 74) return 6;
    cudaStreamDestroy(stream);
    cudaFree(x);
    munmap(closed, 4096);
}
