"""What it costs: texts, messages, tools, media and whole requests in tokens, by the model they are meant for."""

from threadline.tokens.calibration import calibrate, calibration_factor
from threadline.tokens.counter import CachedCounter, ExactCounter, TokenCounter
from threadline.tokens.estimator import CalibratedCounter, EstimatingCounter, Weights
from threadline.tokens.measure import Measure, RequestCount
from threadline.tokens.media import image_tokens, media_tokens
from threadline.tokens.prices import Price, price_for, window_for
from threadline.tokens.profile import Profile, counter_for, profile_for
from threadline.tokens.request import count_request, count_tokens
from threadline.tokens.rough import estimate_messages_tokens, estimate_tokens

__all__ = [
    "CachedCounter",
    "CalibratedCounter",
    "EstimatingCounter",
    "ExactCounter",
    "Measure",
    "Price",
    "Profile",
    "RequestCount",
    "TokenCounter",
    "Weights",
    "calibrate",
    "calibration_factor",
    "count_request",
    "count_tokens",
    "counter_for",
    "estimate_messages_tokens",
    "estimate_tokens",
    "image_tokens",
    "media_tokens",
    "price_for",
    "profile_for",
    "window_for",
]
