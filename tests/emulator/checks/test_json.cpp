// SPDX-License-Identifier: MIT
// The writer of JSON, byte by byte: readers of traces and counters depend on it.
#include "catch/catch.h"
#include "checks/text/json.h"

using namespace checks;

TEST_CASE("json: values by type", "[checks][json]") {
    CHECK(JsonList().text() == "[]");
    CHECK(JsonObject().text() == "{}");
    CHECK(JsonList().add("text").add(std::string("more")).add(std::string_view("still")).text() ==
          R"(["text", "more", "still"])");
    CHECK(JsonList(",").add(true).add(false).add(-1).add(uint8_t(7)).text() == "[true,false,-1,7]");
    CHECK(JsonList(",").add(~uint64_t(0)).add(INT64_MIN).text() ==
          "[18446744073709551615,-9223372036854775808]");
}

TEST_CASE("json: objects keep the order of their keys", "[checks][json]") {
    CHECK(JsonObject().add("z", 1).add("a", "b").json("list", JsonList().add(2).text()).text() ==
          R"({"z": 1, "a": "b", "list": [2]})");
    CHECK(JsonObject(",\n").add("a", 1).add("b", true).text() == "{\"a\": 1,\n\"b\": true}");
}

TEST_CASE("json: strings escape what JSON forbids", "[checks][json]") {
    CHECK(json_string("a\"b\\c\n\t\r\x01\x7f") == R"("a\"b\\c\n\t\r\u0001\u007f")");
    CHECK(json_string("µ → 𝄞") == "\"µ → 𝄞\"");
    CHECK(json_string("\xff\xc3") == R"("\ufffd\ufffd")");
}
