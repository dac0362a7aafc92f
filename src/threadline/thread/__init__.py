"""One conversation: append, assemble, record, explain."""

from threadline.thread.aligning import Synced
from threadline.thread.appending import Appended
from threadline.thread.assembling import Reassembled, Replayed
from threadline.thread.call import Call
from threadline.thread.desk import Habits
from threadline.thread.explaining import Explanation
from threadline.thread.paging import BranchInfo, HistoryPage, Said
from threadline.thread.recording import LLMCallRecord
from threadline.thread.thread import Thread

__all__ = [
    "Appended",
    "BranchInfo",
    "Call",
    "Explanation",
    "Habits",
    "HistoryPage",
    "LLMCallRecord",
    "Reassembled",
    "Replayed",
    "Said",
    "Synced",
    "Thread",
]
