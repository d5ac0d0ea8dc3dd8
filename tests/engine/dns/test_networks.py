"""Which addresses a public mail server can have."""

import pytest

from engine.dns.networks import is_public

pytestmark = pytest.mark.anywhere


def _split(text: str) -> list[str]:
    return text.split()


NOT_PUBLIC = _split("""
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 127.0.0.1
127.255.255.254 168.63.129.16 169.254.0.1 169.254.169.254 169.254.170.2 172.16.0.1 172.31.255.255
192.0.0.1 192.0.0.8 192.0.0.170 192.0.2.1 192.31.196.1 192.52.193.1 192.88.99.1 192.168.0.1
192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 239.255.255.255 240.0.0.1
255.255.255.255
:: ::1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:8.8.8.8 ::ffff:0:8.8.8.8
64:ff9b::7f00:1 64:ff9b::a9fe:a9fe 64:ff9b::808:808 64:ff9b:1::1 100::1 100:0:0:1::1 2001::1
2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2002:7f00:1::1 2002:a9fe:a9fe::1 2620:4f:8000::1
2000::1 2d00::1 3000::1 3ffe::1
3fff::1 3fff:fff::1 4000::1 5f00::1 fc00::1 fd00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1
fe80::1%eth0 2606:4700::1%eth0
localhost 127.1 0x7f000001 2130706433 8.8.8.8.8 01.1.1.1
""")
PUBLIC = _split("""
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.1
168.63.129.17 169.253.255.255 172.15.255.255 172.32.0.0 192.0.1.1 192.167.255.255 192.169.0.0
198.17.255.255 198.20.0.0 223.255.255.255
2001:200::1 2001:4860:4860::8888 2003::1 2400:cb00::1 2606:4700::1 2a00:1450::1
""")


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_special_purpose_address_is_not_public(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_ordinary_address_is_public(address: str) -> None:
    assert is_public(address)
