"""Between the frontier and the engines of a process: prefetch, pace, renew, settle in order."""

from skitter.intake.bounds import Bounds, IntakeStats
from skitter.intake.intake import Intake
from skitter.intake.lane import Lane
from skitter.intake.page import Page

__all__ = ["Bounds", "Intake", "IntakeStats", "Lane", "Page"]
