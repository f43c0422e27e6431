"""`ccrag models`: look at encoders, and make static ones."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ccrag.cli.errors import notify, user_errors

if TYPE_CHECKING:
    from ccrag.models.cached import CachedEncoder

app = typer.Typer(help="Look at encoders, and make models.", no_args_is_help=True)

ModelArgument = Annotated[str, typer.Argument(help="A folder, or a name on the model hub.")]


@app.command()
def show(
    model: Annotated[
        str, typer.Argument(help="A folder, a name on the model hub, or static:FOLDER.")
    ],
) -> None:
    """
    Load an encoder and print what it is and where it was found.

    Example: ccrag models show sentence-transformers/all-MiniLM-L6-v2
    """
    from ccrag.config import EncoderSettings
    from ccrag.models.encoder import load_encoder

    with user_errors():
        encoder = load_encoder(EncoderSettings(model=model))
        info = _info(encoder)
    typer.echo("\n".join(f"{name:<14} {value}" for name, value in info.items()))


@app.command()
def distill(
    model: ModelArgument,
    out: Annotated[Path, typer.Option("--out", help="Folder to make.")],
    dimension: Annotated[
        int, typer.Option(min=2, help="Length of a vector, at most the model's.")
    ] = 256,
) -> None:
    """
    Make a static encoder of a sentence-transformers model: far faster, and less exact.

    Example: ccrag models distill sentence-transformers/all-MiniLM-L6-v2 --out minilm-static
    """
    from ccrag.models.static import distill_static

    with user_errors():
        notify(f"distilling {model}, a minute or so")
        made = distill_static(model, out, dimension=dimension)
    typer.echo(made.model_id)
    notify(f"{made.dimension} dimensions; use it with --set encoder.model={made.model_id}")


def _info(encoder: "CachedEncoder") -> dict[str, str]:
    info = {
        "model": encoder.model_id,
        "revision": encoder.revision,
        "dimension": str(encoder.dimension),
        **encoder.model.details(),
    }
    if encoder.cache is not None:
        info["cache"] = f"{encoder.cache.path} ({len(encoder.cache):,} texts)"
    return info
