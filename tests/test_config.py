"""Settings: read in one place, told all at once, and secret where they must be."""

import re
from pathlib import Path
from typing import get_args

import pytest
from dotenv import dotenv_values

from bot.config import (
    Settings,
    child_environment,
    env_name,
    env_names,
    is_set,
    load_settings,
    unknown_names,
)
from bot.config.kinds import ProviderName, ToolName
from bot.config.load import HOMELESS, KEYLESS
from bot.errors import ConfigError
from bot.frontend.options import DMPolicy, FrontendOptions, ReplyMode
from bot.joining.resources import make_provider
from bot.joining.tools import OF_DISCORD, TOOLS
from bot.providers import ProviderType
from bot.providers.presets import PRESETS

EXAMPLE = Path(__file__).parent.parent / ".env.example"


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    for name in env_names():
        monkeypatch.delenv(name, raising=False)


def env_file(*lines: str) -> Path:
    path = Path("settings.env")
    path.write_text("\n".join(lines))
    return path


def problems(*lines: str) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load_settings(env_file(*lines))
    return caught.value.problems


def test_two_values_are_enough() -> None:
    settings = load_settings(env_file("DISCORD_TOKEN=abc", "OPENAI_API_KEY=key"))
    assert settings.service == "openai"
    assert settings.database == Path("parley.db")


def test_the_working_directory_has_an_env_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("DISCORD_TOKEN=abc\nOPENAI_API_KEY=key\nCHANNELS=1, 2 3")
    assert load_settings().channels == {1, 2, 3}


def test_the_environment_wins_over_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAX_STEPS", "7")
    file = env_file("DISCORD_TOKEN=abc", "OPENAI_API_KEY=key", "MAX_STEPS=3")
    assert load_settings(file).max_steps == 7


def test_everything_that_is_missing_or_wrong_is_named_at_once_with_what_to_do() -> None:
    found = problems(
        "TURNS_PER_MINUTE=many",
        "OWNER_IDS=12, alice",
        "REPLY_MODE=shout",
        "APPROVAL_HOURS=0",
        "OPENAI_BASE_URL=ftp://host",
        "TOOLS=roll_dice,fly",
        "SYSTEM_PROMPT_FILE=nowhere.txt",
        "DATABASE=.",
    )
    assert [each.split()[0] for each in found] == [
        "DISCORD_TOKEN",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
        "SYSTEM_PROMPT_FILE",
        "TOOLS",
        "DATABASE",
        "OWNER_IDS",
        "REPLY_MODE",
        "APPROVAL_HOURS",
        "TURNS_PER_MINUTE",
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("TURNS_PER_MINUTE=many", "TURNS_PER_MINUTE must be a whole number, not 'many'. How many"),
        ("TURNS_PER_MINUTE=0", "must be at least 1, not '0'"),
        ("SHUTDOWN_SECONDS=nan", "must be"),
        ("APPROVAL_HOURS=-1", "must be above 0, not '-1'"),
        ("MODEL_IDLE_SECONDS=soon", "must be a number, not 'soon'"),
        ("REPLY_MODE=shout", "must be 'thread' or 'reply', not 'shout'"),
        ("CHANNELS=12,general", "'general' is none"),
        ("CHANNELS=99999999999999999999999", "is none"),
        ("TOOLS=fly", "my_tools.py or package.module, not 'fly'"),
        ("DISCORD_API_BASE=http://[", "must be an address like https://host/path"),
        ("SYSTEM_PROMPT_FILE=missing.txt", "cannot be read: No such file or directory"),
        ("SYSTEM_PROMPT_FILE=latin.txt", "cannot be read: it is not a text in UTF-8"),
        ("USER_TOKENS_PER_DAY=-1", "must be at least 0, not '-1'"),
        ("ROLE_TOKENS_PER_DAY=12", "'12' has none"),
        ("ROLE_TOKENS_PER_DAY=12:many", "such as 123456789012345678:50000"),
        ("ROLE_TOKENS_PER_DAY=patron:50", "'patron' is none"),
        ("ROLE_TOKENS_PER_DAY=12:9999999999999", "must be at most 1e+12"),
        ("DATABASE=:memory:", "must be the path of a file"),
    ],
)
def test_a_wrong_value_is_told_with_what_is_right(line: str, told: str) -> None:
    Path("latin.txt").write_bytes(b"\xe4")
    [problem] = problems("DISCORD_TOKEN=abc", "OPENAI_API_KEY=key", line)
    assert told in problem
    assert problem.startswith(line.split("=")[0])


def test_the_right_values_are_named_once() -> None:
    [problem] = problems("DISCORD_TOKEN=abc", "OPENAI_API_KEY=key", "PROVIDER=openia")
    assert problem.startswith("PROVIDER must be 'auto', 'openai', ")
    assert problem.endswith(" or 'litellm', not 'openia'.")


def test_shards_may_be_written_as_ranges() -> None:
    needed = ("DISCORD_TOKEN=a", "OPENAI_API_KEY=b", "DATABASE_URL=postgresql://u:p@host/d")
    file = env_file(*needed, "SHARD_COUNT=50", "SHARD_IDS=0-39, 44 46-46")
    assert load_settings(file).shard_ids == {*range(40), 44, 46}


@pytest.mark.parametrize("name", ["DISCORD_TOKEN", "OPENAI_API_KEY"])
def test_quotes_that_were_handed_on_are_told(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, '"geheim"')
    [problem] = problems("DISCORD_TOKEN=abc", "OPENAI_API_KEY=key")
    assert problem.startswith(f"{name} stands in quotes")
    assert "geheim" not in problem


def test_secrets_are_in_no_error_and_no_repr() -> None:
    [problem] = problems("DISCORD_TOKEN=se cret", "OPENAI_API_KEY=key")
    assert "DISCORD_TOKEN holds characters that no token or key has: copy it" in problem
    assert "se cret" not in problem
    settings = load_settings(env_file("DISCORD_TOKEN=geheim", "OPENAI_API_KEY=verborgen"))
    assert "geheim" not in repr(settings) + str(settings)
    assert "verborgen" not in repr(settings) + str(settings)


@pytest.mark.parametrize("name", ["OPENAI_MODEL", "MODEL"])
def test_the_model_has_two_names(name: str) -> None:
    file = env_file("DISCORD_TOKEN=abc", "OPENAI_BASE_URL=http://127.0.0.1:1/v1", f"{name}=mine")
    assert load_settings(file).openai_model == "mine"
    assert is_set("openai_model", file)


@pytest.mark.parametrize("provider", ProviderType)
def test_what_a_service_needs_is_asked_for(provider: ProviderType) -> None:
    found = problems(f"PROVIDER={provider}")
    preset = PRESETS[provider]
    needed = ["DISCORD_TOKEN"]
    needed += ["OPENAI_API_KEY"] if preset.needs_key else []
    needed += ["OPENAI_MODEL"] if provider is not ProviderType.OPENAI else []
    needed += ["OPENAI_BASE_URL"] if preset.base_url is None else []
    assert sorted(each.split()[0] for each in found) == sorted(needed)


def test_a_token_is_needed_only_for_discord() -> None:
    settings = load_settings(env_file("OPENAI_API_KEY=key"), discord=False)
    assert settings.discord_token.get_secret_value() == ""


def test_a_file_that_is_named_has_to_be_there() -> None:
    with pytest.raises(ConfigError, match=r"there is no file nowhere\.env"):
        load_settings(Path("nowhere.env"))


def test_a_file_that_is_no_text_is_told() -> None:
    Path("binary.env").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"binary\.env cannot be read"):
        load_settings(Path("binary.env"))


def test_the_prompt_comes_from_a_file_where_one_is_named() -> None:
    Path("prompt.txt").write_text("Be a pirate.\n")
    lines = ("DISCORD_TOKEN=abc", "OPENAI_API_KEY=key", "SYSTEM_PROMPT=Be a clerk.")
    assert load_settings(env_file(*lines)).prompt == "Be a clerk."
    assert load_settings(env_file(*lines, "SYSTEM_PROMPT_FILE=prompt.txt")).prompt == "Be a pirate."


def test_it_can_have_no_tools_and_logs_as_loudly_as_told() -> None:
    settings = load_settings(
        env_file("DISCORD_TOKEN=abc", "OPENAI_API_KEY=key", "TOOLS=none", "LOG_LEVEL=debug")
    )
    assert settings.tools == ()
    assert settings.log_level == "DEBUG"


def test_tools_are_shipped_ones_files_or_modules() -> None:
    needed = ("DISCORD_TOKEN=abc", "OPENAI_API_KEY=key")
    settings = load_settings(env_file(*needed, "TOOLS=roll_dice, my_tools.py, some.tools"))
    assert settings.tools == ("roll_dice", "my_tools.py", "some.tools")
    for mistyped in ("role_dice", "some..tools"):
        with pytest.raises(ConfigError, match="TOOLS must be shipped tools"):
            load_settings(env_file(*needed, f"TOOLS={mistyped}"))


def test_roles_have_tokens_by_their_ids() -> None:
    needed = ("DISCORD_TOKEN=abc", "OPENAI_API_KEY=key")
    settings = load_settings(env_file(*needed, "ROLE_TOKENS_PER_DAY=12:500, 13:0"))
    assert settings.role_tokens_per_day == {12: 500, 13: 0}
    assert settings.role_tokens_per_month == {}


def test_the_example_names_every_setting_with_its_default_and_its_line() -> None:
    names = {env_name(field): about for field, about in Settings.model_fields.items()}
    assert list(dotenv_values(EXAMPLE)) == list(names)
    lines = EXAMPLE.read_text().splitlines()
    for name, about in names.items():
        [place] = [number for number, line in enumerate(lines) if line.startswith(f"{name}=")]
        assert lines[place - 1] == f"# {about.description}"
    example = load_settings(env_file(EXAMPLE.read_text(), "DISCORD_TOKEN=a", "OPENAI_API_KEY=b"))
    assert example == load_settings(env_file("DISCORD_TOKEN=a", "OPENAI_API_KEY=b"))
    assert not re.search(r"^[A-Z_]+=.*[\"']", EXAMPLE.read_text(), re.MULTILINE)


def test_the_names_of_the_other_rooms_are_the_same_here() -> None:
    assert set(get_args(ProviderName)) == {"auto", *ProviderType}
    assert set(get_args(ToolName)) == {*TOOLS, *OF_DISCORD}
    assert set(get_args(Settings.model_fields["reply_mode"].annotation)) == set(ReplyMode)
    assert set(get_args(Settings.model_fields["dms"].annotation)) == set(DMPolicy)
    assert {each for each in ProviderType if not PRESETS[each].needs_key} == KEYLESS
    assert {each for each in ProviderType if not PRESETS[each].base_url} == HOMELESS


def test_what_the_file_names_in_vain_is_found() -> None:
    assert unknown_names(env_file("DISCORD_TOKN=abc", "model=x")) == ["DISCORD_TOKN"]


def test_a_child_process_gets_what_it_is_meant_to_have(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "real")
    monkeypatch.setenv("UNRELATED", "stays")
    file = env_file("MAX_STEPS=3", "OWNER_IDS=5", "LOG_LEVEL=DEBUG")
    values = {"DISCORD_TOKEN": "played", "LOG_LEVEL": "ERROR"}
    made = child_environment(file, keep=["max_steps", "log_level"], values=values)
    assert made["DISCORD_TOKEN"] == "played"
    assert made["MAX_STEPS"] == "3"
    assert made["LOG_LEVEL"] == "DEBUG"
    assert made["UNRELATED"] == "stays"
    assert "OWNER_IDS" not in made


def test_a_provider_is_made_of_the_settings() -> None:
    lines = ("OPENAI_BASE_URL=http://127.0.0.1:1/v1", "OPENAI_MODEL=mine", "OPENAI_API_KEY=hidden")
    provider = make_provider(load_settings(env_file(*lines), discord=False))
    assert repr(provider) == "Provider('openai_compatible', model='mine')"


def test_the_front_end_is_told_of_its_settings() -> None:
    from bot.joining.frontend import frontend_options

    plain = load_settings(env_file("DISCORD_TOKEN=a", "OPENAI_API_KEY=b"))
    told = frontend_options(plain)
    assert told == FrontendOptions(drain_seconds=20.0)
    changed = load_settings(
        env_file("DISCORD_TOKEN=a", "OPENAI_API_KEY=b", "APPROVER_ROLES=7", "DMS=nobody")
    )
    assert frontend_options(changed).approver_role_ids == {7}
    assert frontend_options(changed).dms is DMPolicy.NOBODY
