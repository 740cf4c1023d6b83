"""Matplotlib's SVG made fit to stand in a page: no style of its own, no id that is another's.

A page's policy against foreign code forbids `style` attributes, and a page in dark mode wants other
colours; so colours become classes, which the page's own style sheet gives meaning to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from html import escape
from xml.etree.ElementTree import Element

_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_REFERENCE = re.compile(r"url\(#([^)]+)\)")
_HREF = "{http://www.w3.org/1999/xlink}href"

# Properties that a class or the page decides, or that say what is the default.
_DROPPED = {
    "font",
    "font-family",
    "font-style",
    "font-variant",
    "font-stretch",
    "stroke-miterlimit",
}
_CONTENT = {"path", "use", "text", "g", "defs", "clipPath", "rect"}


def inline_svg(
    root: Element, roles: Mapping[str, str], *, id_prefix: str, title: str, description: str
) -> str:
    """Return an SVG element as text for a page.

    Args:
        root: the drawing as matplotlib wrote it, parsed.
        roles: `#rrggbb` -> name; a fill or stroke of that colour becomes the class `f-NAME` or
            `k-NAME`.
        id_prefix: what every id within begins with.
        title: its name for those who cannot see it.
        description: what it shows.
    """
    writer = _Writer(roles, id_prefix, set(_referenced(root)))
    _, _, width, height = root.attrib["viewBox"].split()
    labels = f"{id_prefix}-title {id_prefix}-desc"
    return "".join(
        (
            (
                f'<svg viewBox="0 0 {_short(width)} {_short(height)}" role="img" '
                f'aria-labelledby="{escape(labels)}">'
                f'<title id="{escape(id_prefix)}-title">{escape(title)}</title>'
                f'<desc id="{escape(id_prefix)}-desc">{escape(description)}</desc>'
            ),
            *(writer.text(child) for child in root),
            "</svg>",
        )
    )


class _Writer:
    def __init__(self, roles: Mapping[str, str], id_prefix: str, referenced: set[str]) -> None:
        self._roles = roles
        self._id_prefix = id_prefix
        self._referenced = referenced

    def text(self, element: Element) -> str:
        tag = _local(element.tag)
        if tag not in _CONTENT:
            return ""
        content = escape(element.text.strip()) if tag == "text" and element.text else ""
        content += "".join(map(self.text, element))
        attributes = "".join(
            f' {name}="{escape(value)}"' for name, value in sorted(self._attributes(element))
        )
        if tag == "g" and not attributes:
            return content
        if not content and tag in {"g", "defs", "text"}:
            return ""
        return f"<{tag}{attributes}>{content}</{tag}>" if content else f"<{tag}{attributes}/>"

    def _attributes(self, element: Element) -> Iterator[tuple[str, str]]:
        classes = []
        for name, value in _declared(element):
            if name in _DROPPED:
                continue
            if name in {"fill", "stroke"} and value in self._roles:
                classes.append(f"{name[0] if name == 'fill' else 'k'}-{self._roles[value]}")
            elif name == "id":
                if value in self._referenced:
                    yield name, f"{self._id_prefix}-{value}"
            elif name == _HREF:
                yield "href", f"#{self._id_prefix}-{value.removeprefix('#')}"
            elif not value.startswith("rotate(-0 "):
                yield name, self._tidy(value)
        if classes:
            yield "class", " ".join(classes)

    def _tidy(self, value: str) -> str:
        own = _REFERENCE.sub(rf"url(#{self._id_prefix}-\1)", value)
        return " ".join(_LONG_NUMBER.sub(lambda match: _short(match[0]), own).split())


def _declared(element: Element) -> Iterator[tuple[str, str]]:
    """Yield attributes, with what a `style` declares as attributes of its own."""
    for name, value in element.attrib.items():
        if name != "style":
            yield name, value
            continue
        for declaration in value.split(";"):
            key, _, stated = declaration.partition(":")
            if key.strip() == "font":
                yield from _font(stated.strip())
            elif key.strip():
                yield key.strip(), stated.strip()


def _font(shorthand: str) -> Iterator[tuple[str, str]]:
    """Yield size and weight of a `font` shorthand; the family is the page's."""
    size = re.search(r"([\d.]+)px", shorthand)
    if size:
        yield "font-size", size[1]
    weight = re.search(r"\b(bold|[1-9]00)\b", shorthand[: size.start()] if size else "")
    if weight and weight[1] != "400":
        yield "font-weight", weight[1]


def _referenced(root: Element) -> Iterator[str]:
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == _HREF:
                yield value.removeprefix("#")
            yield from _REFERENCE.findall(value)


def _local(tag: object) -> str:
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def _short(number: str) -> str:
    text = f"{float(number):.2f}".rstrip("0").rstrip(".")
    return "0" if text in {"-0", ""} else text
