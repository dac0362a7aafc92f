"""Adapters of the `Observer` port."""

from threadline.observers.otel import OpenTelemetryObserver

__all__ = ["OpenTelemetryObserver"]
