import os

from hermes_cli.config import load_config


def resolve_runtime_provider(*, requested=None):
    model = load_config().get("model") or {}
    key = model.get("api_key") or os.environ.get("STAND_IN_API_KEY")
    if not key:
        raise ValueError("no credentials")
    provider = requested or model.get("provider") or "custom"
    return {"provider": provider, "api_mode": "chat_completions", "base_url": model.get("base_url"), "api_key": key}
