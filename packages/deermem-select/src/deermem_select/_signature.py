"""Whether a function can be called as a selector is."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from ._errors import SelectorError
from .reference import select_facts_for_capacity

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_FACTS = "facts"
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_KEYWORD = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def check_signature(function: Callable[..., Any], where: str, *, exact: bool) -> None:
    """Check that `function` has the selector's signature.

    Args:
        where: what to call the function in the error.
        exact: as production has it: the same names and defaults and no others. Otherwise it is
            enough that the call works: the first parameter may have any name, `**kwargs` takes what
            is not named, further parameters need a default.

    Raises:
        SelectorError: every parameter that differs is named.
    """
    try:
        found = inspect.signature(function).parameters
    except (TypeError, ValueError) as error:
        raise SelectorError(f"{where}: its signature cannot be read ({error})") from error
    expected = inspect.signature(select_facts_for_capacity).parameters
    faults = list(_exact_faults(found, expected) if exact else _call_faults(found, expected))
    if faults:
        raise SelectorError(
            f"{where}: the signature differs: {'; '.join(faults)}; "
            f"expected the parameters {', '.join(expected)}"
        )


def _exact_faults(
    found: Mapping[str, inspect.Parameter], expected: Mapping[str, inspect.Parameter]
) -> Iterator[str]:
    for name, wanted in expected.items():
        parameter = found.get(name)
        if parameter is None:
            yield f"parameter {name} is missing"
        elif name == _FACTS and next(iter(found)) != _FACTS:
            yield f"parameter {name} is not the first"
        elif parameter.kind not in (_POSITIONAL if name == _FACTS else _KEYWORD):
            yield f"parameter {name} is {parameter.kind.description}"
        elif parameter.default != wanted.default:
            yield (
                f"parameter {name} has {_default(parameter)}, where {_default(wanted)} is expected"
            )
    yield from (f"parameter {name} is not known" for name in found if name not in expected)


def _call_faults(
    found: Mapping[str, inspect.Parameter], expected: Mapping[str, inspect.Parameter]
) -> Iterator[str]:
    parameters = list(found.values())
    kinds = {parameter.kind for parameter in parameters}
    if parameters and parameters[0].kind in _POSITIONAL:
        del parameters[0]
    elif inspect.Parameter.VAR_POSITIONAL not in kinds:
        yield f"parameter {_FACTS} is missing or not positional"
    by_keyword = {item.name: item for item in parameters if item.kind in _KEYWORD}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        for name in expected:
            if name != _FACTS and name not in by_keyword:
                yield f"parameter {name} is missing"
    for item in parameters:
        takes_any = item.kind in (item.VAR_POSITIONAL, item.VAR_KEYWORD)
        given = item.name in expected and item.kind is not item.POSITIONAL_ONLY
        if not takes_any and not given and item.default is item.empty:
            yield f"parameter {item.name} is not known and has no default"


def _default(parameter: inspect.Parameter) -> str:
    if parameter.default is parameter.empty:
        return "no default"
    return f"the default {parameter.default!r}"
