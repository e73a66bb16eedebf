"""The slots that belong to a thread, and the working folders of the sessions."""

import os
import threading

_slots = threading.local()
_overrides: dict = {}


def set_approval_callback(callback):
    _slots.approval = callback


def _get_approval_callback():
    return getattr(_slots, "approval", None)


def set_sudo_password_callback(callback):
    _slots.sudo = callback


def register_task_env_overrides(task_id, overrides):
    _overrides[task_id] = overrides


def clear_task_env_overrides(task_id):
    _overrides.pop(task_id, None)


def task_cwd(task_id):
    return (_overrides.get(task_id) or {}).get("cwd") or os.getcwd()
