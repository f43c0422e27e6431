"""The base of every group of settings."""

from pydantic import BaseModel, ConfigDict


class SettingsSection(BaseModel):
    """A group of settings; frozen, and closed to names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
