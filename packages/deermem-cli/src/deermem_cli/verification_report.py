"""What a verification found: checks done, checks left out and why, discrepancies."""

from __future__ import annotations

from typing import Any

from attrs import define, field, frozen

#: What no check of files can show, said with every pass (design: what it promises).
CANNOT_CERTIFY = (
    "that the provider the run names really gave these answers",
    "that the files were not replaced together with their manifest",
)


@frozen
class Check:
    """One thing that was checked; `skipped` says why it was not."""

    name: str
    detail: str
    skipped: bool = False


@frozen
class Discrepancy:
    """One thing that does not hold: which file, which row of it, which key, and what is wrong."""

    file: str
    row: str | None
    key: str | None
    message: str

    def __str__(self) -> str:
        place = [self.file, f"row {self.row}" if self.row else None, self.key]
        return ": ".join([*(part for part in place if part), self.message])


@frozen
class Verification:
    """The outcome.

    Attributes:
        certifies: what a pass shows; empty where something does not hold.
        cannot_certify: what it cannot show.
        unchecked_files: names of files in the folder that no check looked at.
    """

    checks: tuple[Check, ...]
    discrepancies: tuple[Discrepancy, ...]
    certifies: tuple[str, ...]
    unchecked_files: tuple[str, ...]
    cannot_certify: tuple[str, ...] = CANNOT_CERTIFY

    @property
    def passed(self) -> bool:
        """Whether everything that was checked holds."""
        return not self.discrepancies


@define
class Findings:
    """Checks and discrepancies as they are made."""

    checks: list[Check] = field(factory=list)
    discrepancies: list[Discrepancy] = field(factory=list)

    def did(self, name: str, detail: str) -> None:
        """Note a check that was done, whatever it found."""
        self.checks.append(Check(name, detail))

    def skipped(self, name: str, reason: str) -> None:
        """Note a check that could not be done."""
        self.checks.append(Check(name, reason, skipped=True))

    def wrong(
        self, file: str, message: str, *, row: str | None = None, key: str | None = None
    ) -> None:
        """Note something that does not hold."""
        self.discrepancies.append(Discrepancy(file, row, key, message))

    def expect(
        self, file: str, key: str, expected: Any, found: Any, row: str | None = None
    ) -> bool:
        """Note it where `found` is not `expected` in value and type; return whether it is."""
        holds = type(found) is type(expected) and found == expected
        if not holds:
            message = f"expected {shown(expected)}, found {shown(found)}"
            self.wrong(file, message, row=row, key=key)
        return holds

    def keyed(self, file: str, error: ValueError, row: str | None = None) -> None:
        """Note an error whose message begins with a key."""
        key, separator, message = str(error).partition(": ")
        if separator:
            self.wrong(file, message, row=row, key=key)
        else:
            self.wrong(file, key, row=row)


def shown(value: object) -> str:
    """A value for a message: short, on one line, ASCII."""
    text = ascii(value)
    return text if len(text) <= 80 else f"{text[:77]}..."
