"""Metrics for Prometheus: counts and seconds, no names of documents or indexes."""

from collections.abc import Callable, Iterable, Mapping

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)


class Metrics:
    """One registry for each server, so that two in one process do not mix."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "ccrag_requests",
            "HTTP requests by address, method and status.",
            ("route", "method", "status"),
            registry=self.registry,
        )
        self._request_seconds = Histogram(
            "ccrag_request_seconds",
            "Seconds from a request to the end of its answer.",
            ("route",),
            buckets=_SECONDS,
            registry=self.registry,
        )
        self._stage_seconds = Histogram(
            "ccrag_stage_seconds",
            "Seconds a stage took for one query.",
            ("stage", "pipeline"),
            buckets=(0.0001, 0.0005, 0.001, 0.005, *_SECONDS[1:]),
            registry=self.registry,
        )
        self._answers = Counter(
            "ccrag_answers",
            "Answers by pipeline; `abstained` tells those that are none.",
            ("pipeline", "abstained"),
            registry=self.registry,
        )
        self._cache = Counter(
            "ccrag_cache",
            "Look-ups in what is kept, by cache and whether it was there.",
            ("cache", "found"),
            registry=self.registry,
        )
        self._engine_errors = Counter(
            "ccrag_engine_errors",
            "Failed uses of OpenSearch by kind of error.",
            ("kind",),
            registry=self.registry,
        )
        self.working = Gauge(
            "ccrag_working", "Requests at work on a search or an answer.", registry=self.registry
        )
        self.waiting = Gauge(
            "ccrag_waiting", "Requests that wait for their turn.", registry=self.registry
        )

    def count_request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count a finished request."""
        self._requests.labels(route, method, str(status)).inc()
        self._request_seconds.labels(route).observe(seconds)

    def count_stages(self, pipeline: str, seconds: Mapping[str, float]) -> None:
        """Keep what each stage of a query took."""
        for stage, took in seconds.items():
            self._stage_seconds.labels(stage, pipeline).observe(took)

    def count_answer(self, pipeline: str, *, abstained: bool) -> None:
        """Count an answer, or that there was none."""
        self._answers.labels(pipeline, str(abstained).lower()).inc()

    def count_cache(self, cache: str, *, hits: int, misses: int) -> None:
        """Count look-ups in a cache."""
        self._cache.labels(cache, "true").inc(hits)
        self._cache.labels(cache, "false").inc(misses)

    def count_engine_error(self, kind: str) -> None:
        """Count a use of the engine that failed."""
        self._engine_errors.labels(kind).inc()

    def watch_vectors(self, counts: Callable[[], tuple[int, int]]) -> None:
        """Show how many texts' vectors were known before, and how many were encoded."""
        self.registry.register(_Vectors(counts))

    def text(self) -> bytes:
        """Return everything in Prometheus' text format."""
        return generate_latest(self.registry)


class _Vectors(Collector):
    def __init__(self, counts: Callable[[], tuple[int, int]]) -> None:
        self._counts = counts

    def collect(self) -> Iterable[CounterMetricFamily]:
        """Yield the counts of all encoders together."""
        cached, encoded = self._counts()
        family = CounterMetricFamily(
            "ccrag_vectors", "Texts whose vectors were wanted, by whether known.", labels=("found",)
        )
        family.add_metric(("true",), cached)
        family.add_metric(("false",), encoded)
        yield family
