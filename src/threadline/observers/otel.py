"""`OpenTelemetryObserver`: spans and counters by OpenTelemetry's conventions for generative AI; never content."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from threadline.errors import ConfigurationError
from threadline.ports.observer import Attributes

if TYPE_CHECKING:
    from opentelemetry.metrics import Counter
    from opentelemetry.trace import Span

__all__ = ["OpenTelemetryObserver"]

_SCOPE = "threadline"


class _Noted:
    def __init__(self, span: Span) -> None:
        self._span = span

    def note(self, attributes: Attributes) -> None:
        """See `Span.note`."""
        self._span.set_attributes(dict(attributes))


class OpenTelemetryObserver:
    """Sends what it sees to the tracer and meter that the host has set up.

    Args:
        tracer_provider, meter_provider: None takes the global ones.

    Raises:
        ConfigurationError: `opentelemetry-api` is not installed.
    """

    def __init__(self, *, tracer_provider: Any = None, meter_provider: Any = None) -> None:
        try:
            from opentelemetry import metrics, trace
        except ImportError as error:
            raise ConfigurationError("OpenTelemetry is not installed: pip install 'threadline[otel]'") from error
        self._tracer = trace.get_tracer(_SCOPE, tracer_provider=tracer_provider)
        self._meter = metrics.get_meter(_SCOPE, meter_provider=meter_provider)
        self._counters: dict[str, Counter] = {}

    @contextmanager
    def span(self, name: str, attributes: Attributes) -> Generator[_Noted]:
        """See `Observer.span`."""
        from opentelemetry.trace import Status, StatusCode

        with self._tracer.start_as_current_span(
            f"{_SCOPE}.{name}", attributes=dict(attributes), record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield _Noted(span)
            except BaseException as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(Status(StatusCode.ERROR))
                raise

    def count(self, name: str, amount: int, attributes: Attributes) -> None:
        """See `Observer.count`."""
        if name not in self._counters:
            self._counters[name] = self._meter.create_counter(f"{_SCOPE}.{name}")
        self._counters[name].add(amount, dict(attributes))
