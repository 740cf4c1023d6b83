"""What answers a task, and what an answer is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from attrs import field, frozen

if TYPE_CHECKING:
    from .task import Task


@frozen
class Answer:
    """What a provider gave for one task.

    Attributes:
        prediction: the answer's text; encodable as UTF-8.
        attempts: the calls made for it, 1 or more.
        response_model: the model that answered, as the provider names it; `None` if unnamed.
        finish_reason: why the answer ended (`stop`, `length`, ...); `None` if unsaid.
        usage: name of a count -> count, 0 or more; a nested one is named `outer.inner`.
    """

    prediction: str
    attempts: int = 1
    response_model: str | None = None
    finish_reason: str | None = None
    usage: dict[str, int] = field(factory=dict)


class Provider(Protocol):
    """Answers tasks; used by several threads at once."""

    @property
    def name(self) -> str:
        """`openai-compatible`, `lexical-reader-v1` or `replay`."""

    def identity(self) -> dict[str, Any]:
        """Return what binds a run to this provider, as JSON; see `provider_identity`."""

    def answer(self, task: Task) -> Answer:
        """Answer one task; blocks.

        Raises:
            CallFailed: this task has no answer.
            RunStopped: no task would get one; the run must stop.
        """

    def close(self) -> None:
        """Let go of connections; no call may follow."""


def provider_identity(
    name: str,
    *,
    endpoint: str | None = None,
    endpoint_sha256: str | None = None,
    replay_sha256: str | None = None,
) -> dict[str, Any]:
    """Return a provider's part of `qa_run.json`; every provider has the same four keys.

    Args:
        name: the provider's name.
        endpoint: the URL called, without user info and with the values of its query hidden.
        endpoint_sha256: SHA-256 of the whole URL but its user info.
        replay_sha256: SHA-256 of the file replayed.
    """
    return {
        "endpoint": endpoint,
        "endpoint_sha256": endpoint_sha256,
        "name": name,
        "replay_sha256": replay_sha256,
    }
