"""The errors a user can cause.

Every message names the file, the key or row, what was found, what was expected and the remedy.

- `DeermemError`
    - `ProtocolError`: a protocol's files
    - `DatasetError`: a data set's file, or its fit to the protocol
    - `ArtifactError`: an output folder or a file written there
"""

from __future__ import annotations


class DeermemError(ValueError):
    """A wrong input, named. The command prints it without a traceback and exits with 2."""


class ProtocolError(DeermemError):
    """A protocol's files cannot be read, do not fit each other, or state something impossible."""


class DatasetError(DeermemError):
    """A data set's file is not the pinned one, is malformed, or does not fit the protocol."""


class ArtifactError(DeermemError):
    """An output folder cannot take a run, or an artifact cannot be read or written."""
