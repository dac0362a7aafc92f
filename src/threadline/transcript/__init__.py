"""What may be left out of a conversation, without a model: repeats, stale and long results, old exchanges."""

from threadline.tokens import estimate_messages_tokens, estimate_tokens
from threadline.transcript.compact import (
    CompactResult,
    History,
    balance_tool_call_boundary,
    compact,
    compact_async,
    maybe_compact,
    maybe_compact_async,
    should_compact,
)
from threadline.transcript.fitting import FitResult, Fitter, FitterTurn, decide, fit
from threadline.transcript.markers import Marker, MarkerStyle
from threadline.transcript.policy import FitPolicy
from threadline.transcript.prune import prune_text, prune_tool_results
from threadline.transcript.repair import Repair, RepairResult, repair
from threadline.transcript.report import Report, SourceTokens

__all__ = [
    "CompactResult",
    "FitPolicy",
    "FitResult",
    "Fitter",
    "FitterTurn",
    "History",
    "Marker",
    "MarkerStyle",
    "Repair",
    "RepairResult",
    "Report",
    "SourceTokens",
    "balance_tool_call_boundary",
    "compact",
    "compact_async",
    "decide",
    "estimate_messages_tokens",
    "estimate_tokens",
    "fit",
    "maybe_compact",
    "maybe_compact_async",
    "prune_text",
    "prune_tool_results",
    "repair",
    "should_compact",
]
