"""
A new index from one that serves, at a cost that grows with the change.

A clone shares the files of its source (hard links), so it costs nothing whatever its size; the
changes are written to the clone, which is verified and takes the alias in one call that removes
the source. Until then the source serves, untouched; a clone that was not finished is thrown away.

Scores must be those of an index built anew, and BM25 counts what is deleted until its segment is
rewritten. Three facts of OpenSearch 2.19 decide how that is done (measured):

- A clone drops what its *source* had deleted when its deletes are expunged, but only after a flush;
  what is written *and* replaced in the clone itself is kept for twelve hours, as history that
  copies may ask for. So nothing is written twice to one clone, and an interrupted one is not
  gone on with.
- Deleting leaves marks with the ids of the deleted in the clone, for as long. So a clone that
  deleted or replaced anything is cloned once more, where the marks are expunged too.
- Expunging leaves segments with few deletes as they are unless told otherwise, and rewrites at 20
  MB/s unless told otherwise.

Adding documents rewrites nothing. Replacing or deleting one rewrites the segment it lies in, which
costs a copy of that segment, without analysing or encoding its texts again.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from opensearchpy import OpenSearch

from ccrag.concurrency import all_at_once
from ccrag.config import EngineSettings
from ccrag.engine.build import LOADING, check_count, serve_index
from ccrag.engine.bulk import write
from ccrag.engine.client import engine_errors
from ccrag.engine.index import count_items
from ccrag.engine.names import step_name
from ccrag.engine.stored import Stored
from ccrag.errors import EngineError
from ccrag.types import JSON

CHANGING: JSON = {
    **LOADING,
    "blocks.write": None,
    "number_of_replicas": 0,
    "merge.policy.expunge_deletes_allowed": 0,
    "merge.scheduler.auto_throttle": False,
}
SETTLED: JSON = {
    "merge.policy.expunge_deletes_allowed": None,
    "merge.scheduler.auto_throttle": None,
    "translog.flush_threshold_size": None,
}


@dataclass(slots=True)
class Tally:
    """Counts of the actions of one change."""

    created: int = 0
    deleted: int = 0

    def count(self, actions: Iterable[JSON]) -> Iterator[JSON]:
        """Pass `actions` on and count them."""
        for action in actions:
            self.created += action["_op_type"] == "create"
            self.deleted += action["_op_type"] == "delete"
            yield action


def derive(
    client: OpenSearch,
    source: Stored,
    target: str,
    actions: Iterable[JSON],
    settings: EngineSettings,
    *,
    rewrites: bool,
) -> Tally:
    """
    Let `target` be a copy of `source` on which `actions` were done; it has no alias yet.

    Args:
        actions: without `_index`; no id occurs twice. `create` what is new, `index` what is
            there, `delete` what is there.
        rewrites: True if any of them may be `index` or `delete`.

    Raises:
        BulkWriteError: items were refused.
        EngineError: a request failed, or the copy does not hold what it should.
    """
    first = step_name(target) if rewrites else target
    tally = Tally()
    with engine_errors(f"copy {source.index}"):
        _clone(client, source.index, first, settings)
        written = ({**action, "_index": first} for action in tally.count(actions))
        write(client, written, settings)
        if rewrites:
            _expunge(client, first, settings)
        else:
            wait: JSON = {"request_timeout": settings.bulk_timeout_s}
            client.indices.flush(index=first, params=wait)
            client.indices.refresh(index=first, params=wait)
        if rewrites:
            # The first copy still holds marks of the deleted (see above), so it is copied again;
            # an index can be cloned only while it takes no writes.
            closed = {"index": {"blocks.write": True}}
            client.indices.put_settings(index=first, body=closed)
            _clone(client, first, target, settings)
            client.indices.delete(index=first)
            _expunge(client, target, settings)
        expected = count_items(client, source.index) + tally.created - tally.deleted
        check_count(client, target, expected)
        _check_expunged(client, target)
    return tally


def _clone(client: OpenSearch, source: str, target: str, settings: EngineSettings) -> None:
    wait: JSON = {"request_timeout": settings.bulk_timeout_s}
    body = {"settings": {"index": CHANGING}}
    client.indices.clone(index=source, target=target, body=body, params=wait)
    # The clone call may end before the primaries have started, which writes need.
    ready = client.cluster.health(index=target, params={"wait_for_status": "yellow", **wait})
    if ready["timed_out"]:
        raise EngineError(f"the copy {target} does not start; see the engine's log, try again")


def _expunge(client: OpenSearch, index: str, settings: EngineSettings) -> None:
    """Make what was written durable, and let no deleted item count in statistics any more."""
    wait: JSON = {"request_timeout": settings.bulk_timeout_s}
    # Deletes are dropped only after a flush (measured), and the merge itself needs another one.
    client.indices.flush(index=index, params={"force": "true", **wait})
    client.indices.forcemerge(index=index, params={"only_expunge_deletes": "true", **wait})
    client.indices.flush(index=index, params={"force": "true", **wait})
    client.indices.refresh(index=index, params=wait)


def _check_expunged(client: OpenSearch, index: str) -> None:
    held = client.indices.stats(index=index, metric="docs")["_all"]["primaries"]["docs"]
    if held["deleted"]:
        raise EngineError(
            f"{index} still counts {held['deleted']} deleted items, which would change scores; "
            "nothing was changed, try again"
        )


def switch(
    client: OpenSearch,
    derived: Sequence[tuple[Stored, str, JSON]],
    dropped: Sequence[Stored],
    settings: EngineSettings,
) -> None:
    """
    Let every alias point to its new index in one call that removes the old ones.

    Args:
        derived: what serves, its new index, and what that says about itself.
        dropped: what shall serve no longer.

    Raises:
        EngineError: a request failed; what served before still does.
    """

    def finish(made: tuple[Stored, str, JSON]) -> None:
        _, index, meta = made
        with engine_errors(f"finish {index}"):
            client.indices.put_mapping(index=index, body={"_meta": meta})
            serve_index(client, index, settings, others=SETTLED)

    all_at_once(finish, derived)
    # One call, which the engine does as a whole: no search ever meets two states.
    actions: list[JSON] = [
        {"add": {"index": index, "alias": item.alias}} for item, index, _ in derived
    ]
    gone = [item.index for item, _, _ in derived] + [item.index for item in dropped]
    actions += [{"remove_index": {"index": index}} for index in gone]
    with engine_errors("switch the aliases"):
        client.indices.update_aliases(body={"actions": actions})
