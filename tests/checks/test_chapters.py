"""The chapters of a report: those of the ledger, each with a title, and a last one for claims from elsewhere."""

from sympy import Integer

from checks import Identity, claim
from checks.chapters import OTHERS, TITLES, by_chapter
from checks.ledger import CHAPTERS, LEDGER

OWN = claim(id="own", statement="1 = 1", evidence=[Identity(derivation=Integer(1), claimed=1)])


def test_every_chapter_of_the_ledger_has_a_title_of_its_own():
    assert list(TITLES) == list(CHAPTERS)
    assert len({*TITLES.values(), OTHERS}) == len(TITLES) + 1


def test_every_claim_stands_in_its_chapter(unjudged):
    found = by_chapter(unjudged([OWN, *LEDGER.values()]))
    for name, title in TITLES.items():
        assert [one.id for one in found[title]] == [one.id for one in CHAPTERS[name]]
    assert [one.id for one in found[OTHERS]] == ["own"]


def test_a_chapter_without_claims_is_left_out(unjudged):
    assert list(by_chapter(unjudged([LEDGER["depth-rate"]]))) == [TITLES["depth"]]
