// SPDX-License-Identifier: MIT
// A hostile kernel: every form of every instruction that runs, with addresses chosen to hurt and
// with registers of any width, and no observers. Whatever it does, it may change nothing but the
// memory that it may write: not the host's, not constants, not another device's.
#include <cstdlib>
#include <random>

#include "hostile_target.h"
#include "machine_lab.h"
#include "ptx/forms.h"

namespace {

using namespace machine_lab;
using hostile::Target;

// One of the ways to choose among the alternatives in angle brackets (see ptx/instructions.def).
std::string chosen(std::string text, std::mt19937& random) {
    for (size_t open; (open = text.rfind('<')) != std::string::npos;) {
        const size_t close = text.find('>', open);
        std::vector<std::string> ways{""};
        for (size_t i = open + 1; i < close; ++i) {
            if (text[i] == '|')
                ways.emplace_back();
            else
                ways.back() += text[i];
        }
        text.replace(open, close - open + 1, ways[random() % ways.size()]);
    }
    return text;
}

// The forms that run, as instructions.def writes them, and those of surfaces.
std::vector<std::string> running_forms() {
    std::vector<std::string> out;
    for (const forms::Row& row : forms::kRows)
        if (row.kind == forms::Row::kRuns) out.emplace_back(row.text);
    out.push_back("suld.b.1d.<b8|b16>.<trap|clamp|zero> h, [q, {r}]");
    out.push_back("suld.b.2d.v4.b32.<trap|clamp|zero> {r, r, r, r}, [q, {r, r}]");
    out.push_back("suld.b.3d.v2.b64.<trap|clamp|zero> {q, q}, [q, {r, r, r, r}]");
    out.push_back("sust.b.1d.<b8|b16>.<trap|clamp|zero> [q, {r}], h");
    out.push_back("sust.b.2d.v4.b32.<trap|clamp|zero> [q, {r, r}], {r, r, r, r}");
    out.push_back("sust.b.a2d.v2.b64.<trap|clamp|zero> [q, {r, r, r, r}], {q, q}");
    out.push_back("tex.2d.v4.<f32|u32>.<s32|f32> {r, r, r, r}, [q, {r, r}]");
    out.push_back("tex.level.2d.v4.f32.f32 {f, f, f, f}, [q, {f, f}], f");
    out.push_back("tld4.<r|g|b|a>.2d.v4.f32.f32 {f, f, f, f}, [q, {f, f}]");
    out.push_back("<txq|suq>.<width|height>.b32 r, [q]");
    return out;
}

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '%' || c == '.';
}

// The form with registers for its letters: after `[` one of the addresses %q0, %q1, ... (%r0, ...
// their low halves), elsewhere any. With `mutate`, one operand gets a register of another kind.
std::string with_registers(const std::string& form, std::mt19937& random, bool mutate) {
    const std::string kinds = "phrqxfd";
    const size_t space = std::min(form.find(' '), form.size());
    std::vector<size_t> letters;
    for (size_t i = space + 1; i < form.size(); ++i)
        if (kinds.find(form[i]) != std::string::npos && !is_word(form[i - 1]) &&
            (i + 1 == form.size() || form[i + 1] == '.' || !is_word(form[i + 1])))
            letters.push_back(i);
    const size_t other = mutate && !letters.empty() ? letters[random() % letters.size()] : 0;
    std::string out = form.substr(0, space);
    for (size_t i = space; i < form.size(); ++i) {
        const bool letter = std::find(letters.begin(), letters.end(), i) != letters.end();
        if (!letter) {
            out += form[i] == '&' ? '|' : form[i];
            continue;
        }
        const char kind = i == other ? kinds[random() % kinds.size()] : form[i];
        const bool address = form[i - 1] == '[';
        out += std::string("%") + kind + std::to_string(random() % (address ? 8 : 14));
        if (address && random() % 3 == 0 && form.find(']', i) == i + 1) {
            const char* const offsets[] = {"4", "-4", "255", "-1048576", "2147483647", "64"};
            out += std::string("+") + offsets[random() % std::size(offsets)];
        }
    }
    return out;
}

// A kernel that loads addresses for all lanes and executes the statements.
std::string text(const std::string& statements) {
    std::string loads;
    for (int k = 0; k < 8; ++k) {
        const std::string n = std::to_string(k), at = std::to_string(k * 256);
        loads += "ld.global.u64 %q" + n + ", [%base+" + at + "];\ncvt.u32.u64 %r" + n + ", %q" + n +
                 ";\n";
    }
    for (int k = 8; k < 14; ++k) {
        const std::string n = std::to_string(k), at = std::to_string(k * 256);
        loads += "ld.global.u64 %q" + n + ", [%base+" + at + "];\ncvt.u32.u64 %r" + n + ", %q" + n +
                 ";\ncvt.u16.u64 %h" + n + ", %q" + n + ";\nmov.b32 %f" + n + ", %r" + n +
                 ";\nmov.b64 %d" + n + ", %q" + n + ";\nsetp.lt.s32 %p" + n + ", %r" + n + ", 0;\n";
    }
    return R"(.version 9.0
.target sm_90
.address_size 64
.global .align 16 .b8 gl[256];
.func helper() { ret; }
.visible .entry k(.param .u64 p_base)
{
.reg .pred %p<64>;
.reg .b16 %h<64>;
.reg .b32 %r<64>;
.reg .b64 %q<64>, %base, %lane8;
.reg .b128 %x<64>;
.reg .f32 %f<64>;
.reg .f64 %d<64>;
.shared .align 16 .b8 sm[256];
.local .align 16 .b8 lo[64];
T: .branchtargets L, L;
ld.param.u64 %base, [p_base];
mov.u32 %r20, %laneid;
mul.wide.u32 %lane8, %r20, 8;
add.u64 %base, %base, %lane8;
)" + loads +
           statements + "L:\nret;\n}\n";
}

// False when the statements are refused.
bool run(Target& target, const std::string& statements) {
    LaunchRequest request;
    request.grid = {1, 1, 1};
    request.block = {32, 1, 1};
    return target.run(text(statements), "k", request);
}

// HOSTILE_ROUNDS=n in the environment: n times as many addresses, from other seeds.
unsigned more_rounds() {
    const char* const given = std::getenv("HOSTILE_ROUNDS");
    return given ? unsigned(std::max(1, std::atoi(given))) : 1;
}

std::string guard(std::mt19937& random) {
    return random() % 3 ? "" : "@%p" + std::to_string(8 + random() % 6) + " ";
}

}  // namespace

TEST_CASE("hostile: addresses that hurt, in every instruction that takes one", "[machine][slow]") {
    Target target;
    std::mt19937 random(11 * more_rounds());
    unsigned ran = 0, wanted = 0;
    for (const std::string& form : running_forms()) {
        if (form.find('[') == std::string::npos) continue;
        for (unsigned round = 0; round < 6 * more_rounds(); ++round) {
            const std::string one = chosen(form, random);
            std::string statements;
            for (int i = 0; i < 6; ++i)
                statements += guard(random) + with_registers(one, random, false) + ";\n";
            target.aim(random());
            INFO(statements);
            ++wanted;
            ran += run(target, statements);
            REQUIRE(target.damage() == "");
        }
    }
    // Nearly all forms must have run, or nothing has been shown.
    CHECK(ran > wanted * 9 / 10);
}

TEST_CASE("hostile: registers of the wrong width are refused or harmless", "[machine][slow]") {
    Target target;
    std::mt19937 random(12 * more_rounds());
    unsigned refused = 0, ran = 0;
    for (const std::string& form : running_forms()) {
        for (unsigned round = 0; round < 4 * more_rounds(); ++round) {
            const std::string statement =
                guard(random) + with_registers(chosen(form, random), random, true) + ";\n";
            target.aim(random());
            INFO(statement);
            ++(run(target, statement) ? ran : refused);
            REQUIRE(target.damage() == "");
        }
    }
    CHECK(refused > 100);
    CHECK(ran > 100);
}

TEST_CASE("hostile: lanes that meet at different instructions of one family", "[machine][slow]") {
    Target target;
    const std::string forms[] = {"elect.sync %r9|%p9, -1;",
                                 "vote.sync.any.pred %p10, %p9, -1;",
                                 "vote.sync.ballot.b32 %r10, %p9, -1;",
                                 "match.any.sync.b64 %r11, %q9, -1;",
                                 "match.all.sync.b32 %r11|%p11, %r9, -1;",
                                 "shfl.sync.up.b32 %r12|%p12, %r9, %r8, %r10, -1;",
                                 "shfl.sync.idx.b32 %r12, %r9, %r8, %r10, -1;",
                                 "redux.sync.add.s32 %r13, %r9, -1;",
                                 "redux.sync.xor.b32 %r13, %r9, -1;",
                                 "bar.warp.sync -1;",
                                 "bar.red.popc.u32 %r9, 0, %p9;",
                                 "bar.red.and.pred %p9, 0, %p9;",
                                 "bar.sync 0;",
                                 "bar.sync %r9, %r10;"};
    for (const std::string& first : forms)
        for (const std::string& second : forms) {
            target.aim(7);
            INFO(first + " " + second);
            CHECK(run(target,
                      "setp.lt.u32 %p1, %r20, 9;\n@%p1 bra A;\n" + first + "\nbra L;\nA:\n" +
                          second + "\n"));
            REQUIRE(target.damage() == "");
        }
}

TEST_CASE("hostile: memory that its own instruction names, and the stack, at any offset",
          "[machine][slow]") {
    Target target;
    std::mt19937 random(13);
    const char* const offsets[] = {"0",
                                   "4",
                                   "60",
                                   "63",
                                   "64",
                                   "255",
                                   "256",
                                   "512",
                                   "-4",
                                   "-1",
                                   "65535",
                                   "1048576",
                                   "2147483647",
                                   "-2147483648"};
    const char* const accesses[] = {
        "ld.local.u32 %r9, [lo@];",
        "st.local.v2.u64 [lo@], {%q9, %q10};",
        "ld.shared.v4.u32 {%r9, %r10, %r11, %r12}, [sm@];",
        "st.shared.u8 [sm@], %r9;",
        "atom.shared.cas.b64 %q9, [sm@], %q10, %q11;",
        "st.global.v4.f32 [gl@], {%f9, %f10, %f11, %f12};",
        "red.global.add.u32 [gl@], %r9;",
        "ld.param.b64 %q9, [p_base@];",
        "{ .param .b8 a[24]; st.param.b64 [a@], %q9; call helper; }",
        "{ .param .b8 a[24]; ld.param.u16 %h9, [a@]; }",
        "cp.async.ca.shared.global [sm@], [gl@], 16;",
        "cvta.local.u64 %q9, lo; add.u64 %q9, %q9, @; st.u64 [%q9], %q10;",
        "alloca.u64 %q9, %q10; st.local.u32 [%q9@], %r9;",
        "stackrestore.u64 %q9; alloca.u64 %q10, 64; "
        "st.local.u32 [%q10@], %r9;"};
    unsigned ran = 0;
    for (std::string access : accesses)
        for (const char* offset : offsets) {
            std::string statement = access;
            for (size_t at; (at = statement.find('@')) != std::string::npos;) {
                const bool inside = statement[at + 1] == ']';
                statement.replace(at, 1, std::string(inside ? "+" : "") + offset);
            }
            target.aim(random());
            INFO(statement);
            ran += run(target, statement + "\n");
            REQUIRE(target.damage() == "");
        }
    CHECK(ran > std::size(accesses) * std::size(offsets) / 2);
}
