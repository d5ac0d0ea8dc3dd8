"""The vote of public lists on disposable domains."""

from dataclasses import replace

from tools.domain_data.counting import NameList, count_votes, elect, elect_verified, find_unseconded

# So many names of its own that no other list in these tests copies a list.
FILLING = 1000


def name_list(
    package: str, *names: str, is_curated: bool = False, copied: frozenset[str] = frozenset()
) -> NameList:
    own = {f"{number}.{package}" for number in range(FILLING)}
    return NameList(package, package, copied.union(own, names), is_curated)


def test_name_needs_three_independent_lists_or_a_curated_one_and_another() -> None:
    lists = [name_list(package, "burner.com") for package in ("a", "b", "c")]
    assert elect(lists) == {"burner.com"}
    lists = [name_list("a", "shop.com"), name_list("b", "shop.com"), name_list("c")]
    assert elect(lists) == frozenset()
    lists = [name_list("a", "burner.com", is_curated=True), name_list("b", "burner.com")]
    assert elect(lists) == {"burner.com"}
    assert elect([name_list("a", "shop.com", is_curated=True), name_list("b")]) == frozenset()


VERIFIED = NameList(
    "v", "v", frozenset({"burner.com", "shop.com", "a.free.com", "curated.com"}), is_verified=True
)


def elect_alive(*lists: NameList) -> frozenset[str]:
    return elect_verified([*lists, VERIFIED], lambda name: name == "a.free.com")


def test_name_that_accepts_mail_needs_two_lists() -> None:
    assert elect_alive(name_list("a", "burner.com"), name_list("b", "burner.com")) == {"burner.com"}
    assert elect_alive(name_list("a", "shop.com", "dead.com"), name_list("b", "dead.com")) == set()


def test_one_list_is_enough_for_a_curated_or_likely_name_that_accepts_mail() -> None:
    lists = [name_list("a", "curated.com", is_curated=True), name_list("b", "a.free.com")]
    assert elect_alive(*lists) == {"curated.com", "a.free.com"}


def test_lists_that_are_unreviewed_or_verified_themselves_are_no_evidence() -> None:
    unreviewed = replace(name_list("a", "shop.com", "a.free.com"), is_reviewed=False)
    assert elect_alive(unreviewed, name_list("b", "shop.com")) == {"a.free.com"}
    copy = replace(name_list("c", "shop.com"), family="v")
    assert elect_alive(copy, name_list("b", "shop.com")) == set()
    assert elect([name_list("b", "shop.com"), name_list("c", "shop.com"), VERIFIED]) == set()


def test_copy_votes_only_on_the_names_that_it_adds() -> None:
    original = name_list("a", "shop.com")
    copies = [name_list(package, copied=original.names) for package in ("b", "c")]
    assert count_votes([original, *copies])["shop.com"] == 1
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
