// SPDX-License-Identifier: MIT
// Machine code after a call, and whether it uses what the call returned.
#include <vector>

#include "catch/catch.h"
#include "runtime/host_watch/result_use.h"

#if defined(__x86_64__)

namespace {

using Code = std::vector<uint8_t>;

bool ignored(Code code, Code caller = {}) {
    // What follows is not known to the reader, so it counts as a look.
    for (Code* c : {&code, &caller}) c->insert(c->end(), 16, 0xf4);
    const std::vector<uint64_t> addresses{uint64_t(code.data()), uint64_t(caller.data())};
    return runtime::result_is_ignored(addresses);
}

}  // namespace

TEST_CASE("result use: the result is overwritten", "[host][result_use]") {
    CHECK(ignored({0xb8, 0, 0, 0, 0}));                          // mov eax, 0
    CHECK(ignored({0x31, 0xc0}));                                // xor eax, eax
    CHECK(ignored({0x48, 0x8b, 0x45, 0xf8}));                    // mov rax, [rbp-8]
    CHECK(ignored({0x48, 0x8d, 0x45, 0xf0}));                    // lea rax, [rbp-16]
    CHECK(ignored({0xe8, 1, 2, 3, 4}));                          // call
    CHECK(ignored({0xff, 0x15, 1, 2, 3, 4}));                    // call [rip+...]
    CHECK(ignored({0x66, 0x48, 0x0f, 0x7e, 0xc8}));              // movq rax, xmm1
    CHECK(ignored({0xeb, 0x01, 0xf4, 0x31, 0xc0}));              // jmp over one byte; xor eax, eax
    CHECK(ignored({0x48, 0x83, 0xc4, 0x08, 0x58}));              // add rsp, 8; pop rax
    CHECK(ignored({0xbf, 7, 0, 0, 0, 0xe8, 0, 0, 0, 0}));        // mov edi, 7; call
    CHECK(ignored({0xc7, 0x45, 0xfc, 5, 0, 0, 0, 0x31, 0xc0}));  // mov [rbp-4], 5; xor eax, eax
    CHECK(ignored({0x48, 0x8b, 0x7c, 0x24, 0x08, 0xe8, 0, 0, 0, 0}));  // mov rdi, [rsp+8]; call
}

TEST_CASE("result use: the result is looked at", "[host][result_use]") {
    CHECK(!ignored({0x85, 0xc0}));                          // test eax, eax
    CHECK(!ignored({0x89, 0x45, 0xfc, 0x31, 0xc0}));        // mov [rbp-4], eax
    CHECK(!ignored({0x89, 0xc7, 0xe8, 0, 0, 0, 0}));        // mov edi, eax; call
    CHECK(!ignored({0x83, 0xf8, 0x02}));                    // cmp eax, 2
    CHECK(!ignored({0x8b, 0x04, 0x85, 0, 0, 0, 0}));        // mov eax, [rax*4]
    CHECK(!ignored({0x48, 0x8d, 0x14, 0x03, 0x31, 0xc0}));  // lea rdx, [rbx+rax]
    CHECK(!ignored({0x0f, 0xb6, 0xd0, 0x31, 0xc0}));        // movzx edx, al
    CHECK(!ignored({0xbf, 7, 0, 0, 0, 0x89, 0xc6, 0xe8}));  // mov edi, 7; mov esi, eax
    CHECK(!ignored({0xff, 0xd0}));                          // call rax
    CHECK(!ignored({0xf4}));                                // something unknown
}

TEST_CASE("result use: a function that passes the result on", "[host][result_use]") {
    CHECK(ignored({0xc9, 0xc3}, {0x31, 0xc0}));               // leave; ret / xor eax, eax
    CHECK(!ignored({0xc9, 0xc3}, {0x85, 0xc0}));              // leave; ret / test eax, eax
    CHECK(ignored({0x5d, 0xc3}, {0xe8, 0, 0, 0, 0}));         // pop rbp; ret / call
    CHECK(!ignored({0x41, 0x5c, 0xc3}, {0x89, 0x45, 0xfc}));  // pop r12; ret / mov [rbp-4], eax
}

TEST_CASE("result use: the stack's guard value is compared before the return",
          "[host][result_use]") {
    // mov rdx, [rsp+8]; sub rdx, fs:[0x28]; jne; add rsp, 24; ret
    const Code near{0x48, 0x8b, 0x54, 0x24, 8, 0x64, 0x48, 0x2b, 0x14, 0x25, 0x28,
                    0,    0,    0,    0x75, 5, 0x48, 0x83, 0xc4, 24,   0xc3};
    const Code far{0x64, 0x48, 0x33, 0x14, 0x25, 0x28, 0, 0, 0, 0x0f, 0x85, 1, 1, 0, 0, 0xc3};
    CHECK(ignored(near, {0x31, 0xc0}));
    CHECK(ignored(far, {0x31, 0xc0}));
    CHECK(!ignored(near, {0x85, 0xc0}));
    // A jump after another comparison may go to where the result is used; so may sub rax.
    CHECK(!ignored({0x75, 5, 0x31, 0xc0}));
    CHECK(!ignored({0x64, 0x48, 0x2b, 0x04, 0x25, 0x28, 0, 0, 0, 0x75, 5, 0x31, 0xc0}));
}

TEST_CASE("result use: registers with the same low bits are others", "[host][result_use]") {
    CHECK(!ignored({0x41, 0xb8, 0, 0, 0, 0, 0x85, 0xc0}));  // mov r8d, 0; test eax, eax
    CHECK(!ignored({0x45, 0x31, 0xc0, 0x89, 0xc7}));        // xor r8d, r8d; mov edi, eax
    CHECK(!ignored({0x4c, 0x8b, 0x45, 0xf8, 0x85, 0xc0}));  // mov r8, [rbp-8]; test eax, eax
}

#endif
