"""What every group of settings is."""

from pydantic import BaseModel, ConfigDict


class SettingsSection(BaseModel):
    """A group of settings; frozen, and closed to names it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
