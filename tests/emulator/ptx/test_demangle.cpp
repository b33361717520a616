// SPDX-License-Identifier: MIT
#include "ptx/demangle/demangle.h"

#include "ptx_text.h"

TEST_CASE("demangle: functions lose parameters and return types", "[ptx][demangle]") {
    CHECK(ptx::demangled_function("vadd") == "vadd");
    CHECK(ptx::demangled_function("_Z4vaddPKfS0_Pfi") == "vadd");
    CHECK(ptx::demangled_function("_Z3fooIiEvPT_") == "foo<int>");
    CHECK(ptx::plain_function("_Z3fooIiEvPT_") == "foo");
    CHECK(ptx::demangled_function("_Z5scaleILi256EdEvPT0_S0_") == "scale<256, double>");
    CHECK(ptx::demangled_function("_ZN2ns1A3barEi") == "ns::A::bar");
    CHECK(ptx::demangled_function("_ZNK1B1fEi") == "B::f");
    CHECK(ptx::demangled_function("_ZN1AD0Ev") == "A::~A");
    CHECK(ptx::demangled_function("_ZplRK1AS1_") == "operator+");
    CHECK(ptx::demangled_function("_ZNK1AclEi") == "A::operator()");
    CHECK(ptx::demangled_function("_ZN1AcvbEv") == "A::operator bool");
    CHECK(ptx::demangled_function("_ZltRK1AS1_") == "operator<");
}

TEST_CASE("demangle: internal linkage and anonymous namespaces are noise", "[ptx][demangle]") {
    CHECK(ptx::demangled_function("_ZN34_INTERNAL_a819d0e8_4_a_cu_d4265ddc9atomicAddEPii") ==
          "atomicAdd");
    CHECK(ptx::demangled_function("_ZN12_GLOBAL__N_11kEPi") == "k");
    CHECK(ptx::demangled_function(
              "_ZN51_GLOBAL__N__d47cbef2_5_cg_cu__Z1kPi_aaaaaaaaaaaaaaa1kEPi") == "k");
}

TEST_CASE("demangle: a lambda is named after the function around it", "[ptx][demangle]") {
    const std::string name = ptx::demangled_function("_ZZ4mainENKUliE_clEi");
    CHECK(name == "main::lambda::operator()");
}

TEST_CASE("demangle: variables are their innermost name", "[ptx][demangle]") {
    CHECK(ptx::demangled_variable("_ZZ14tree_reductionPKfPfiE4tile") == "tile");
    CHECK(ptx::demangled_variable("_ZN2ns5tableE") == "table");
    CHECK(ptx::demangled_variable("counter") == "counter");
    CHECK(ptx::demangled_variable("_ZZ3fooIiEvPT_E4tile") == "tile");
    CHECK(ptx::demangled_variable("_ZN34_INTERNAL_a819d0e8_4_a_cu_d4265ddc5limitE") == "limit");
}

TEST_CASE("demangle: names that are not fully mangled stay readable", "[ptx][demangle]") {
    for (const char* name :
         {"_Z", "_ZN", "_Z999999999999999999999x", "_ZZZZZZ", "_ZN3fooE3", "_Zfoo", ""}) {
        CAPTURE(name);
        CHECK_NOTHROW(ptx::demangled_function(name));
        CHECK_NOTHROW(ptx::demangled_variable(name));
        CHECK(ptx::demangled_function(name).empty() == std::string(name).empty());
    }
    // Each pair doubles the text before it: a name that would fill the memory.
    std::string doubling = "_Z1fSt4pairIiiE";
    for (const char c : std::string("_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
        const std::string last = c == '_' ? "S_" : std::string("S") + c + "_";
        doubling += "St4pairI" + last + last + "E";
    }
    CHECK_NOTHROW(ptx::demangled_function(doubling));
    const std::string deep = "_Z1f" + std::string(200000, 'P') + "i";
    CHECK(ptx::demangled_function(deep) == "f");
    std::string nested = "_ZN";
    for (int i = 0; i < 3000; ++i) nested += "3abc";
    CHECK_NOTHROW(ptx::demangled_function(nested + "3endEv"));
}
