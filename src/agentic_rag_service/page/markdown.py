"""Notes and cards as safe HTML: Markdown with wikilinks and the cited passage marked; no scripts, no external
content."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

import nh3
from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

from agentic_rag.domain.json_values import Json
from agentic_rag.notes.units import STATES

Resolve = Callable[[str], str | None]
"""From a note's name in a wikilink to its address; None for an unknown note."""
MAX_DRAWN = 100_000
"""Maximum code points of a rendered note; the worst case, brackets only, takes a second."""
_START, _END = "\ue000", "\ue001"
"""Marks around the passage during rendering; private-use characters, which notes do not contain."""
_WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]+))?\]\]")
_MARKUP = re.compile(
    r"(?:[ \t]|>|#{1,6}[ \t]|[-*+][ \t](?:\[.\][ \t])?|\d{1,9}[.)][ \t]|\||\[![\w-]+\][+-]?)*"
)
"""Markup at the start of a line, which Markdown would not recognise after a mark."""
_PROPERTIES = re.compile(r"\A---[ \t]*\r?\n.*?\n---[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_CALLOUT = re.compile(r"<p>\[!([\w-]+)\][+-]?[ \t]*([^\n<]*)")
"""The start of an Obsidian callout, inside its quotation."""
_TASK = re.compile(r"<li>((?:\n<p>)?)\[(.)\][ \t]+")
_FIELD = re.compile(r"\[([^\W\d_][\w -]*)::[ \t]*+([^\[\]\n]*)\]")
_HIGHLIGHT = re.compile(r"==(?=[^\s=])([^=\n]*[^\s=])==")
_FOOTNOTE = re.compile(r"\[\^([^\[\]\s^]+)\]:?")
_TAG = re.compile(r"(<[^>]*>)")
_TAGS = {
    *"p br hr h1 h2 h3 h4 h5 h6 ul ol li blockquote pre code em strong s span sup a table thead tbody tr th td mark".split()
}
_ATTRIBUTES = {
    "a": {"href", "title", "class"},
    "code": {"class"},
    "span": {"class"},
    "li": {"class"},
    "ol": {"start"},
    "th": set(),
    "td": set(),
}
_SCHEMES = {"http", "https", "mailto", "obsidian"}


def _wikilink(state: StateInline, silent: bool) -> bool:
    found = _WIKILINK.match(state.src, state.pos)
    if found is None:
        return False
    if not silent:
        resolve: Resolve = state.env.get("resolve", lambda name: None)
        name = found[1].strip()
        address = resolve(re.split(r"[#^]", name)[0].strip())
        if address is not None:
            token = state.push("link_open", "a", 1)
            token.attrs = {"href": address, "class": "note-link"}
        state.push("text", "", 0).content = (found[2] or name.replace("#", " › ")).strip()
        if address is not None:
            state.push("link_close", "a", -1)
    state.pos = found.end()
    return True


def _span(pattern: re.Pattern[str], tag: str, name: str = "") -> Callable[[StateInline, bool], bool]:
    """A rule that draws what the pattern finds as an element: its last group, after the one before it in bold."""

    def rule(state: StateInline, silent: bool) -> bool:
        found = pattern.match(state.src, state.pos)
        if found is None:
            return False
        if not silent:
            *keys, text = found.groups()
            state.push("span_open", tag, 1).attrs = {"class": name} if name else {}
            for key in keys:
                state.push("strong_open", "strong", 1)
                state.push("text", "", 0).content = key.strip()
                state.push("strong_close", "strong", -1)
                state.push("text", "", 0).content = " "
            state.push("text", "", 0).content = text
            state.push("span_close", tag, -1)
        state.pos = found.end()
        return True

    return rule


def _renderer() -> MarkdownIt:
    # Obsidian breaks a line where the note does.
    renderer = MarkdownIt("commonmark", {"html": False, "breaks": True}).enable(["table", "strikethrough"])
    renderer.disable("image")  # an image would be loaded from any address in a note
    renderer.inline.ruler.before("link", "wikilink", _wikilink)
    renderer.inline.ruler.before("link", "field", _span(_FIELD, "span", "field"))
    renderer.inline.ruler.before("link", "footnote", _span(_FOOTNOTE, "sup"))
    renderer.inline.ruler.before("link", "highlight", _span(_HIGHLIGHT, "span", "highlight"))
    renderer.render("a")  # compiles the rules before threads share them
    return renderer


_MARKDOWN = _renderer()


def render_markdown(text: str, resolve: Resolve | None = None) -> str:
    """Markdown as HTML without scripts, external content and styles."""
    env: Json = {} if resolve is None else {"resolve": resolve}
    html = nh3.clean(
        _TASK.sub(_task, _CALLOUT.sub(_callout, _MARKDOWN.render(text, env))),
        tags=_TAGS,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer",
    )
    # A wide table scrolls by itself: else the whole page would, on a phone.
    return html.replace("<table>", '<div class="scroll" tabindex="0"><table>').replace(
        "</table>", "</table></div>"
    )


def _callout(match: re.Match[str]) -> str:
    """The callout's title in bold; its kind if it has no title."""
    title = match[2] if match[2].strip() else match[1].replace("-", " ").capitalize()
    return f"<p><strong>{title}</strong>"


def _task(match: re.Match[str]) -> str:
    """A list item with the sign of its task's state."""
    sign = STATES.get(match[2])
    return match[0] if sign is None else f'<li class="task">{match[1]}{sign} '


def excerpt(text: str, start: int | None) -> tuple[int, str]:
    """Start and text of the rendered part of a note: the whole note, or a part around its passage.

    Args:
        text: the note's Markdown.
        start: code point of the passage; None: no passage.
    """
    if start is None or len(text) <= MAX_DRAWN:
        return 0, text[:MAX_DRAWN]
    first = max(0, min(start, len(text)) - MAX_DRAWN // 2)
    if first:  # start at the beginning of a line
        first = max(first, text.find("\n", first, start) + 1)
    return first, text[first : first + MAX_DRAWN]


def note_html(text: str, start: int | None, end: int | None, resolve: Resolve | None = None) -> str:
    """A note with its passage marked.

    Args:
        text: the note's Markdown.
        start, end: code points of the passage, half-open; None: no passage.
        resolve: addresses of other notes.
    """
    text = text.replace(_START, "").replace(_END, "")
    properties = _PROPERTIES.match(text)
    body = properties.end() if properties else 0
    if start is None or end is None or not 0 <= start < end <= len(text):
        return _properties(text[:body]) + render_markdown(text[body:], resolve)
    if start < body:  # the passage lies in the properties
        return f'<pre class="properties">{_marked_plain(text[:body], start, end)}</pre>' + render_markdown(
            text[body:], resolve
        )
    html = render_markdown(text[body:start] + _with_marks(text[start:end]) + text[end:], resolve)
    marked = _with_mark_elements(html)
    if marked is None:  # Markdown dropped a mark: show the source text
        return f'<pre class="source">{_marked_plain(text, start, end)}</pre>'
    return _properties(text[:body]) + marked


def _properties(text: str) -> str:
    return f'<pre class="properties">{escape(text.strip())}</pre>' if text.strip() else ""


def _with_marks(passage: str) -> str:
    """Put marks around the words of each line, after its Markdown markup: markup after a mark would not be parsed."""
    lines = []
    for line in passage.split("\n"):
        lead = _MARKUP.match(line)
        at = lead.end() if lead else 0
        words = line[at:].rstrip(" |\r")
        # A row of dashes separates a table's head from its body.
        is_rule = not words.strip("-: |=")
        lines.append(line if is_rule else f"{line[:at]}{_START}{words}{_END}{line[at + len(words) :]}")
    return "\n".join(lines)


def _with_mark_elements(html: str) -> str | None:
    """HTML with the marks as elements, around text only; None if a mark was lost."""
    if _START not in html or html.count(_START) != html.count(_END):
        return None
    parts: list[str] = []
    inside = False
    for part in _TAG.split(html):
        if part.startswith("<"):
            if _START in part or _END in part:
                return None
            parts.append(part)
            continue
        for piece in re.split(f"([{_START}{_END}])", part):
            if piece == _START:
                inside = True
            elif piece == _END:
                inside = False
            elif piece:
                parts.append(f"<mark>{piece}</mark>" if inside and piece.strip() else piece)
    first = "".join(parts)
    return first.replace("<mark>", '<mark id="passage" tabindex="-1">', 1)


def _marked_plain(text: str, start: int, end: int) -> str:
    before, passage, after = text[:start], text[start:end], text[end:]
    return f'{escape(before)}<mark id="passage" tabindex="-1">{escape(passage)}</mark>{escape(after)}'
