"""What was said: messages and requests of any provider, their groups, what was left out of them, and their rules."""

from threadline.messages.check import Checker, Rule, Violation, check_conversation
from threadline.messages.convert import Conversion, Converter, convert
from threadline.messages.dialects import Decoder, decode, detect_dialect, encode, result_message, text_message
from threadline.messages.documents import Document, read_document
from threadline.messages.elision import Decisions, Elision, Insertion, Source, apply
from threadline.messages.fate import Fate
from threadline.messages.groups import DEAD_AFTER, Group, Grouper, GroupState, group_messages
from threadline.messages.losses import Loss
from threadline.messages.message import Dialect, Message, Origin, Request, Role, Tool
from threadline.messages.parts import (
    MediaPart,
    OpaquePart,
    Part,
    Path,
    RefusalPart,
    SummaryPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from threadline.messages.restoration import restore
from threadline.messages.said import chat_message, message_id, render_line, speaker, tool_request, tool_result
from threadline.messages.stream import Conversation, read_conversation

__all__ = [
    "DEAD_AFTER",
    "Checker",
    "Conversation",
    "Conversion",
    "Converter",
    "Decisions",
    "Decoder",
    "Dialect",
    "Document",
    "Elision",
    "Fate",
    "Group",
    "GroupState",
    "Grouper",
    "Insertion",
    "Loss",
    "MediaPart",
    "Message",
    "OpaquePart",
    "Origin",
    "Part",
    "Path",
    "RefusalPart",
    "Request",
    "Role",
    "Rule",
    "Source",
    "SummaryPart",
    "TextPart",
    "ThinkingPart",
    "Tool",
    "ToolCallPart",
    "ToolResultPart",
    "Violation",
    "apply",
    "chat_message",
    "check_conversation",
    "convert",
    "decode",
    "detect_dialect",
    "encode",
    "group_messages",
    "message_id",
    "read_conversation",
    "read_document",
    "render_line",
    "restore",
    "result_message",
    "speaker",
    "text_message",
    "tool_request",
    "tool_result",
]
