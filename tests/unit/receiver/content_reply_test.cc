#include "receiver/content_reply.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace intray::receiver {
namespace {

TEST_CASE("the one string member is decoded") {
  const auto [json, expected] = GENERATE(table<std::string, std::string>({
      {R"({"content":""})", ""},
      {" \t\r\n{ \"content\" : \"a\" } \n", "a"},
      {R"({"content":"\"\\\/\b\f\n\r\t"})", "\"\\/\b\f\n\r\t"},
      {R"({"content":"\u0041\u00e4\u20AC\ud83D\uDE00"})", "A\u00e4\u20ac\U0001F600"},
      {R"({"content":"\u0000x"})", std::string("\0x", 2)},
      {"{\"content\":\"\u00e4\U0001F600\x7f\"}", "\u00e4\U0001F600\x7f"},
  }));
  CHECK(only_string_member(json, "content") == expected);
  CHECK(nlohmann::json::parse(json).at("content").get<std::string>() == expected);
}

TEST_CASE("everything else is refused") {
  const std::string json = GENERATE(as<std::string>{},                                                  //
                                    "", " ", "null", "\"content\"", "[]", "{}", "{\"content\"}",        //
                                    R"({"content":null})", R"({"content":1})", R"({"content":["a"]})",  //
                                    R"({"content":{"content":"a"}})", R"({"Content":"a"})",             //
                                    R"({"content":"a","content":"a"})", R"({"content":"a","x":1})",     //
                                    R"({"x":1,"content":"a"})", R"({"content":"a",})", R"({"content":"a"}})",
                                    R"({"content":"a"} {})", R"({"content":"a)", R"({"content":"a\)",  //
                                    R"({"content":"a\"})", R"({"content":"\x41"})", R"({"content":"\u12"})",
                                    R"({"content":"\u00g0"})", R"({"content":"\ud83d"})", R"({"content":"\ude00"})",
                                    R"({"content":"\ud83dx"})", R"({"content":"\ud83d\u0041"})",          //
                                    R"({"content":"\ud83d\ud83d"})", "{\"content\":\"a\nb\"}",            //
                                    std::string("{\"content\":\"a\0b\"}", 17), "{\"content\":\"\xff\"}",  //
                                    "{\"content\":\"\xc0\x80\"}", "{\"content\":\"\xed\xa0\x80\"}",       //
                                    "{\"content\":\"\xe2\x82\"}", "\xef\xbb\xbf{\"content\":\"a\"}",      //
                                    "{'content':'a'}", std::string("{\"content\":\"a\"}\0", 16));
  CAPTURE(json);
  CHECK_FALSE(only_string_member(json, "content"));
}

TEST_CASE("no prefix of a good answer is one") {
  const std::string json = R"({"content":"a\u00e4\ud83d\ude00b"})";
  for (std::size_t n = 0; n < json.size(); ++n) CHECK_FALSE(only_string_member(json.substr(0, n), "content"));
  CHECK(only_string_member(json, "content"));
}

}  // namespace
}  // namespace intray::receiver
