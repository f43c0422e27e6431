"""Ask the provider for the state of a batch's parts. Changes nothing."""

from dataclasses import dataclass

from ccrag.batch.folder import PartRecord, Work
from ccrag.batch.submit import check_server, requests_to_send
from ccrag.llm.batch_client import BatchProvider, ProviderBatch


@dataclass(frozen=True, slots=True)
class StatusReport:
    """The result of `status`."""

    queries: int
    failed: int
    """Queries that could not be prepared."""
    to_submit: int
    under_way: tuple[tuple[PartRecord, ProviderBatch], ...]
    """Sent and not collected; with what the provider says now."""
    collected: tuple[PartRecord, ...]


def status(work: Work, provider: BatchProvider) -> StatusReport:
    """
    Ask the provider about every batch that is not collected yet.

    Raises:
        ModelError: the provider cannot be reached, or does not know a batch.
        ConfigError: batches are under way at another provider.
    """
    sent = tuple(work.parts("sent"))
    check_server(sent, provider)
    return StatusReport(
        queries=len(work.manifest.queries),
        failed=len(work.manifest.failures),
        to_submit=sum(1 for _ in requests_to_send(work)),
        under_way=tuple((part, provider.look(part.batch_id)) for part in sent),
        collected=tuple(work.parts("ended")),
    )
