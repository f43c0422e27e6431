"""Settings as TOML text, the form a pipeline file has."""

import tomli_w

from ccrag.config import PipelineSettings, Settings


def pipeline_toml(settings: Settings) -> str:
    """
    Return every stage setting of a pipeline; those that are None are left out: TOML has no null.
    """
    values = settings.model_dump(
        mode="json", include=set(PipelineSettings.model_fields) - {"name"}, exclude_none=True
    )
    return tomli_w.dumps(values)
