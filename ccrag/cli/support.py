"""`ccrag support`: judge whether claims are supported by their evidence."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from ccrag.cli.errors import check_room, user_errors
from ccrag.cli.options import OverwriteOption


def support(
    claims: Annotated[
        Path, typer.Argument(help="JSONL: id, claim, evidence (a list of texts), question.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File for the verdicts (JSONL).")],
    overwrite: OverwriteOption = False,
) -> None:
    """
    Judge claims by their evidence, by words alone: no index and no model is needed.

    A line of the outcome holds id, verdict (supported, partly, unsupported), probability, reason,
    and spans: [number of the evidence text, start, end].

    Example: ccrag support claims.jsonl --out verdicts.jsonl
    """
    import orjson

    from ccrag.answering.verdict import judge
    from ccrag.errors import InputError
    from ccrag.evaluation.claims import read_claims
    from ccrag.pipeline.support_weights import support_weights

    counts: Counter[str] = Counter()
    with user_errors():
        check_room(out, overwrite=overwrite)
        weights = support_weights()
        lines = []
        for claim in read_claims(claims):
            found = judge(claim.text, claim.evidence, weights, question=claim.question)
            counts[found.verdict] += 1
            line = {
                "id": claim.claim_id,
                "verdict": found.verdict,
                "probability": found.probability,
                "reason": found.reason,
                "spans": [list(span) for span in found.spans],
            }
            lines.append(orjson.dumps(line) + b"\n")
        try:
            out.write_bytes(b"".join(lines))
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", path=out) from error
    told = ", ".join(f"{counts[name]} {name}" for name in ("supported", "partly", "unsupported"))
    typer.echo(f"{out}: {counts.total()} claims: {told}")
