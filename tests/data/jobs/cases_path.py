"""Cases about vault_path."""
from cases import EXTENSION, VAULT_ROOT

LOOKALIKES = (("2044", "fraction slash"), ("2215", "division slash"), ("29f8", "big solidus"), ("ff0f", "full-width solidus"),
              ("29f5", "reverse solidus operator"), ("ff3c", "full-width reverse solidus"), ("fe68", "small reverse solidus"),
              ("2024", "one dot leader"), ("ff0e", "full-width full stop"), ("fe52", "small full stop"))
CATEGORIES = (("cc", "001f 007f 0080 0085 009f"), ("cf", "00ad 061c 200b 200c 200d 200e 200f 202a 202e 2060 2066 2069 feff e0001 e0041"),
              ("co", "e000 f8ff f0000 10fffd"), ("cn", "0378 fdd0 ffff 1ffff 10ffff"), ("zs", "00a0 1680 2003 202f 205f 3000"), ("zl", "2028"), ("zp", "2029"))


def of_length(size, character="a", segment=200):
    """A path of exactly `size` bytes, its segments of at most `segment` characters."""
    path, width = VAULT_ROOT, len(character.encode())
    while size - len(path.encode()) - 1 > segment * width + 10:
        path += "/" + character * segment
    return path + "/" + "b" * (size - len(path.encode()) - 1 - len(EXTENSION)) + EXTENSION


def add(cases):
    def bad(name, path, what):
        cases.set("path_" + name, "UNSAFE_PATH", {"vault_path": path}, "vault_path: " + what)

    def below(name, rest, what):
        bad(name, VAULT_ROOT + "/" + rest, what)

    for name, path in (("empty", ""), ("slash", "/"), ("relative", "app/vault/a.md"), ("file_alone", "a.md"), ("other_root", "/etc/a.md"), ("root", "/app/vault"),
                       ("root_longer", "/app/vault2/a.md"), ("root_prefix", "/app/vaul/a.md"), ("root_case", "/App/vault/a.md"), ("two_slashes_first", "//app/vault/a.md"),
                       ("dot_in_root", "/app/./vault/a.md"), ("dots_in_root", "/app/x/../vault/a.md"), ("url", "file:///app/vault/a.md"),
                       ("backslashes", "\\app\\vault\\a.md"), ("blank_first", " /app/vault/a.md"), ("extension_glued_to_root", "/app/vault.md"),
                       ("full_width_root", "/ａpp/vault/a.md")):
        bad(name, path, "does not begin with the vault root and a slash")
    below("nothing_below", "", "names nothing below the vault root")
    for name, rest in (("dot", "./a.md"), ("dot_inside", "a/./b.md"), ("dot_dot", "../a.md"), ("dot_dot_inside", "a/../b.md"), ("dot_dot_twice", "../../etc/a.md"),
                       ("dot_dot_deep", "a/b/../../../c.md"), ("dot_dot_last", "a.md/.."), ("dot_last", "a.md/.")):
        below(name, rest, "a segment is '.' or '..'")
    for name, rest in (("two_slashes", "/a.md"), ("two_slashes_inside", "a//b.md"), ("slash_last", "a.md/")):
        below(name, rest, "a segment is empty")
    for name, rest in (("hidden", ".a.md"), ("hidden_folder", ".git/a.md"), ("extension_alone", ".md"), ("three_dots", ".../a.md"), ("obsidian", "a/.obsidian/b.md")):
        below(name, rest, "a segment starts with a dot")
    for name, rest in (("option", "-rf.md"), ("option_folder", "a/--/b.md")):
        below(name, rest, "a segment starts with a hyphen")
    for name, rest in (("dot_ends_folder", "a./b.md"), ("blank_ends_folder", "a /b.md"), ("blank_ends_file", "a.md "), ("dot_ends_file", "a.md."), ("blank_alone", " /a.md")):
        below(name, rest, "a segment ends in a dot or blank")
    for name, character in (("backslash", "\\"), ("colon", ":"), ("asterisk", "*"), ("question_mark", "?"), ("quote", '"'), ("less_than", "<"),
                            ("greater_than", ">"), ("bar", "|"), ("back_quote", "`")):
        below("character_" + name, "a%sb.md" % character, "the character %s" % character)
        below("character_%s_in_folder" % name, "a%s/b.md" % character, "the character %s in a folder's name" % character)
    for escape in ("%2f", "%2F", "%2e", "%5C", "%00", "%41", "%c3", "%aF"):
        name = escape[1:].replace("F", "F_").replace("C", "C_")
        below("percent_" + name, "a%sb.md" % escape, "%s: a percent sign before two hex digits" % escape)
    below("percent_twice", "a%%2fb.md", "a percent sign before two hex digits, after another")
    below("percent_double_encoded", "a%252fb.md", "a percent sign before two hex digits")
    below("percent_dots", "%2e%2e/a.md", "an encoded '..'")
    for code, what in LOOKALIKES:
        below("lookalike_" + code, "a%sb.md" % chr(int(code, 16)), "U+%s, %s" % (code.upper(), what))
    for name, rest, what in (("2025", "\u2025/a.md", "U+2025, whose NFKC is '..'"), ("fe30", "\ufe30/a.md", "U+FE30, whose NFKC is '..'"),
                             ("2024_twice", "\u2024\u2024/a.md", "two dot leaders"), ("ff0e_twice", "\uff0e\uff0e/a.md", "two full-width full stops"),
                             ("2100", "a\u2100.md", "U+2100, whose NFKC holds a slash"), ("2101", "a\u2101.md", "U+2101, whose NFKC holds a slash"),
                             ("2105", "\u2105.md", "U+2105, whose NFKC holds a slash"), ("2106", "\u2106/a.md", "U+2106, whose NFKC holds a slash")):
        below("nfkc_" + name, rest, "a segment's compatibility form: " + what)
    for category, codes in CATEGORIES:
        for code in codes.split():
            below("category_%s_%s" % (category, code), "a%sb.md" % chr(int(code, 16)), "U+%s, category %s" % (code.upper().zfill(4), category.capitalize()))
    below("control_newline", "a\nb.md", "a newline")
    below("control_tab", "a\tb.md", "a tab")
    below("emoji_joined", "a\U0001f468\u200d\U0001f469.md", "emoji joined by U+200D, category Cf")
    for name, rest, what in (("umlaut", "U\u0308bung.md", "U and a diaeresis"), ("folder", "a\u0301/b.md", "a and an acute, in a folder"), ("hangul", "\u1112\u1161\u11ab.md", "jamo"),
                             ("angstrom", "\u212b.md", "the Angstrom sign"), ("ohm", "\u2126.md", "the Ohm sign"), ("compatibility_ideograph", "\uf900.md", "U+F900"),
                             ("mark_order", "q\u0307\u0323.md", "two marks in the wrong order"), ("excluded", "\u0958.md", "U+0958, which NFC takes apart"),
                             ("greek_tonos", "\u1f71.md", "U+1F71, which is U+03AC in NFC")):
        below("nfd_" + name, rest, "not in NFC: " + what)
    below("segment_256", "a" * 253 + ".md", "a segment of 256 bytes")
    below("segment_256_folder", "a" * 256 + "/b.md", "a folder of 256 bytes")
    below("segment_257_umlauts", "ü" * 127 + ".md", "a segment of 257 bytes, 130 characters")
    bad("1025", of_length(1025), "1025 bytes")
    bad("1025_umlauts", of_length(1025, "ü", 100), "1025 bytes, fewer characters")
    bad("10000", of_length(10000), "10000 bytes")
    for name, rest in (("none", "a"), ("txt", "a.txt"), ("upper_case", "a.MD"), ("mixed_case", "a.Md"), ("longer", "a.mdx"), ("after_it", "a.md.exe"),
                       ("without_dot", "amd"), ("folder_has_it", "a.md/b"), ("full_width", "a.ｍd")):
        below("extension_" + name, rest, "does not end in an allowed extension")


def add_valid(cases):
    def below(name, rest, what):
        cases.set("path_" + name, "OK", {"vault_path": VAULT_ROOT + "/" + rest}, "vault_path: " + what)

    for name, rest, what in (
            ("short", "a.md", "the shortest name"), ("deep", "a/b/c/d/e/f/g/h/i/j.md", "ten folders"), ("umlauts", "Ärger/Öl/Größe.md", "umlauts"),
            ("dashes", "Plan – Entwurf — alt.md", "dashes"), ("typographic_quotes", "„Zitat“ und ‚Wort‘ ’s.md", "typographic quotes"), ("ellipsis", "Und dann….md", "an ellipsis"),
            ("ellipsis_folder", "…/a.md", "an ellipsis as a folder"), ("dollar", "Kosten $ 100.md", "a dollar sign"), ("half", "½ Liter.md", "U+00BD: its NFKC holds U+2044, which is no slash"),
            ("emoji", "Feier 🎉.md", "a plain emoji"), ("emoji_variation", "Herz ❤\ufe0f.md", "an emoji with a variation selector, category Mn"),
            ("cjk", "日記/二〇二六.md", "ideographs"), ("hangul", "한국어.md", "composed Hangul"), ("arabic", "ملاحظة.md", "right to left letters"), ("cyrillic", "Заметка.md", "Cyrillic"),
            ("marks_in_order", "q\u0323\u0307.md", "two marks in canonical order"), ("ligature", "ﬁn.md", "a ligature: only its NFKC is ASCII"),
            ("full_width_letters", "ＡＢＣ.md", "full-width letters"), ("percent", "100 %.md", "a percent sign at the end of a word"), ("percent_one_digit", "50%2.md", "a percent sign before one hex digit"),
            ("percent_no_digits", "a%zz%g0%0g.md", "percent signs before what is no hex digit"), ("percent_full_width_digits", "a%２ｆ.md", "a percent sign before full-width digits"),
            ("dots_inside", "a..b.c.md", "dots within a name"), ("blank_inside", "a  b .md", "blanks within a name"), ("hyphen_last", "a-/b-.md", "a hyphen at the end"),
            ("brackets", "a (b) [c] {d}.md", "brackets"), ("signs", "a!#&'+,;=@^_~b.md", "other ASCII signs"), ("extension_twice", "a.md.md", "the extension twice"),
            ("extension_folder", "a.md/b.md", "a folder with the extension"), ("roman_numeral", "Ⅷ.md", "a letter number"), ("currency", "€ £ ¥.md", "currency signs"),
            ("math", "a ≤ b ± c.md", "mathematical signs"), ("root_again", "app/vault/a.md", "the root's name once more")):
        below(name, rest, what)
    below("segment_255", "a" * 252 + ".md", "a segment of 255 bytes")
    below("segment_255_folder", "a" * 255 + "/b.md", "a folder of 255 bytes")
    below("segment_255_umlauts", "ü" * 126 + ".md", "a segment of 255 bytes, 129 characters")
    cases.set("path_1024", "OK", {"vault_path": of_length(1024)}, "vault_path: 1024 bytes")
    cases.set("path_1024_umlauts", "OK", {"vault_path": of_length(1024, "ü", 100)}, "vault_path: 1024 bytes, fewer characters")
