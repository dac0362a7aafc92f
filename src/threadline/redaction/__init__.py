"""Finding secrets before anything is stored."""

from threadline.redaction.detector import SecretDetector

__all__ = ["SecretDetector"]
