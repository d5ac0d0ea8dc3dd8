"""The vote of public lists on disposable domains."""

from dataclasses import replace

import pytest

from validation.domain_data.vote_measures import find_widely_listed, measure
from validation.domain_data.votes import NameList, count_votes, elect, find_unseconded

pytestmark = pytest.mark.anywhere

# So many names of its own that no other list in these tests copies a list.
FILLING = 1000


def name_list(
    package: str, *names: str, is_curated: bool = False, copied: frozenset[str] = frozenset()
) -> NameList:
    own = {f"{number}.{package}" for number in range(FILLING)}
    return NameList(package, package, copied.union(own, names), is_curated)


def test_name_on_three_independent_lists_is_elected() -> None:
    lists = [name_list(package, "burner.com") for package in ("a", "b", "c")]
    assert elect(lists) == {"burner.com"}


def test_name_on_two_lists_is_not_elected() -> None:
    lists = [name_list("a", "shop.com"), name_list("b", "shop.com"), name_list("c")]
    assert elect(lists) == frozenset()


def test_name_on_a_curated_list_and_another_is_elected() -> None:
    lists = [name_list("a", "burner.com", is_curated=True), name_list("b", "burner.com")]
    assert elect(lists) == {"burner.com"}


def test_name_on_a_curated_list_only_is_not_elected() -> None:
    assert elect([name_list("a", "shop.com", is_curated=True), name_list("b")]) == frozenset()


def test_copied_names_get_one_vote() -> None:
    original = name_list("a", "shop.com")
    copies = [name_list(package, copied=original.names) for package in ("b", "c")]
    assert count_votes([original, *copies])["shop.com"] == 1


def test_copy_votes_on_the_names_that_it_adds() -> None:
    original = name_list("a", "shop.com")
    copy = name_list("b", "burner.com", copied=original.names)
    votes = count_votes([original, copy, name_list("c", "burner.com")])
    assert votes["burner.com"] == 2


def test_known_copy_votes_only_on_names_that_the_original_lacks() -> None:
    """The original has dropped most of the names that were copied."""
    original = name_list("a", "shop.com")
    copy = replace(name_list("b", "shop.com", "burner.com"), copies=frozenset({"a"}))
    votes = count_votes([original, copy, name_list("c", "shop.com", "burner.com")])
    assert (votes["shop.com"], votes["burner.com"]) == (2, 2)


def test_lists_that_share_a_part_of_their_names_vote_separately() -> None:
    original = name_list("a", "shop.com")
    part = frozenset(sorted(original.names)[: FILLING // 2])
    votes = count_votes([original, name_list("b", "shop.com", copied=part)])
    assert votes["shop.com"] == 2


def test_curated_name_that_no_other_list_has_is_unseconded() -> None:
    lists = [
        name_list("a", "alone.com", "seconded.com", "new.com", is_curated=True),
        name_list("b", "seconded.com"),
    ]
    earlier = frozenset({"alone.com", "seconded.com"})
    assert find_unseconded(earlier, lists) == {"alone.com"}


def test_lists_of_one_family_count_once_among_the_widely_listed() -> None:
    lists = [NameList(f"p{number}", "same", frozenset({"shop.com"})) for number in range(9)]
    others = [
        NameList(f"o{number}", f"o{number}", frozenset({"burner.com"})) for number in range(5)
    ]
    assert find_widely_listed([*lists, *others]) == {"burner.com"}


def test_known_copy_is_left_out_of_the_count_of_widely_listed_names() -> None:
    lists = [NameList(f"o{number}", f"o{number}", frozenset({"shop.com"})) for number in range(5)]
    copy = replace(lists[4], copies=frozenset({"o1"}))
    assert find_widely_listed(lists) == {"shop.com"}
    assert find_widely_listed([*lists[:4], copy]) == frozenset()


def test_measures_compare_cutoffs_and_leave_out_each_family() -> None:
    lists = [name_list(package, "burner.com") for package in ("a", "b", "c", "d", "e")]
    lists[0] = name_list("a", "burner.com", "gmail.com", is_curated=True)
    lists[1] = name_list("b", "burner.com", "gmail.com")
    measures = {one.vote: one for one in measure(lists, frozenset({"gmail.com"}))}
    assert [vote for vote in measures if vote.startswith("cutoff")] == [
        *("cutoff 2", "cutoff 3, in use", "cutoff 4"),
    ]
    in_use, without = measures["cutoff 3, in use"], measures["without a"]
    assert (in_use.elected, in_use.recall, in_use.own_recall, in_use.protected) == (2, 1, None, 1)
    assert (without.elected, without.recall, without.protected) == (1, 1, 0)
    assert without.own_recall == 1 / len(lists[0].names)
