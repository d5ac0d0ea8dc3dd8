from tests.support.engine_dns import fake_dns

__all__ = ["fake_dns"]
