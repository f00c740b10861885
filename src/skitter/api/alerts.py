"""Alerts: the rules, what fires now, and what did."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import ConfigDict

from skitter.api.asking import Served, WideOperator, WideViewer, refusals
from skitter.api.kinds import Limit, Told
from skitter.masking import mask_value

router = APIRouter(prefix="/api/v1/alerts", tags=["alerts"], responses=refusals())


class AlertsOut(Told):
    """Rules that fire."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "alerts": [
                        {
                            "rule": "backlog",
                            "label": "books",
                            "phase": "firing",
                            "severity": "warning",
                            "summary": "books has 120,000 requests queued",
                        }
                    ]
                }
            ]
        }
    )

    alerts: list[dict[str, Any]]


class RulesOut(Told):
    """All rules, as they count."""

    rules: list[dict[str, Any]]


class AlertEventsOut(Told):
    """What fired and cleared, the newest first."""

    events: list[dict[str, Any]]


class DeliveriesOut(Told):
    """How each webhook took the message."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"webhooks": {"webhook 1": "ok"}}]})

    webhooks: dict[str, str]


@router.get("")
async def list_alerts(
    services: Served,
    _who: WideViewer,
    pending: Annotated[bool, Query(description="Those that may soon fire, too.")] = False,  # noqa: FBT002 - a query's flag
) -> AlertsOut:
    """What fires now."""
    return AlertsOut(alerts=mask_value(await services.alerts.firing(pending=pending)))


@router.get("/rules")
async def list_rules(services: Served, _who: WideViewer) -> RulesOut:
    """The rules with their thresholds."""
    return RulesOut(rules=mask_value(services.alerts.rules()))


@router.get("/events")
async def list_alert_events(
    services: Served, _who: WideViewer, limit: Limit = 50
) -> AlertEventsOut:
    """What fired and cleared."""
    return AlertEventsOut(events=mask_value(await services.alerts.events(limit=limit)))


@router.post("/test")
async def try_webhooks(services: Served, _who: WideOperator) -> DeliveriesOut:
    """Send each webhook a message that says it is a test."""
    return DeliveriesOut(webhooks=mask_value(await services.alerts.test()))
