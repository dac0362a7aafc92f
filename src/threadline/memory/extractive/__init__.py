"""Memory without a model: the same types, made of quotes of what was said, each with its message and its place."""

from threadline.memory.extractive.cues import LANGUAGES, named_language
from threadline.memory.extractive.dates import zone_of
from threadline.memory.extractive.episode import extract_episode
from threadline.memory.extractive.facts import extract_facts, merge_equal, speaks_of
from threadline.memory.extractive.foresight import extract_foresight
from threadline.memory.extractive.memories import Memories, extract_memories
from threadline.memory.extractive.profile import extract_profile
from threadline.memory.extractive.quotes import Quote, is_said_by, quotes

__all__ = [
    "LANGUAGES",
    "Memories",
    "Quote",
    "extract_episode",
    "extract_facts",
    "extract_foresight",
    "extract_memories",
    "extract_profile",
    "is_said_by",
    "merge_equal",
    "named_language",
    "quotes",
    "speaks_of",
    "zone_of",
]
