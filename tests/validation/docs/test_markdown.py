"""HTML of docs pages becomes Markdown with the same content."""

import pytest

from validation.docs.markdown import html_to_markdown

PAGE = "https://validation.example/docs/errors/"


def convert(html: str) -> str:
    return html_to_markdown(html, PAGE).removesuffix("\n")


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>One\n  line.</p>", "One line."),
        ("<p>A</p><p>B</p>", "A\n\nB"),
        ("loose <b>text</b> <p>A</p> tail", "loose **text**\n\nA\n\ntail"),
        ("<h2>Title</h2>", "## Title"),
        ('<h2><a href="#x"><code>x</code></a></h2>', "## `x`"),
        ('<h2><span class="badge">GET</span> <code>/v1</code></h2>', "## GET `/v1`"),
        ("<p><strong>Cause.</strong> Why, <em>really</em>.</p>", "**Cause.** Why, *really*."),
        ("<p>A<br>B</p>", "A B"),
        ("<section><div><p>Deep</p></div></section>", "Deep"),
        ("<details><summary>More</summary><p>A</p></details>", "More\n\nA"),
        ("<p>A<script>b()</script><button>Copy</button><svg><use></use></svg></p>", "A"),
        ("<p><span>5 &lt; 6 &amp; more</span></p>", r"5 \< 6 & more"),
        ("<p>a_b _c_ *d* [e] `f`</p>", r"a_b \_c\_ \*d\* \[e\] \`f\`"),
        ("<p>1. No list</p><p>- None</p><p># None</p>", "1\\. No list\n\n\\- None\n\n\\# None"),
        ("<p>2026-11-20 and 3.5 stay</p>", "2026-11-20 and 3.5 stay"),
        ("<p><code>a_b &lt;c&gt;</code></p>", "`a_b <c>`"),
        ("<p><code>a`b</code></p>", "`` a`b ``"),
        ("<p>An unclosed <b>tag</p><p>B</p>", "An unclosed **tag**\n\nB"),
        ("", ""),
    ],
)
def test_element_becomes_markdown(html: str, markdown: str) -> None:
    assert convert(html) == markdown


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("/docs/api/#me", "https://validation.example/docs/api/#me"),
        ("#x", "https://validation.example/docs/errors/#x"),
        ("mailto:help@shop.example", "mailto:help@shop.example"),
        ("https://shop.example/", "https://shop.example/"),
    ],
)
def test_links_are_absolute(href: str, url: str) -> None:
    assert convert(f'<p>See <a href="{href}">this\npage</a>.</p>') == f"See [this page]({url})."


def test_lists_are_nested_and_numbered() -> None:
    html = "<ol><li>A<ul><li>B</li><li>C</li></ul></li><li><p>D</p><p>E</p></li></ol>"
    assert convert(html) == "1. A\n\n   - B\n   - C\n2. D\n\n   E"


def test_definitions_become_a_list() -> None:
    html = (
        "<dl><dt><code>a</code></dt><dd>One.</dd><dt>b</dt><dd><p>Two.</p><p>Three.</p></dd></dl>"
    )
    assert convert(html) == "- `a`: One.\n- b: Two.\n\n  Three."


def test_table_keeps_its_columns() -> None:
    html = """
    <table><thead><tr><th>Code</th><th>Meaning</th></tr></thead>
    <tbody><tr><td><code>a|b</code></td><td>One <p>two</p></td></tr><tr><td></td><td>x</td></tr>
    </tbody></table>
    """
    assert convert(html) == ("| Code | Meaning |\n|---|---|\n| `a\\|b` | One two |\n|  | x |")


def test_code_block_keeps_lines_and_language() -> None:
    html = '<pre><code data-runs="python"><span>if</span> a:\n    b &gt; 1\n\n</code></pre>'
    assert convert(html) == "```python\nif a:\n    b > 1\n```"


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ('<pre><code data-runs="curl">curl</code></pre>', "```sh\ncurl\n```"),
        ('<pre><code>{"a": 1}</code></pre>', '```json\n{"a": 1}\n```'),
        ("<pre><code>plain</code></pre>", "```\nplain\n```"),
        ("<pre><code>```\na\n```</code></pre>", "````\n```\na\n```\n````"),
    ],
)
def test_code_block_names_its_language(html: str, markdown: str) -> None:
    assert convert(html) == markdown


def test_captions_of_a_figure_are_separated() -> None:
    html = "<figure><figcaption><span>Title</span><span>200</span><button>Copy</button>"
    html += "</figcaption><pre><code>x</code></pre></figure>"
    assert convert(html) == "Title · 200\n\n```\nx\n```"
