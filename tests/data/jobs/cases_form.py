"""Cases about a file's bytes: size, JSON, canonical form, shape, version, type, members.

MALFORMED_JSON: no strict RFC 8259 reader would take it, or it is not UTF-8 without BOM, holds NUL or a lone surrogate, or nests
deeper than 4. NOT_CANONICAL: it is JSON, and these are not the bytes RFC 8785 gives for it, or a member comes twice, or a number
is not a plain integer within +-(2^53-1).
"""
from cases import JOB_TYPES, Raw, encode, good

OTHER = {"save": "C5_DELETE_OBJECT", "delete": "C5_SAVE_OBJECT"}
WRONG_TYPES = (("null", None), ("true", True), ("false", False), ("number", 7), ("array", []), ("object", {}))


def sizes(cases):
    cases.raw("empty_file", "EMPTY_FILE", b"", "no byte at all")
    for name, size, expected in (("16384_bytes", 16384, "UNKNOWN_MEMBER"), ("16385_bytes", 16385, "OVERSIZED")):
        short = len(encode({**cases.good(name), "z": ""}))
        cases.set(name, expected, {"z": "x" * (size - short)}, "a file of %d bytes; the limit is 16384" % size)
    cases.raw("20000_blanks", "OVERSIZED", b" " * 20000, "size is judged before content")


def json_grammar(cases):
    def bad(name, data, what):
        cases.raw(name, "MALFORMED_JSON", data, what)

    whole = encode(cases.good("cut"))
    for name, at in (("cut_after_1", 1), ("cut_after_2", 2), ("cut_in_name", 5), ("cut_before_colon", whole.index(b":")),
                     ("cut_after_colon", whole.index(b":") + 1), ("cut_in_value", whole.index(b":") + 4),
                     ("cut_after_comma", whole.index(b',"') + 1), ("cut_in_half", len(whole) // 2),
                     ("cut_inside_utf8", whole.index("Ü".encode()) + 1), ("cut_before_brace", len(whole) - 1)):
        bad(name, whole[:at], "the first %d of %d bytes of a good job" % (at, len(whole)))
    bad("comment_line", b"// job\n" + encode(cases.good("comment_line")), "a // comment")
    bad("comment_block", encode(cases.good("comment_block"))[:-1] + b"/**/}", "a /* */ comment")
    bad("comment_hash", b"# job\n" + encode(cases.good("comment_hash")), "a # comment")
    bad("single_quotes", encode(cases.good("single_quotes")).replace(b'"', b"'"), "single quotes")
    bad("trailing_comma", encode(cases.good("trailing_comma"))[:-1] + b",}", "a comma before the closing brace")
    bad("leading_comma", b"{," + encode(cases.good("leading_comma"))[1:], "a comma after the opening brace")
    bad("two_commas", encode(cases.good("two_commas")).replace(b',"job_id"', b',,"job_id"'), "two commas")
    bad("no_comma", encode(cases.good("no_comma")).replace(b',"job_id"', b'"job_id"'), "no comma between two members")
    bad("name_without_quotes", encode(cases.good("name_without_quotes")).replace(b'"job_version"', b"job_version"), "a bare name")
    bad("name_is_number", encode(cases.good("name_is_number"))[:-1] + b",1:1}", "a number as a member's name")
    bad("member_without_value", encode(cases.good("member_without_value"))[:-1] + b',"z"}', "a name and no value")
    bad("equals_sign", encode(cases.good("equals_sign")).replace(b'"job_version":', b'"job_version"='), "= in the place of :")
    bad("bracket_mismatch", encode(cases.good("bracket_mismatch"))[:-1] + b"]", "an object closed by a bracket")
    bad("second_brace", encode(cases.good("second_brace")) + b"}", "trailing byte: a second closing brace")
    bad("second_job", encode(cases.good("second_job")) * 2, "trailing bytes: a second job")
    bad("two_lines_of_jobs", encode(cases.good("two_lines_of_jobs")) + b"\n" + encode(cases.good("two_lines_of_jobs/2")), "one job a line, twice")
    bad("trailing_letter", encode(cases.good("trailing_letter")) + b"x", "trailing byte: a letter")
    bad("trailing_nul", encode(cases.good("trailing_nul")) + b"\0", "trailing byte: NUL")
    bad("leading_nul", b"\0" + encode(cases.good("leading_nul")), "NUL before the job")
    bad("only_nul", b"\0" * 512, "a block of zeros, as a crash may leave it")
    bad("only_blanks", b" \n\t\r", "white space alone")
    bad("no_json", b"save everything", "words")
    bad("html", b"<!doctype html><title>502</title>", "a web server's error page")
    bad("word_true_cased", b"True", "a literal of another language")
    for name, words in (("nan", "NaN"), ("infinity", "Infinity"), ("minus_infinity", "-Infinity"), ("undefined", "undefined")):
        cases.set("version_" + name, "MALFORMED_JSON", {"job_version": Raw(words)}, "%s is no JSON" % words)
    for name, blank in (("vertical_tab", b"\x0b"), ("form_feed", b"\x0c"), ("no_break_space", b"\xc2\xa0"), ("line_separator", b"\xe2\x80\xa8")):
        bad("blank_" + name, b"{" + blank + encode(cases.good("blank_" + name))[1:], "what other languages call white space")


def numbers(cases):
    malformed = (("leading_zero", "01"), ("plus", "+1"), ("no_fraction", "1."), ("no_integer", ".1"), ("hex", "0x1"), ("underscore", "1_0"),
                 ("minus_alone", "-"), ("no_exponent", "1e"), ("two_minus", "--1"), ("full_width", "１"), ("minus_zero_one", "-01"))
    for name, text in malformed:
        cases.set("version_" + name, "MALFORMED_JSON", {"job_version": Raw(text)}, "the number %s is no JSON" % text)
    uncanonical = (("1_0", "1.0"), ("1e0", "1e0"), ("1_upper_e_0", "1E0"), ("10e_1", "10e-1"), ("minus_0", "-0"), ("minus_0_0", "-0.0"), ("0_5", "0.5"),
                   ("0_1e1", "0.1e1"), ("20_digits", "10000000000000000000"), ("2_53", str(2**53)), ("minus_2_53", str(-2**53)),
                   ("2_63", str(2**63)), ("2_64", str(2**64)), ("2_64_plus_1", str(2**64 + 1)), ("300_digits", "1" * 300),
                   ("1e400", "1e400"), ("1e_400", "1e-400"))
    for name, text in uncanonical:
        cases.set("version_" + name, "NOT_CANONICAL", {"job_version": Raw(text)}, "%.30s: not a plain integer within +-(2^53-1)" % text)
    for name, text in (("400_digits", "1" * 400), ("minus_400_digits", "-" + "1" * 400), ("1e99999", "1e99999"), ("fraction_e400", "1.5E+400")):
        cases.set("version_" + name, "NOT_CANONICAL", {"job_version": Raw(text)}, "%.30s: JSON, and beyond every type" % text)
    # What follows such a number still decides whether the file is JSON.
    for name, rest in (("trailing_comma", ",}"), ("no_comma", '"z":1}'), ("cut", ""), ("letter", "x}"), ("second_fraction", ".5}"), ("second_exponent", "e1}"),
                       ("leading_zero", ',"z":01}'), ("two_minus", ',"z":--1}'), ("plus", ',"z":+1}'), ("glued", ',"z":true1}'),
                       ("deep", ',"z":[[[[1]]]]}'), ("nul_escape", ',"z":"\\u0000"}'), ("bad_escape", ',"z":"\\""x"}')):
        cases.raw("1e400_then_" + name, "MALFORMED_JSON", ('{"a":1e400' + rest).encode(), "a number beyond every type, then what is no JSON")
    cases.raw("1e400_then_strings", "NOT_CANONICAL", b'{"a":1e400,"b":"-01 1. \\" 1e",  "c":[-0.5e-1,1E400]}', "a number beyond every type, then what is JSON")
    for name, value in (("0", 0), ("2", 2), ("minus_1", -1), ("10", 10), ("257", 257), ("2_32_plus_1", 2**32 + 1),
                        ("2_53_minus_1", 2**53 - 1), ("minus_2_53_plus_1", 1 - 2**53)):
        cases.set("version_is_" + name, "UNKNOWN_VERSION", {"job_version": value}, "job_version is %d" % value)


def encoding(cases):
    def bad(name, new, what):
        cases.edit(name, "MALFORMED_JSON", "Übung".encode(), new, what)

    bom = encode(cases.good("bom"))
    cases.raw("bom", "MALFORMED_JSON", b"\xef\xbb\xbf" + bom, "a byte order mark before the job")
    cases.raw("utf16_le", "MALFORMED_JSON", bom.decode().encode("utf-16-le"), "UTF-16")
    cases.raw("utf16_be_bom", "MALFORMED_JSON", b"\xfe\xff" + bom.decode().encode("utf-16-be"), "UTF-16 with its mark")
    cases.raw("utf32_le", "MALFORMED_JSON", bom.decode().encode("utf-32-le"), "UTF-32")
    bad("latin_1", b"\xdcbung", "ISO 8859-1")
    for name, octets, what in (
            ("overlong_slash_2", b"\xc0\xaf", "an overlong slash, 2 bytes"), ("overlong_slash_3", b"\xe0\x80\xaf", "an overlong slash, 3 bytes"),
            ("overlong_slash_4", b"\xf0\x80\x80\xaf", "an overlong slash, 4 bytes"), ("overlong_dot", b"\xc0\xae", "an overlong dot"),
            ("overlong_nul", b"\xc0\x80", "NUL in 2 bytes"), ("overlong_quote", b"\xc0\xa2", "an overlong quotation mark"),
            ("overlong_7ff", b"\xe0\x9f\xbf", "U+07FF in 3 bytes"), ("overlong_ffff", b"\xf0\x8f\xbf\xbf", "U+FFFF in 4 bytes"),
            ("five_bytes", b"\xf8\x88\x80\x80\x80", "a form of 5 bytes"), ("six_bytes", b"\xfc\x84\x80\x80\x80\x80", "a form of 6 bytes"),
            ("above_10ffff", b"\xf4\x90\x80\x80", "U+110000"), ("lead_f5", b"\xf5\x80\x80\x80", "a lead byte F5"),
            ("fe", b"\xfe", "the byte FE"), ("ff", b"\xff", "the byte FF"), ("lone_continuation", b"\x80", "a continuation byte alone"),
            ("truncated_2", b"\xc3x", "1 of 2 bytes"), ("truncated_3", b"\xe2\x82x", "2 of 3 bytes"), ("truncated_4", b"\xf0\x9f\x98x", "3 of 4 bytes"),
            ("raw_high_surrogate", b"\xed\xa0\x80", "U+D800 in UTF-8"), ("raw_low_surrogate", b"\xed\xbf\xbf", "U+DFFF in UTF-8"),
            ("raw_surrogate_pair", b"\xed\xa0\xbd\xed\xb8\x80", "a pair of surrogates, each in UTF-8 (CESU-8)")):
        bad("utf8_" + name, octets, "not UTF-8: " + what)
    bad("utf8_in_name", b'x.md","\xff":"', "not UTF-8 in a member's name")
    for name, escape, what in (
            ("lone_high_surrogate", rb"\ud800", "a high surrogate alone"), ("lone_low_surrogate", rb"\udc00", "a low surrogate alone"),
            ("surrogates_reversed", rb"\ude00\ud83d", "a pair in the wrong order"), ("high_high_surrogates", rb"\ud83d\ud83d", "two high ones"),
            ("high_surrogate_letter", rb"\ud83dx", "a high one before a letter"), ("high_surrogate_escape", rb"\ud83d\n", "a high one before an escape"),
            ("nul_escape", rb"\u0000", "NUL as an escape"), ("bad_escape_x", rb"\x41", "no such escape"), ("bad_escape_a", rb"\a", "no such escape"),
            ("bad_escape_0", rb"\0", "no such escape"), ("bad_escape_quote", rb"\'", "no such escape"), ("bad_escape_brace", rb"\u{41}", "no such escape"),
            ("short_unicode_escape", rb"\u41", "too few hex digits"), ("blank_unicode_escape", rb"\u 041", "a blank among hex digits"),
            ("upper_u_escape", rb"\U00000041", "no such escape")):
        bad(name, escape, "escape: " + what)
    for control in (0x00, 0x01, 0x09, 0x0A, 0x0D, 0x1F):
        bad("raw_control_%02x" % control, bytes([control]), "a control character that is not escaped")


def canonical_form(cases):
    def other(name, data, what):
        cases.raw(name, "NOT_CANONICAL", data, what)

    def escaped(name, old, new, what):
        cases.edit(name, "NOT_CANONICAL", old, new, what)

    for name, end in (("newline", b"\n"), ("carriage_return_newline", b"\r\n"), ("blank", b" "), ("tab", b"\t")):
        other("trailing_" + name, encode(cases.good("trailing_" + name)) + end, "white space after the job")
        other("leading_" + name, end + encode(cases.good("leading_" + name)), "white space before the job")
    other("blank_after_colon", encode(cases.good("blank_after_colon")).replace(b'"job_version":', b'"job_version": '), "white space after a colon")
    other("blank_after_comma", encode(cases.good("blank_after_comma")).replace(b',"job_id"', b', "job_id"'), "white space after a comma")
    other("blank_before_colon", encode(cases.good("blank_before_colon")).replace(b'"job_version"', b'"job_version" '), "white space before a colon")
    other("blank_in_brace", b"{ " + encode(cases.good("blank_in_brace"))[1:], "white space after the opening brace")
    other("newline_in_brace", encode(cases.good("newline_in_brace"))[:-1] + b"\n}", "white space before the closing brace")
    job = cases.good("members_reversed")
    other("members_reversed", ("{%s}" % ",".join(encode({n: job[n]}).decode()[1:-1] for n in sorted(job, reverse=True))).encode(), "members in falling order")
    job = cases.good("two_members_swapped")
    names = sorted(job)
    names[3], names[4] = names[4], names[3]
    other("two_members_swapped", ("{%s}" % ",".join(encode({n: job[n]}).decode()[1:-1] for n in names)).encode(), "two members in the wrong order")
    escaped("escaped_solidus", b"/app/vault/", rb"\/app\/vault\/", r"\/ is not the shortest form of /")
    escaped("escaped_ascii", b"C5_", rb"\u00435_", "an escaped letter")
    escaped("escaped_umlaut", "Ü".encode(), rb"\u00dc", "an escaped umlaut")
    escaped("escaped_umlaut_upper", "Ü".encode(), rb"\u00DC", "an escaped umlaut, upper-case digits")
    escaped("escaped_pair", "Ü".encode(), rb"\ud83d\ude00", "an emoji as a pair of escapes")
    escaped("escaped_delete", "Ü".encode(), rb"\u007f", "U+007F needs no escape")
    escaped("escaped_line_separator", "Ü".encode(), rb"\u2028", "U+2028 needs no escape")
    escaped("escaped_name", b'"job_version"', rb'"job\u005fversion"', "an escaped character in a member's name")
    escaped("long_escape_quote", "Ü".encode(), rb"\u0022", 'the long escape of "')
    escaped("long_escape_backslash", "Ü".encode(), rb"\u005c", "the long escape of a backslash")
    for code, name in ((8, "backspace"), (9, "tab"), (10, "newline"), (12, "form_feed"), (13, "carriage_return")):
        escaped("long_escape_" + name, "Ü".encode(), rb"\u%04x" % code, "the long escape of a character that has a short one")
    escaped("upper_hex_escape", "Ü".encode(), rb"\u001F", "upper-case hex digits in an escape")
    for name in ("job_id", "created_at", "job_type"):
        same = "duplicate_" + name
        member = encode({name: cases.good(same)[name]})[1:-1]
        cases.edit(same, "NOT_CANONICAL", member, member + b"," + member, "%s twice, with the same value" % name)
    name = "duplicate_other_value"
    member = encode({"job_id": cases.good(name)["job_id"]})[1:-1]
    cases.edit(name, "NOT_CANONICAL", member, member + b"," + encode({"job_id": cases.good("other")["job_id"]})[1:-1], "job_id twice, with two values")
    cases.edit("duplicate_escaped_name", "NOT_CANONICAL", b'"job_version":1', rb'"job_version":1,"job\u005fversion":1', "job_version twice, once escaped")
    cases.edit("duplicate_other_type", "NOT_CANONICAL", b'"job_version":1', b'"job_version":1,"job_version":"1"', "job_version twice, once a string")
    cases.edit("duplicate_null", "NOT_CANONICAL", b'"job_version":1', b'"job_version":null,"job_version":1', "job_version twice, first null")
    for depth, value in ((2, '{"a":1,"a":1}'), (3, '{"a":{"b":1,"b":2}}'), (4, '[{"a":{"b":1,"b":2}}]')):
        cases.set("duplicate_at_depth_%d" % depth, "NOT_CANONICAL", {"z": Raw(value)}, "a member twice in an object at depth %d" % depth)
    cases.set("nested_member_order", "NOT_CANONICAL", {"z": Raw('{"b":1,"a":1}')}, "members of an inner object in the wrong order")
    cases.set("nested_blank", "NOT_CANONICAL", {"z": Raw("[1, 2]")}, "white space in an inner array")
    cases.set("nested_float", "NOT_CANONICAL", {"z": Raw("[1.0]")}, "1.0 in an inner array")
    smile, halfwidth = '"\U0001f600":1', '"\uff61":1'
    cases.set("utf16_order", "UNKNOWN_MEMBER", {"z": Raw("{%s,%s}" % (smile, halfwidth))}, "U+1F600 sorts before U+FF61: by UTF-16 units")
    cases.set("utf8_order", "NOT_CANONICAL", {"z": Raw("{%s,%s}" % (halfwidth, smile))}, "U+FF61 before U+1F600: sorted by UTF-8 bytes")
    cases.set("malformed_before_uncanonical", "MALFORMED_JSON", {"a": Raw("1.0"), "z": Raw("[1,]")}, "what is no JSON is called that, whatever came before")


def nesting(cases):
    cases.set("depth_4", "UNKNOWN_MEMBER", {"z": [[[1]]]}, "4 levels are read; the member is unknown")
    cases.set("depth_4_known_member", "BAD_TYPE", {"object_id": [[[]]]}, "4 levels are read; the type is wrong")
    cases.set("depth_5", "MALFORMED_JSON", {"z": [[[[1]]]]}, "5 levels: arrays")
    cases.set("depth_5_objects", "MALFORMED_JSON", {"z": {"a": {"a": {"a": {}}}}}, "5 levels: objects")
    cases.raw("depth_5_arrays_alone", "MALFORMED_JSON", b"[[[[[]]]]]", "5 levels, no object")
    cases.raw("depth_8000", "MALFORMED_JSON", b"[" * 8000 + b"]" * 8000, "8000 levels")
    cases.raw("depth_8000_objects", "MALFORMED_JSON", b'{"":' * 3000 + b"0" + b"}" * 3000, "3000 levels of objects")
    cases.raw("depth_10000_open", "MALFORMED_JSON", b"[" * 10000, "10000 levels that are never closed")
    cases.raw("depth_10000", "OVERSIZED", b"[" * 10000 + b"]" * 10000, "10000 levels: too many bytes already")
    for name, data in (("array", b"[]"), ("string", b'"job"'), ("number", b"1"), ("null", b"null"), ("true", b"true"), ("false", b"false")):
        cases.raw("top_level_" + name, "BAD_TYPE", data, "canonical JSON that is no object")
    cases.raw("top_level_array_of_job", "BAD_TYPE", encode([cases.good("top_level_array_of_job")]), "a job in an array")
    cases.raw("empty_object", "MISSING_MEMBER", b"{}", "no members")


def members(cases):
    job = cases.good("members")
    for member in sorted(job):
        cases.drop("missing_" + member, "MISSING_MEMBER", member, "%s is missing" % member)
        for word, value in WRONG_TYPES:
            if member == "job_version" and word == "number":
                word, value = "string", "1"
            cases.set("%s_is_%s" % (member, word), "BAD_TYPE", {member: value}, "%s has another type; nothing is coerced" % member)
    for name, member in (("extra", "extra"), ("empty_name", ""), ("case", "Job_id"), ("blank", "job_id "), ("comment", "_comment"), ("schema", "$schema"),
                         ("proto", "__proto__"), ("command", "command"), ("url", "url"), ("method", "method"), ("full_width", "job＿id"),
                         ("combining", "job_id\u0301"), ("control", "job_id\n"), ("emoji", "\U0001f600")):
        cases.set("unknown_" + name, "UNKNOWN_MEMBER", {member: "x"}, "a member beyond the list: %s" % ascii(member))
    cases.set("unknown_null", "UNKNOWN_MEMBER", {"extra": None}, "a member beyond the list, null: null is not absent")
    foreign = "approval_id" if cases.kind == "save" else "expected_state"
    cases.set("unknown_of_other_kind", "UNKNOWN_MEMBER", {foreign: "UNSET"}, "a member that the other kind has")
    job = cases.good("renamed_member")
    job["objectid"] = job.pop("object_id")
    cases.raw("renamed_member", "UNKNOWN_MEMBER", encode(job), "object_id under another name: what is there and unknown comes before what is missing")


def job_types(cases):
    mine = JOB_TYPES[cases.kind]
    for name, word in (("lower_case", mine.lower()), ("mixed_case", mine.capitalize()), ("full_width", "Ｃ5" + mine[2:]), ("trailing_blank", mine + " "),
                       ("leading_blank", " " + mine), ("newline", mine + "\n"), ("empty", ""), ("hyphens", mine.replace("_", "-")),
                       ("prefix", mine[:-1]), ("longer", mine + "S"), ("other_kind", OTHER[cases.kind]), ("cyrillic", "\u0421" + mine[1:]),
                       ("zero_width", mine + "\u200b"), ("c4", "C4" + mine[2:])):
        cases.set("job_type_" + name, "UNKNOWN_JOB_TYPE", {"job_type": word}, "job_type is %s: enum words match by exact bytes" % ascii(word))
    job = good("delete" if cases.kind == "save" else "save", "whole job of the other kind in " + cases.kind)
    cases.raw("whole_job_of_other_kind", "UNKNOWN_JOB_TYPE", encode(job), "a good job of the other kind: its members are not looked at")
    cases.set("version_before_type", "UNKNOWN_VERSION", {"job_version": 2, "job_type": "C6_NEW"}, "order: version, then type")
    cases.set("type_before_members", "UNKNOWN_JOB_TYPE", {"job_type": "C6_NEW", "extra": 1}, "order: type, then members")
    cases.set("members_before_values", "UNKNOWN_MEMBER", {"object_id": "", "extra": 1}, "order: members, then values")
    cases.set("types_before_values", "BAD_TYPE", {"object_id": "", "created_at": 1}, "order: every member's type, then values")


def add(cases):
    for group in (sizes, json_grammar, numbers, encoding, canonical_form, nesting, members, job_types):
        group(cases)
