"""The book's own claims in the ledger: each registered one a line, by what its page says of it."""

from sci_book.papers.sci import dial, dial_predictions
from sci_book.papers.sci.chapters import own_rules
from sci_book.pipeline import own_claims
from sci_book.results.records import write_records
from tests.papers.sci.test_dial import twin_records


def test_every_registered_claim_has_a_line_with_its_pages_verdict(subjects, tmp_path):
    trainings = tmp_path / "dial"
    for seed, each in enumerate(dial.trainings()):
        write_records(trainings / f"{each.name}.parquet", twin_records(seed))
    lines = own_claims.claim_lines(subjects, tmp_path, trainings).set_index("id")
    outcomes = dial_predictions.outcomes(dial.samples_of(dial.read_dial(trainings)))
    of_dial = lines[lines["page"] == "dial"]
    assert of_dial["verdict"].to_dict() == outcomes["verdict"].to_dict()
    assert of_dial["claims"].str.contains(r"\d\.\d{3} \[.*\], claimed [<>] ").all()
    for line in lines.itertuples():  # the scoreboard marks each interval with its key
        assert line.claims.count("[") == len(line.ends)
        assert all(each in line.claims and each.key for each in line.ends)
    judged = own_rules.claims(own_rules.judged(own_rules.models(subjects, tmp_path)))
    of_rules = lines[lines["page"] == "own_rules"]
    assert of_rules["verdict"].to_dict() == {claim.id: claim.verdict for claim in judged}
    registered = [each["id"] for each in own_rules.load_predictions()["predictions"]]
    assert list(of_rules.index) == [*registered, "lite-is-cheap"]
    assert "no model has the records" in of_rules.loc["lite-loses-nothing", "claims"]
