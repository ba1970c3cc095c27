"""The book's own claims in the ledger: each registered one a line, by what its page says of it."""

from sci_book.papers.sci.chapters import own_rules
from sci_book.pipeline import own_claims


def test_every_registered_claim_has_a_line_with_its_pages_verdict(subjects, tmp_path):
    lines = own_claims.claim_lines(subjects, tmp_path).set_index("id")
    for line in lines.itertuples():  # the scoreboard marks each interval with its key
        assert line.claims.count("[") == len(line.ends)
        assert all(each in line.claims and each.key for each in line.ends)
    judged = own_rules.claims(own_rules.judged(own_rules.models(subjects, tmp_path)))
    of_rules = lines[lines["page"] == "own_rules"]
    assert of_rules["verdict"].to_dict() == {claim.id: claim.verdict for claim in judged}
    registered = [each["id"] for each in own_rules.load_predictions()["predictions"]]
    assert list(of_rules.index) == [*registered, "lite-is-cheap"]
    assert "no model has the records" in of_rules.loc["lite-loses-nothing", "claims"]
