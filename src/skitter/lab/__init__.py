"""A virtual web with a referee.

A deterministic web of any size on one port, with every nuisance of the real one to order, and a
referee who judges at the server how a crawler behaved. `web` says what a URL is, `places` where
it leads, `site` what is answered now, `server` sends it, `referee` watches, `verdict` tells.
`demos` are sites whose every value is known: shops and an exchange.
"""

from __future__ import annotations

from skitter.lab.demo_spec import ExchangeSpec, ShopSpec
from skitter.lab.graph import Graph, walk
from skitter.lab.process import LabProcess
from skitter.lab.referee import Judging, Referee
from skitter.lab.refusal import LabSpecError
from skitter.lab.run import LabServer
from skitter.lab.spec import Drip, Fault, WebSpec, spec_from
from skitter.lab.verdict import Coverage, Finding, Verdict
from skitter.lab.web import Policy, Web

__all__ = [
    "Coverage",
    "Drip",
    "ExchangeSpec",
    "Fault",
    "Finding",
    "Graph",
    "Judging",
    "LabProcess",
    "LabServer",
    "LabSpecError",
    "Policy",
    "Referee",
    "ShopSpec",
    "Verdict",
    "Web",
    "WebSpec",
    "spec_from",
    "walk",
]
