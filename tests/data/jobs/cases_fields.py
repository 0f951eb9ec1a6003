"""Cases about the values of members: ids, hashes, commits, words, times, and the two rules that need a clock."""
from cases import COMMITS, HASHES, UUIDS


def uuids(cases):
    good = "0b0e5a1c-7d3f-4a2b-9c8d-1e2f3a4b5c6d"
    wrong = (("upper_case", good.upper(), "upper-case digits"), ("version_1", good.replace("-4a2b", "-1a2b"), "version 1"),
             ("variant_c", good.replace("-9c8d", "-cc8d"), "variant c"), ("nil", "00000000-0000-0000-0000-000000000000", "the nil UUID"),
             ("empty", "", "empty"))
    more = (("version_0", good.replace("-4a2b", "-0a2b"), "version 0"), ("version_3", good.replace("-4a2b", "-3a2b"), "version 3"),
            ("version_5", good.replace("-4a2b", "-5a2b"), "version 5"), ("version_7", good.replace("-4a2b", "-7a2b"), "version 7"),
            ("variant_0", good.replace("-9c8d", "-0c8d"), "variant 0"), ("variant_7", good.replace("-9c8d", "-7c8d"), "variant 7"),
            ("all_ones", "ffffffff-ffff-ffff-ffff-ffffffffffff", "all ones"), ("no_hyphens", good.replace("-", ""), "no hyphens"),
            ("braces", "{%s}" % good, "braces"), ("urn", "urn:uuid:" + good, "a URN"), ("35", good[:-1], "35 characters"),
            ("37", good + "0", "37 characters"), ("letter_g", good[:-1] + "g", "a letter that is no hex digit"),
            ("hyphen_moved", "0b0e5a1-c7d3f-4a2b-9c8d-1e2f3a4b5c6d", "a hyphen in the wrong place"),
            ("trailing_blank", good + " ", "a trailing blank"), ("trailing_newline", good + "\n", "a trailing newline"),
            ("full_width", good[:-1] + "５", "a full-width digit"), ("en_dash", good.replace("-", "–", 1), "a dash in the place of a hyphen"))
    for member in UUIDS[cases.kind]:
        for name, value, what in wrong + (more if member == "job_id" else ()):
            cases.set("%s_%s" % (member, name), "BAD_VALUE", {member: value}, "%s: %s" % (member, what))


def hashes(cases):
    member = HASHES[cases.kind]
    for name, value, what in (("63", "a" * 63, "63 digits"), ("65", "a" * 65, "65 digits"), ("40", "a" * 40, "40 digits"), ("128", "a" * 128, "128 digits"),
                              ("upper_case", "A" * 64, "upper-case digits"), ("one_upper", "a" * 63 + "F", "one upper-case digit"),
                              ("letter_g", "a" * 63 + "g", "a letter that is no hex digit"), ("prefix", "sha256:" + "a" * 57, "an algorithm's name"),
                              ("empty", "", "empty"), ("blank", "a" * 63 + " ", "a blank"), ("base64", "q" * 43 + "=", "base64"),
                              ("full_width", "a" * 63 + "１", "a full-width digit")):
        cases.set("hash_" + name, "BAD_VALUE", {member: value}, "%s: %s" % (member, what))


def commits(cases):
    member = COMMITS[cases.kind]
    for name, value, what in (("39", "a" * 39, "39 digits"), ("41", "a" * 41, "41 digits"), ("7", "a" * 7, "an abbreviation"), ("empty", "", "empty"),
                              ("head", "HEAD", "a name"), ("branch", "main", "a branch"), ("ref", "refs/heads/main", "a reference"),
                              ("upper_case", "A" * 40, "upper-case digits"), ("letter_g", "a" * 39 + "g", "a letter that is no hex digit"),
                              ("zero", "0" * 40, "all zero"), ("parent", "a" * 40 + "^", "an expression"), ("option", "--" + "a" * 38, "an option"),
                              ("64_in_sha1", "a" * 64, "64 digits where the repository is SHA-1"), ("newline", "a" * 40 + "\n", "a trailing newline")):
        cases.set("commit_" + name, "BAD_VALUE", {member: value}, "%s: %s" % (member, what))
    for name, value, what in (("40_in_sha256", "a" * 40, "40 digits where the repository is SHA-256"), ("63_in_sha256", "a" * 63, "63 digits"),
                              ("65_in_sha256", "a" * 65, "65 digits"), ("zero_in_sha256", "0" * 64, "all zero"),
                              ("upper_in_sha256", "A" * 64, "upper-case digits")):
        cases.set("commit_" + name, "BAD_VALUE", {member: value}, "%s: %s" % (member, what), object_format="sha256")


def words(cases):
    for name, value, what in (("empty", "", "empty"), ("129", "a" * 129, "129 characters"), ("dot_first", ".a", "starts with a dot"),
                              ("colon_first", ":a", "starts with a colon"), ("hyphen_first", "-a", "starts with a hyphen"),
                              ("underscore_first", "_a", "starts with an underscore"), ("blank", "a b", "a blank"), ("blank_last", "a ", "a trailing blank"),
                              ("slash", "a/b", "a slash"), ("umlaut", "Übung", "a letter that is not ASCII"), ("full_width", "ａ", "a full-width letter"),
                              ("newline", "a\n", "a newline"), ("plus", "a+b", "a plus sign"), ("at", "a@b", "an at sign"), ("percent", "a%41", "a percent sign"),
                              ("devanagari_digit", "a१", "a digit that is not ASCII")):
        cases.set("object_id_" + name, "BAD_VALUE", {"object_id": value}, "object_id: " + what)
    if cases.kind != "save":
        return
    for name, value, what in (("empty", "", "empty"), ("65", "a" * 65, "65 characters"), ("blank_first", " a", "starts with a blank"),
                              ("hyphen_first", "-a", "starts with a hyphen"), ("underscore_first", "_a", "starts with an underscore"),
                              ("dot", "a.b", "a dot"), ("colon", "a:b", "a colon"), ("tab", "a\tb", "a tab"), ("newline", "a\n", "a newline"),
                              ("umlaut", "gelöscht", "a letter that is not ASCII"), ("no_break_space", "a\u00a0b", "a no-break space"),
                              ("slash", "a/b", "a slash")):
        cases.set("state_" + name, "BAD_VALUE", {"expected_state": value}, "expected_state: " + what)


def times(cases):
    for name, value, what in (
            ("empty", "", "empty"), ("lower_t", "2026-10-31t23:00:00Z", "a lower-case t"), ("lower_z", "2026-10-31T23:00:00z", "a lower-case z"),
            ("blank_for_t", "2026-10-31 23:00:00Z", "a blank for T"), ("no_zone", "2026-10-31T23:00:00", "no zone"),
            ("plus_zero", "2026-10-31T23:00:00+00:00", "an offset, of zero"), ("minus_zero", "2026-10-31T23:00:00-00:00", "an unknown offset"),
            ("offset", "2026-11-01T00:00:00+01:00", "an offset"), ("utc_word", "2026-10-31T23:00:00UTC", "the word UTC"),
            ("fraction_0", "2026-10-31T23:00:00.Z", "a point and no digit"), ("fraction_7", "2026-10-31T23:00:00.1234567Z", "7 digits of fraction"),
            ("fraction_9", "2026-10-31T23:00:00.123456789Z", "9 digits of fraction"), ("fraction_comma", "2026-10-31T23:00:00,5Z", "a comma for the point"),
            ("fraction_sign", "2026-10-31T23:00:00.-5Z", "a sign in the fraction"), ("fraction_blank", "2026-10-31T23:00:00. 5Z", "a blank in the fraction"),
            ("leap_second", "2026-10-31T23:59:60Z", "second 60"), ("second_61", "2026-10-31T23:59:61Z", "second 61"), ("minute_60", "2026-10-31T22:60:00Z", "minute 60"),
            ("hour_24", "2026-10-31T24:00:00Z", "hour 24"), ("month_0", "2026-00-31T23:00:00Z", "month 0"), ("month_13", "2026-13-31T23:00:00Z", "month 13"),
            ("day_0", "2026-10-00T23:00:00Z", "day 0"), ("day_32", "2026-10-32T23:00:00Z", "day 32"), ("april_31", "2026-04-31T23:00:00Z", "April 31"),
            ("february_29", "2026-02-29T00:00:00Z", "February 29 of a common year"), ("february_30", "2024-02-30T00:00:00Z", "February 30"),
            ("february_29_1900", "2100-02-29T00:00:00Z", "February 29 of a common century"), ("year_5", "12026-10-31T23:00:00Z", "a year of 5 digits"),
            ("year_2", "26-10-31T23:00:00Z", "a year of 2 digits"), ("one_digit_day", "2026-10-1T23:00:00Z", "a day of one digit"),
            ("no_seconds", "2026-10-31T23:00Z", "no seconds"), ("date_alone", "2026-10-31", "a date"), ("basic", "20261031T230000Z", "the basic form"),
            ("week_date", "2026-W44-6T23:00:00Z", "a week date"), ("leading_blank", " 2026-10-31T23:00:00Z", "a leading blank"),
            ("trailing_blank", "2026-10-31T23:00:00Z ", "a trailing blank"), ("trailing_newline", "2026-10-31T23:00:00Z\n", "a trailing newline"),
            ("sign", "+2026-10-31T23:00:00Z", "a sign"), ("full_width", "２026-10-31T23:00:00Z", "a full-width digit"), ("epoch", "1793487600", "seconds since 1970"),
            ("before_1970", "1969-12-31T23:59:59Z", "before 1970: years 1970 to 9999 are taken"), ("double_z", "2026-10-31T23:00:00ZZ", "two Z")):
        cases.set("created_at_" + name, "BAD_VALUE", {"created_at": value}, "created_at: " + what)


def ages(cases):
    for name, value, what in (
            ("by_5_minutes_and_1_us", "2026-11-01T00:05:00.000001Z", "5 minutes and 1 us"), ("by_5_minutes_and_1_s", "2026-11-01T00:05:01Z", "5 minutes and 1 s"),
            ("by_a_year", "2027-11-01T00:00:00Z", "a year"), ("9999", "9999-12-31T23:59:59.999999Z", "almost 8000 years")):
        cases.set("ahead_" + name, "CREATED_IN_FUTURE", {"created_at": value}, "created_at is %s ahead of the clock; 5 minutes are taken" % what)
    for name, value, what in (
            ("7_days_and_1_us", "2026-10-24T23:59:59.999999Z", "7 days and 1 us old; 7 days are taken"), ("7_days_and_1_s", "2026-10-24T23:59:59Z", "7 days and 1 s old"),
            ("1970", "1970-01-01T00:00:00Z", "1970: a good time, and old"), ("leap_day_2024", "2024-02-29T12:00:00Z", "a leap day: a real date, and old"),
            ("leap_day_2000", "2000-02-29T12:00:00Z", "the leap day of a century: a real date, and old")):
        cases.set("old_" + name, "JOB_TOO_OLD", {"created_at": value}, "created_at: " + what)
    cases.set("values_before_age", "UNSAFE_PATH", {"created_at": "1970-01-01T00:00:00Z", "vault_path": "/etc/passwd"}, "order: values, then age")
    cases.set("values_before_path", "BAD_VALUE", {"object_id": "", "vault_path": "/etc/passwd"}, "order: other values, then the path")


def add(cases):
    for group in (uuids, hashes, commits, words, times, ages):
        group(cases)


def add_valid(cases):
    def good(name, changes, what, **world):
        cases.set(name, "OK", changes, what, **world)

    good("plain", {}, "nothing special")
    for digits in range(1, 7):
        good("fraction_%d" % digits, {"created_at": "2026-10-31T23:00:00.%sZ" % "123456"[:digits]}, "a fraction of %d digits" % digits)
    good("fraction_zeros", {"created_at": "2026-10-31T23:00:00.000000Z"}, "a fraction of zeros: not shortened")
    good("last_second_of_day", {"created_at": "2026-10-31T23:59:59.999999Z"}, "the last microsecond of a day")
    good("leap_day", {"created_at": "2028-02-29T12:00:00Z"}, "a leap day", clock="2028-03-01T00:00:00Z")
    good("leap_day_2000", {"created_at": "2000-02-29T12:00:00Z"}, "the leap day of a century", clock="2000-03-01T00:00:00Z")
    good("ahead_5_minutes", {"created_at": "2026-11-01T00:05:00Z"}, "exactly 5 minutes ahead of the clock")
    good("old_7_days", {"created_at": "2026-10-25T00:00:00Z"}, "exactly 7 days old")
    for name, value in (("1", "a"), ("128", "a" * 128), ("digit_first", "0"), ("all_characters", "A9._:-z"), ("dots", "a..b"), ("upper_case", "NOTE:1")):
        good("object_id_" + name, {"object_id": value}, "object_id %s" % (value if len(value) < 20 else "of %d characters" % len(value)))
    good("sha256_commit", {COMMITS[cases.kind]: "0123456789abcdef" * 4}, "a commit id of 64 digits", object_format="sha256")
    good("commit_one_digit_set", {COMMITS[cases.kind]: "0" * 39 + "1"}, "a commit id that is almost all zero")
    good("hash_zero", {HASHES[cases.kind]: "0" * 64}, "a hash of zeros is a hash")
    for variant in "89ab":
        good("uuid_variant_" + variant, {"mission_id": "0b0e5a1c-7d3f-4a2b-%sc8d-1e2f3a4b5c6d" % variant}, "variant " + variant)
    if cases.kind == "save":
        for name, value in (("1", "a"), ("64", "a" * 64), ("blank", "in review"), ("trailing_blank", "UNSET "), ("all_characters", "A9 _-z"),
                            ("digit_first", "0")):
            good("state_" + name, {"expected_state": value}, "expected_state %s" % ("of 64 characters" if name == "64" else repr(value)))
