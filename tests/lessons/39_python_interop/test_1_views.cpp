// SPDX-License-Identifier: MIT
// Lesson 39: the layout of a view, the type of its elements, and the order of streams.
#include "checks.h"

TEST_CASE("task 1: the strides of compact arrays", "[task1]") {
    for (const Numbers& shape : {Numbers{6},
                                 Numbers{3, 4},
                                 Numbers{2, 3, 4},
                                 Numbers{7, 1, 5, 2},
                                 Numbers{},
                                 Numbers{1, 2, 3, 4, 3, 2, 1, 2},
                                 Numbers{3, 70000, 100000}}) {
        const Layout layout = row_major(int(shape.size()), shape.data());
        CHECK(layout.ndim == int(shape.size()));
        check_shape(shape_of(layout), shape);
        check_strides(strides_of(layout), compact_strides(shape), shape, 1, false);
    }
}

TEST_CASE("task 1: the positions of a view's elements", "[task1]") {
    for (const View& view : views()) {
        CAPTURE(view.name);
        const Layout layout = layout_of(view.shape, view.strides);
        const Numbers want = positions(view.shape, view.strides);
        Numbers got;
        for (size_t i = 0; i < want.size(); ++i) got.push_back(position(layout, int64_t(i)));
        wb::recognize<int64_t>(got,
                               want,
                               {{"the strides are not used: the elements would follow one another",
                                 [&] {
                                     Numbers plain(want.size());
                                     for (size_t i = 0; i < plain.size(); ++i)
                                         plain[i] = int64_t(i);
                                     return plain;
                                 }},
                                {"the first index runs fastest, but the last should", [&] {
                                     Numbers columns;
                                     for (int64_t i = 0; i < int64_t(want.size()); ++i) {
                                         int64_t at = 0, rest = i;
                                         for (size_t d = 0; d < view.shape.size(); ++d) {
                                             at += rest % view.shape[d] * view.strides[d];
                                             rest /= view.shape[d];
                                         }
                                         columns.push_back(at);
                                     }
                                     return columns;
                                 }}});
        CHECK_ARRAYS(got, want);
    }
}

TEST_CASE("task 1: arrays of more than 2^31 elements", "[task1]") {
    // 3 * 2^31 elements, with all rows in the same memory.
    const Layout layout = layout_of({3, 1 << 16, 1 << 15}, {int64_t(5) << 32, 0, 3});
    CHECK_RESULT(position(layout, (int64_t(2) << 31) + 7), (int64_t(10) << 32) + 21);
    CHECK_RESULT(position(layout, (int64_t(1) << 31) + (1 << 15) + 1), (int64_t(5) << 32) + 3);
}

TEST_CASE("task 2: DLPack's types", "[task2]") {
    for (const char kind : {'f', 'i', 'u'})
        for (const int bytes : {1, 2, 4, 8}) {
            if (kind == 'f' && bytes == 1) continue;
            const Type type{kind, bytes};
            const std::string type_name = name_of(type);
            CAPTURE(type_name);
            const DLDataType got = dlpack_type(type);
            CHECK(int(got.code) == (kind == 'f' ? 2 : kind == 'u' ? 1 : 0));
            CHECK(int(got.bits) == 8 * bytes);
            CHECK(int(got.lanes) == 1);
            const uint8_t code = kind == 'f' ? 2 : kind == 'u' ? 1 : 0;
            const Type back = type_from_dlpack({code, uint8_t(8 * bytes), 1});
            CHECK(back.kind == kind);
            CHECK(back.bytes == bytes);
        }
}

TEST_CASE("task 2: typestr", "[task2]") {
    for (const char* text : {"<f4", "<f8", "<f2", "<i2", "<i4", "<i8", "<u4", "|u1", "|i1"}) {
        const std::string typestr = text;
        CAPTURE(typestr);
        const Type type{text[1], text[2] - '0'};
        char got[8];
        std::memset(got, 'x', sizeof got);
        write_typestr(type, got);
        got[7] = 0;
        CHECK(std::string(got) == text);
        const Type back = type_from_typestr(text);
        CHECK(back.kind == type.kind);
        CHECK(back.bytes == type.bytes);
    }
}

TEST_CASE("task 2: types that cannot be shared are refused", "[task2]") {
    const auto dlpack = [](int code, int bits, int lanes) {
        type_from_dlpack({uint8_t(code), uint8_t(bits), uint16_t(lanes)});
    };
    CHECK_REFUSED("elements with 4 lanes", dlpack(kDLFloat, 32, 4));
    CHECK_REFUSED("complex elements, code 5", dlpack(5, 64, 1));
    CHECK_REFUSED("bfloat16, code 4", dlpack(4, 16, 1));
    CHECK_REFUSED("bool, code 6", dlpack(6, 8, 1));
    CHECK_REFUSED("integers of 4 bits", dlpack(kDLInt, 4, 1));
    CHECK_REFUSED("integers of 12 bits", dlpack(kDLInt, 12, 1));
    CHECK_REFUSED("floats of 8 bits", dlpack(kDLFloat, 8, 1));
    CHECK_REFUSED("floats of 128 bits", dlpack(kDLFloat, 128, 1));
    CHECK_REFUSED("the other order of the bytes, >f4", type_from_typestr(">f4"));
    // The last two begin like a known type, and have more characters.
    for (const char* text :
         {"<c8", "|b1", "<f16", "<f3", "<M8", "", "f4", "|f4", "<U12", "|V12", "<f40", "|u12"})
        CHECK_REFUSED("typestr \"" << text << "\"", type_from_typestr(text));
}

TEST_CASE("task 3: numbers of streams", "[task3]") {
    const TestStream stream;
    const cudaStream_t legacy = stream_from_number(1);
    const bool one_is_legacy = legacy == nullptr || legacy == cudaStreamLegacy;
    CHECK(one_is_legacy);
    CHECK(stream_from_number(2) == cudaStreamPerThread);
    CHECK(stream_from_number(stream.number()) == stream.stream);
    CHECK(number_of_stream(nullptr) == 1);
    CHECK(number_of_stream(cudaStreamLegacy) == 1);
    CHECK(number_of_stream(cudaStreamPerThread) == 2);
    CHECK(number_of_stream(stream) == stream.number());
    CHECK_REFUSED("0 could be either default stream", stream_from_number(0));
    CHECK_REFUSED("-1 is no stream", stream_from_number(-1));
    CHECK_REFUSED("-2 is no stream", stream_from_number(-2));
}

TEST_CASE("task 3: one stream waits for another", "[task3]") {
    const TwoStreams test;
    test.check([&] { wait_for(test.consumer, test.producer); });
}

TEST_CASE("task 3: events are destroyed, and none is made within a stream", "[task3]") {
    const TestStream one, other;
    {
        wb::CallWatch watch;
        wait_for(one, other);
        const size_t made = count_calls(watch, "EventCreate");
        CHECK(count_calls(watch, "EventDestroy") == made);
    }
    wb::CallWatch watch;
    wait_for(one, one);
    wait_for(nullptr, nullptr);
    wait_for(nullptr, cudaStreamLegacy);
    wait_for(cudaStreamLegacy, nullptr);
    INFO("the streams are the same, and " << (watch.calls.empty() ? "" : watch.calls[0].name)
                                          << " is called");
    const bool nothing_is_called = watch.calls.empty();
    CHECK(nothing_is_called);
}

TEST_CASE("task 3: a failed call is an exception", "[task3]") {
    const TestStream one, other;
    check_failing_calls("wait_for", [&] { wait_for(one, other); });
}
