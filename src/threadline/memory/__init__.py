"""What is worth remembering: episodes, facts, foresight, profiles, and what an agent learns from its work."""

from threadline.boundary import BoundaryDetector, DetectionResult, MemCell
from threadline.memory.agent import AgentCase, AgentProfilePatch, AgentProfileSignal, AgentProfileUpdate, AgentSkill
from threadline.memory.episode import Episode
from threadline.memory.episodes import EpisodeExtractor, EpisodeSummarizer
from threadline.memory.fact import AtomicFact
from threadline.memory.fact_merge import merge_facts
from threadline.memory.facts import AtomicFactExtractor
from threadline.memory.foresight import Foresight
from threadline.memory.foresights import ForesightExtractor
from threadline.memory.language import OutputLanguage
from threadline.memory.product import Method, Product, Source
from threadline.memory.profile import ExplicitInfoItem, ImplicitTraitItem, Profile
from threadline.memory.profiles import ProfileExtractor
from threadline.memory.quarantine import Done, Failed, attempt
from threadline.memory.reflector import EpisodeReflector

__all__ = [
    "AgentCase",
    "AgentProfilePatch",
    "AgentProfileSignal",
    "AgentProfileUpdate",
    "AgentSkill",
    "AtomicFact",
    "AtomicFactExtractor",
    "BoundaryDetector",
    "DetectionResult",
    "Done",
    "Episode",
    "EpisodeExtractor",
    "EpisodeReflector",
    "EpisodeSummarizer",
    "ExplicitInfoItem",
    "Failed",
    "Foresight",
    "ForesightExtractor",
    "ImplicitTraitItem",
    "MemCell",
    "Method",
    "OutputLanguage",
    "Product",
    "Profile",
    "ProfileExtractor",
    "Source",
    "attempt",
    "merge_facts",
]
