import subprocess
import sys
from pathlib import Path

from accounts.authentication.machine_slots import MachineSlots
from tests.servers.product import ROOT

TAKE_ALL = """
import sys
from pathlib import Path
from accounts.authentication.machine_slots import MachineSlots
slots = MachineSlots(Path(sys.argv[1]), 8)
print(sum(slots.take() is not None for _ in range(8)), flush=True)
sys.stdin.read()
"""


def start(file: Path) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", TAKE_ALL, str(file)]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def test_process_takes_each_slot_once(tmp_path: Path) -> None:
    slots = MachineSlots(tmp_path / "slots", 3)
    assert [slots.take() for _ in range(4)] == [0, 1, 2, None]
    assert slots.is_full()
    slots.free(1)
    assert not slots.is_full()
    assert slots.take() == 1


def test_processes_share_slots_and_a_killed_process_frees_its_own(tmp_path: Path) -> None:
    ours = MachineSlots(tmp_path / "slots", 8)
    assert [ours.take(), ours.take(), ours.take()] == [0, 1, 2]
    with start(tmp_path / "slots") as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "5\n"
        assert ours.is_full()
        other.kill()
        other.wait()
    assert not ours.is_full()
