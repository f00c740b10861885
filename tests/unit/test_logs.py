from __future__ import annotations

import json
import logging
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from skitter.errors import SettingsError
from skitter.logs import get_logger, log_context, setup_logs
from skitter.settings import LogSettings

JSON = LogSettings(format="json")


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Any:
    def read() -> list[dict[str, Any]]:
        captured = capsys.readouterr()
        assert captured.out == ""
        return [json.loads(line) for line in captured.err.splitlines()]

    return read


def test_json_line_says_when_who_and_what(lines: Any) -> None:
    setup_logs(JSON)
    get_logger("skitter.frontier").info("leased", count=3)
    (line,) = lines()
    assert line["timestamp"].endswith("Z")
    del line["timestamp"]
    assert line == {"level": "info", "event": "leased", "logger": "skitter.frontier", "count": 3}


def test_auto_is_json_when_nobody_looks(lines: Any) -> None:
    setup_logs(LogSettings())
    get_logger().info("hello")
    assert lines()[0]["event"] == "hello"


def test_text_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logs(LogSettings(format="text"))
    get_logger("skitter").warning("slow host", host="example.com")
    text = capsys.readouterr().err
    assert "slow host" in text
    assert "host=example.com" in text
    assert "\x1b" not in text


def test_level_is_the_least_that_is_shown(lines: Any) -> None:
    setup_logs(LogSettings(format="json", level="warning"))
    get_logger().info("quiet")
    logging.getLogger("library").info("quiet")
    get_logger().warning("loud")
    assert [line["event"] for line in lines()] == ["loud"]


def test_context_is_on_every_line_of_every_logger(lines: Any) -> None:
    setup_logs(JSON, worker="w1")
    with log_context(job="j1", host="example.com", request="r1"):
        get_logger().info("ours")
        logging.getLogger("library").info("theirs %d", 5)
    get_logger().info("after")
    ours, theirs, after = lines()
    expected = {"worker": "w1", "job": "j1", "host": "example.com", "request": "r1"}
    assert expected.items() <= ours.items()
    assert expected.items() <= theirs.items()
    assert theirs["event"] == "theirs 5"
    assert after["worker"] == "w1"
    assert "job" not in after


def test_worker_is_on_the_lines_of_other_threads(lines: Any) -> None:
    setup_logs(JSON, worker="w1")
    thread = threading.Thread(target=lambda: get_logger().info("from a thread"))
    thread.start()
    thread.join()
    assert lines()[0]["worker"] == "w1"


def test_secrets_are_masked_wherever_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    setup_logs(JSON)
    log = get_logger()
    log.info("connecting to redis://u:hunter2@h", url="redis://:hunter2@h", password="hunter2")
    log.info("sent", headers={"Authorization": "Basic hunter2", "cookie": "sid=hunter2"})
    logging.getLogger("library").info("GET http://u:%s@h/?api_key=hunter2", "hunter2")
    logging.getLogger("library").info("extra", extra={"api_key": "hunter2"})
    try:
        raise ValueError("redis://:hunter2@h is away")  # noqa: TRY301
    except ValueError:
        log.exception("failed")
        logging.getLogger("library").exception("failed")
    text = capsys.readouterr().err
    assert "hunter2" not in text
    assert text.count("ValueError: redis://:***@h is away") == 2
    assert all(json.loads(line) for line in text.splitlines())


def test_second_setup_replaces_the_first(lines: Any) -> None:
    setup_logs(LogSettings(format="json", level="debug"))
    setup_logs(JSON)
    get_logger().debug("hidden")
    get_logger().info("once")
    assert [line["event"] for line in lines()] == ["once"]


def test_loggers_made_before_the_setup_follow_it(lines: Any) -> None:
    log = get_logger("early")
    setup_logs(JSON)
    log.info("hello")
    assert lines()[0]["logger"] == "early"


def test_files_rotate_and_old_ones_go(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "skitter-{pid}.log"
    setup_logs(LogSettings(format="auto", file=path, file_max_bytes=1000, file_backups=2))
    for number in range(100):
        get_logger().info("line", number=number)
    name = f"skitter-{os.getpid()}.log"
    assert sorted(p.name for p in path.parent.iterdir()) == [name, f"{name}.1", f"{name}.2"]
    last = (path.parent / name).read_text(encoding="utf-8").splitlines()[-1]
    assert json.loads(last)["number"] == 99


def write_config(tmp_path: Path, text: str) -> LogSettings:
    path = tmp_path / "logging.yaml"
    path.write_text(text, encoding="utf-8")
    return LogSettings(config=path)


def test_logging_yaml_may_use_our_formatters(tmp_path: Path, lines: Any) -> None:
    config = """
        version: 1
        handlers: {err: {class: logging.StreamHandler, formatter: json}}
        root: {level: INFO, handlers: [err]}
        loggers: {noisy: {level: ERROR}}
    """
    setup_logs(write_config(tmp_path, config), worker="w1")
    get_logger("mine").info("hello", token="hunter2")
    logging.getLogger("noisy").warning("hidden")
    (line,) = lines()
    assert (line["event"], line["token"], line["worker"]) == ("hello", "***", "w1")


def test_logging_yaml_may_have_formatters_of_its_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = """
        version: 1
        formatters: {plain: {format: "%(name)s|%(message)s"}}
        handlers: {err: {class: logging.StreamHandler, formatter: plain}}
        root: {level: INFO, handlers: [err]}
    """
    setup_logs(write_config(tmp_path, config))
    get_logger("mine").info("hello", count=2, password="hunter2")
    logging.getLogger("library").info("at redis://:hunter2@h")
    assert capsys.readouterr().err.splitlines() == [
        "mine|hello count=2 password='***'",
        "library|at redis://:***@h",
    ]
    try:
        raise ValueError("redis://:hunter2@h is away")  # noqa: TRY301
    except ValueError:
        get_logger("mine").exception("failed")
    text = capsys.readouterr().err
    assert text.startswith("mine|failed\nTraceback")
    assert text.endswith("ValueError: redis://:***@h is away\n")


@pytest.mark.parametrize("text", ["just words", "{", "version: 2", "version: 1\nroot: {level: 7x}"])
def test_bad_logging_yaml_is_a_settings_error(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match=r"logging\.yaml"):
        setup_logs(write_config(tmp_path, text))


def test_missing_logging_yaml_is_a_settings_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="nowhere"):
        setup_logs(LogSettings(config=tmp_path / "nowhere.yaml"))
