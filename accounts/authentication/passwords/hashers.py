"""Hash passwords with Argon2, one at a time and without slowing down the API."""

from django.contrib.auth import hashers

from accounts.authentication.passwords import hash_queue
from accounts.authentication.passwords.hash_process import Job


class Argon2PasswordHasher(hashers.Argon2PasswordHasher):
    """Argon2id at the minimum of OWASP's Password Storage Cheat Sheet: 28 ms of CPU and 19 MiB.

    Django's own parameters cost 246 ms and 100 MiB, which lets a few strangers occupy a machine.
    A hash with other parameters is replaced at the next sign-in.
    """

    time_cost = 2
    memory_cost = 19 * 1024
    parallelism = 1

    def encode(self, password: str, salt: str) -> str:
        params = self.params()
        job: Job = {
            "secret": password,
            "salt": salt,
            "time_cost": params.time_cost,
            "memory_cost": params.memory_cost,
            "parallelism": params.parallelism,
            "hash_len": params.hash_len,
        }
        return f"{self.algorithm}{hash_queue.run(job)}"

    def verify(self, password: str, encoded: str) -> bool:
        _, _, argon2_hash = encoded.partition("$")
        is_correct = hash_queue.run({"secret": password, "hash": f"${argon2_hash}"})
        if is_correct:
            # If Django replaces the hash now, it does so for a user who has signed in.
            hash_queue.for_stranger.set(False)
        return bool(is_correct)
