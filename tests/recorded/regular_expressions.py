"""RE2's syntax in `tf.strings.regex_*`, encodings without a byte order, and joins of empty inputs."""

_PATTERNS = [
    (r"\p{L}+", "héllo wörld 12"), (r"\p{Lu}", "aBÉ"), (r"\P{L}", "a1b"), (r"\pL", "a1"), (r"\PL", "a1"),
    (r"[\p{L}\d]+", "é1 -"), (r"[^\p{Lu}]", "aBc"), (r"\p{Greek}", "aβ"), (r"\p{^Greek}", "aβ"), (r"\pN+", "12x"),
    (r"\p{Foo}", "a"), (r"\p{Lo}|\p{Han}+", "漢字a"), (r"[\p{Greek}\P{L}]", "aβ1"),
    (r"\p{Any}", "a"), (r"\p{Zs}", "a b"),
    (r"\pZ", "a b"), (r"\p{Nd}", "٣3a"), (r"\p{Sc}", "$€a"), (r"\p{Cyrillic}+", "привет hi"), (r"\p{Latin}", "aé漢"),
    (r"(?i)ABC", "xabcx"), (r"(?i)É", "xéx"), (r"a(?i)b(?-i)c", "aBc ABc"), (r"(?i:a)b", "Ab AB"), (r"(?i)[^a]", "bAa"),
    (r"[[:alpha:]]+", "ab1"), (r"[[:^alpha:]]", "ab1"), (r"[[:foo:]]", "a"), (r"[^[:^digit:]]", "a1"),
    (r"\Qa.b\E", "a.b axb"), (r"\Qa.b", "a.b axb"), (r"(?P<n>a)(b)?", "ab a"), (r"(?U)a+", "aaa"), (r"(?U)a+?", "aaa"),
    (r"\z", "ab"), (r"\Ab", "b"), (r"x*", "abc"), (r"(?s).", "\n"), (r".", "a\n"), (r"\x{e9}", "é"), (r"\x41", "A"),
    (r"\101", "A"), (r"\d", "٣3"), (r"\w", "é_a"), (r"\W", "é_a"), (r"\s", "\u00a0 \v"), (r"[\S]", "a \v"),
    (r"\b", "é a"),
    (r"a{2,3}?", "aaaa"), (r"a{2,1}", "aa"), (r"a{1001}", "aa"), (r"a{,2}", "a{,2}"), (r"(a)(?:b)", "ab"),
    (r"(?=a)", "a"),
    (r"a(?!b)", "ab"), (r"(?<=a)b", "ab"), (r"\1", "a"), (r"(a)\1", "aa"), (r"a++", "aa"), (r"[", "a"), (r"(", "a"),
    (r")", "a"), (r"*", "a"), (r"a**", "aa"), (r"a|*", "aa"), (r"\y", "a"), ("a\\", "a"), (r"[b-a]", "a"),
    (r"[a-\d]", "a"),
    (r"[]a]", "]a"), (r"[^]a]", "]ab"), (r"[a-]", "a-b"), (r"[\]\-x]", "]-x"), (r"a|b*", "xab"), (r"^", "a\nb"),
    (r"(?m)^", "a\nb"), (r"$", "a\n"), (r"(?m)$", "a\nb"), (r"", ""), (r"", "ab"), (r"\.\*\_", ".*_"),
    (r"~&&[&&|~]", "~&&|"),
]  # fmt: skip
_ENCODED = [
    rb"\x00A\x00B", rb"A\x00B\x00", rb"\xff\xfeA\x00", rb"\xfe\xff\x00A", rb"\x00\x00\x00A", rb"A\x00\x00\x00",
    rb"\x00\xff", rb"\xff", rb"abc", rb"\xd8\x00\x00A", rb"\x00\x11\x00\x00", rb"",
    rb"\xff\xfe\x00\x00A\x00\x00\x00", rb"\x00\x00\xfe\xff\x00\x00\x00A",
]  # fmt: skip

CASES = [
    *[(f"replace {p!r} in {s!r}", rf"tf.strings.regex_replace({s!r}, {p!r}, '<\\0>')") for p, s in _PATTERNS],
    *[(f"match {p!r} to {s!r}", f"tf.strings.regex_full_match({s!r}, {p!r})") for p, s in _PATTERNS],
    ("groups of classes", r"tf.strings.regex_replace('ab ab', r'(\p{L})(b)', r'\2\1', replace_global=False)"),
    ("no such group", r"tf.strings.regex_replace('ab', '(a)', r'\3')"),
    ("an escaped backslash", r"tf.strings.regex_replace('ab', '(a)', r'\\x')"),
    ("a backslash at the end", r"tf.strings.regex_replace('ab', '(a)', 'x\\')"),
    ("a backslash at the end, once", r"tf.strings.regex_replace('ab', '(a)', 'x\\', replace_global=False)"),
    ("no UTF-8", r"tf.strings.regex_replace(b'\xff\xfea', '.', 'b')"),
    ("no UTF-8, another class", r"tf.strings.regex_replace(b'\xff\xfea', r'[^b]|\D', 'b')"),
    *[
        (f"{encoding} {text.decode()} {errors}",
         f"tf.strings.unicode_transcode(b'{text.decode()}', '{encoding}', 'UTF-8', errors='{errors}')")
        for encoding in ("UTF-16", "UTF-32", "UTF-8") for text in _ENCODED for errors in ("replace", "ignore", "strict")
    ],
    *[
        (f"control characters, {errors}",
         r"tf.strings.unicode_transcode(b'a\x00b\x1fc\x7fd\xc2\x80e\n', 'UTF-8', 'UTF-8', "
         f"replace_control_characters=True, errors='{errors}')")
        for errors in ("replace", "ignore")
    ],
    ("decode without a byte order", r"tf.strings.unicode_decode(b'\x00A\x00', 'UTF-16')"),
    ("join nothing", "tf.strings.join([])"),
    ("join nothing with a separator", "tf.strings.join([], separator='-')"),
    ("join one", "tf.strings.join(['a'])"),
    ("join an empty tensor", "tf.strings.join([tf.zeros([0], tf.string), 'x'], '-')"),
    *[
        (f"reduce_join {shape} along {axis}, {keepdims}",
         f"tf.strings.reduce_join(tf.zeros({shape}, tf.string), axis={axis}, separator='-', keepdims={keepdims})")
        for shape in ([0], [0, 3], [3, 0], [2, 0, 3], []) for axis in (None, 0, -1, [], [0, 1])
        for keepdims in (False, True)
    ],
]  # fmt: skip
