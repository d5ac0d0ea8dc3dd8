from validation.models import Replay


def delete_old_replays() -> None:
    Replay.objects.outdated().delete()
