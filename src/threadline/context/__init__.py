"""What the model sees next: input, policy, plan, assembler, manifest, cache plan."""

from threadline.context.assembler import ContextAssembler, Finished, Policy, Prepared
from threadline.context.budget import TokenBudget
from threadline.context.cache import Compacted, compaction_price, with_breakpoints
from threadline.context.cache_plan import CacheDifference, CachePlan, CompactionPrice
from threadline.context.costs import item_cost, overhead, priced
from threadline.context.default_policy import DefaultPolicy
from threadline.context.diff import Change, ManifestDiff, diff, render_diff
from threadline.context.fence import fenced
from threadline.context.filters import Filter, FilterSource, filter_input, filter_message, filter_text
from threadline.context.follow_up import base_instructions, with_required
from threadline.context.handoff import HandoffContext, HandoffItem
from threadline.context.hooks import (
    Hook,
    HookItems,
    LLMInputBuildContext,
    LLMInputPatch,
    SegmentCandidate,
    hook_items,
    patched_config,
    run_hooks,
)
from threadline.context.injection import PromptInjectionFilter
from threadline.context.input import ContextPolicyInput, group_items
from threadline.context.items import (
    ConversationItem,
    InstructionItem,
    KnowledgeItem,
    Provenance,
    ToolItem,
    Trust,
)
from threadline.context.manifest import LLMInputManifest, Segment, TokenTotals, decode_manifest, encode_manifest
from threadline.context.materialise import materialise
from threadline.context.plan import ContextPlan, Omission
from threadline.context.policy import ContextPolicy
from threadline.context.replay import Replay, replay
from threadline.context.validation import validate_plan

__all__ = [
    "CacheDifference",
    "CachePlan",
    "Change",
    "Compacted",
    "CompactionPrice",
    "ContextAssembler",
    "ContextPlan",
    "ContextPolicy",
    "ContextPolicyInput",
    "ConversationItem",
    "DefaultPolicy",
    "Filter",
    "FilterSource",
    "Finished",
    "HandoffContext",
    "HandoffItem",
    "Hook",
    "HookItems",
    "InstructionItem",
    "KnowledgeItem",
    "LLMInputBuildContext",
    "LLMInputManifest",
    "LLMInputPatch",
    "ManifestDiff",
    "Omission",
    "Policy",
    "Prepared",
    "PromptInjectionFilter",
    "Provenance",
    "Replay",
    "Segment",
    "SegmentCandidate",
    "TokenBudget",
    "TokenTotals",
    "ToolItem",
    "Trust",
    "base_instructions",
    "compaction_price",
    "decode_manifest",
    "diff",
    "encode_manifest",
    "fenced",
    "filter_input",
    "filter_message",
    "filter_text",
    "group_items",
    "hook_items",
    "item_cost",
    "materialise",
    "overhead",
    "patched_config",
    "priced",
    "render_diff",
    "replay",
    "run_hooks",
    "validate_plan",
    "with_breakpoints",
    "with_required",
]
