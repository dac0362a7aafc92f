"""What is worth remembering: episodes, facts, foresight, profiles, and what an agent learns from its work."""

from threadline.boundary import BoundaryDetector, DetectionResult, MemCell
from threadline.memory.agent import AgentCase, AgentProfilePatch, AgentProfileSignal, AgentProfileUpdate, AgentSkill
from threadline.memory.episode import Episode
from threadline.memory.fact import AtomicFact
from threadline.memory.foresight import Foresight
from threadline.memory.product import Method, Product, Source
from threadline.memory.profile import ExplicitInfoItem, ImplicitTraitItem, Profile

__all__ = [
    "AgentCase",
    "AgentProfilePatch",
    "AgentProfileSignal",
    "AgentProfileUpdate",
    "AgentSkill",
    "AtomicFact",
    "BoundaryDetector",
    "DetectionResult",
    "Episode",
    "ExplicitInfoItem",
    "Foresight",
    "ImplicitTraitItem",
    "MemCell",
    "Method",
    "Product",
    "Profile",
    "Source",
]
