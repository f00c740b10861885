"""What every section of the settings is: frozen, strict about names, documented in place."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    # pydantic could read the docstrings at every start; `listing` does so when it is asked. What
    # checks a section by itself is made when one is: most processes check the whole tree alone.
    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
