"""A document as one HTML file that needs nothing else and reaches for nothing else."""

from __future__ import annotations

import base64
import hashlib
import itertools
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from .. import __version__
from . import document as parts
from .plots import draw
from .visible import visible


def render_html(document: parts.Document) -> str:
    """Return the page; the same document gives the same text."""
    environment = Environment(
        loader=PackageLoader("deermem_cli.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.tests["instance_of"] = _is_part
    environment.filters["attribute"] = _attribute
    environment.filters["visible"] = visible
    environment.globals["plot"] = _plot
    # Ids of tables, each its own within the page.
    environment.globals["next_id"] = itertools.count(1).__next__
    style, script = (_asset(environment, name) for name in ("page.css", "page.js"))
    return environment.get_template("document.html").render(
        document=document,
        # Files of this package, not input.
        style=Markup(style),  # noqa: S704
        script=Markup(script),  # noqa: S704
        policy=_content_policy(style, script),
        version=__version__,
    )


def _asset(environment: Environment, name: str) -> str:
    assert environment.loader is not None
    return environment.loader.get_source(environment, name)[0].strip()


def _content_policy(style: str, script: str) -> str:
    """Forbid everything but this style sheet, this script and an icon that is empty."""
    return (
        f"default-src 'none'; style-src '{_source_hash(style)}'; "
        f"script-src '{_source_hash(script)}'; img-src data:; base-uri 'none'; form-action 'none'"
    )


def _source_hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def _plot(figure: parts.Figure) -> Markup:
    # Every text in it is escaped where it is written.
    return Markup(draw(figure))  # noqa: S704


def _is_part(value: object, name: str) -> bool:
    return type(value).__name__ == name


def _attribute(value: Any) -> str:
    """A number's whole value, or a text, for an attribute."""
    return repr(value) if isinstance(value, int | float) else str(value)
