"""What a run as a whole must be like to be trusted.

Single items are checked when they are found; gates look at all of them when the job has ended: too
few, fields that came up empty, the same thing many times, prices that leapt, old news. `Gates` says
what is asked for, `figures_of` what a run gave, `judge` which of it does not pass, and why. Nothing
here reads or writes anything: whoever ends a job brings the items and the figures of past runs.
"""

from skitter.validate.gates.declared import Declared
from skitter.validate.gates.figures import RunFigures, figures_of
from skitter.validate.gates.judging import GateFailure, judge
from skitter.validate.gates.spec import Duplicates, Gates

__all__ = ["Declared", "Duplicates", "GateFailure", "Gates", "RunFigures", "figures_of", "judge"]
