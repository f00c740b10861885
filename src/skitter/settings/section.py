"""What every section of the settings is: frozen, strict about names, documented in place."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    # pydantic could read the docstrings at every start; `listing` does so when it is asked.
    model_config = ConfigDict(frozen=True, extra="forbid")
