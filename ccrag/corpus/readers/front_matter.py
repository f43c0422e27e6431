"""The title in the front matter of a Markdown file. Pure: no I/O, no settings."""

import tomllib

import yaml

from ccrag.text.sections import find_front_matter


def front_matter_title(text: str) -> str:
    """Return the title that YAML or TOML front matter gives; "" without one that can be read."""
    front = find_front_matter(text)
    if front is None:
        return ""
    try:
        if front.kind == "toml":
            values: object = tomllib.loads(front.content.replace("\r\n", "\n"))
        else:
            values = yaml.safe_load(front.content)
    except (yaml.YAMLError, tomllib.TOMLDecodeError, ValueError):
        return ""  # the text is kept whole, and its first heading may be the title
    title = values.get("title") if isinstance(values, dict) else None
    return " ".join(title.split()) if isinstance(title, str) else ""
