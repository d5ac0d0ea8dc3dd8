import re

import pytest

from accounts.models import User
from tests.conftest import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.anywhere]


def test_navigation_marks_the_current_page(owner: User) -> None:
    page = signed_in(owner).get("/accounts/team/").content.decode()
    marked = set(re.findall(r'<a\s+href="([^"]+)"\s+aria-current="page"', page))
    assert marked == {"/accounts/team/"}
