// SPDX-License-Identifier: MIT
// A program with one finding (a store behind the end of an array) that ends in the way its argument
// says. Its global object frees the memory after main.
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

__global__ void fill(int* out) {
    const int i = threadIdx.x;
    out[i] = i;  // BLAME out-of-bounds-global
}

static sigjmp_buf jump;
static void say(const char* text) {
    if (write(1, text, std::strlen(text)) < 0) std::abort();
}
static void jump_away(int) {
    say("my handler\n");
    siglongjmp(jump, 1);
}
static void raise_again(int signal_number) {
    say("my handler\n");
    std::signal(signal_number, SIG_DFL);
    std::raise(signal_number);
}
// As test frameworks do: put back whatever was there before, and pass the signal on.
static struct sigaction before;
static void put_back(int signal_number) {
    say("my handler\n");
    sigaction(signal_number, &before, nullptr);
    std::raise(signal_number);
}
static void leave(int) {
    say("my handler\n");
    _exit(33);
}

struct Late {
    int* p = nullptr;
    ~Late() {
        cudaFree(p);
        std::puts("freed late");
    }
};
static Late late;

static void with_handler(void (*handler)(int), int* bad) {
    std::signal(SIGSEGV, handler);
    int* other = nullptr;
    cudaMalloc(&other, 4);
    if (!sigsetjmp(jump, 1)) *static_cast<volatile int*>(bad) = 1;  // BLAME handler
    cudaFree(other);
    std::puts("alive");
}

int main(int argc, char** argv) {
    const std::string what = argc > 1 ? argv[1] : "";
    int* p = nullptr;
    cudaMalloc(&p, 100 * sizeof(int));
    late.p = p;
    fill<<<1, 128>>>(p);
    if (what == "abort") std::abort();
    if (what == "throw") throw std::runtime_error("thrown");
    if (what == "null") *reinterpret_cast<volatile int*>(8) = 1;
    if (what == "exit") std::exit(5);
    if (what == "_exit") _exit(6);
    if (what == "quick_exit") std::quick_exit(7);
    if (what == "fork") {
        if (fork() == 0) std::exit(0);
        wait(nullptr);
    }
    if (what == "system") return std::system("true");
    if (what == "read") std::printf("%d\n", p[3]);  // BLAME read
    if (what == "write") p[99] = 1;                 // BLAME write
    if (what == "memcpy") {
        int copy[10];
        std::memcpy(copy, p, sizeof copy);  // BLAME memcpy
        std::printf("%d\n", copy[3]);
    }
    if (what == "call") reinterpret_cast<void (*)()>(p)();  // BLAME call
    if (what == "freed") {
        cudaFree(p);
        late.p = nullptr;
        p[0] = 1;  // BLAME freed
    }
    if (what == "handler_jumps") with_handler(jump_away, p);
    if (what == "handler_raises") with_handler(raise_again, p);
    if (what == "handler_puts_back") {
        sigaction(SIGSEGV, nullptr, &before);
        with_handler(put_back, p);
    }
    if (what == "handler_leaves") with_handler(leave, p);
    if (what == "handler_null") with_handler(jump_away, reinterpret_cast<int*>(8));
    std::puts("end of main");
}
