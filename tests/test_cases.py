import pytest

from tests.support.cases import all_cases


def test_every_case_is_run_and_the_error_says_which_failed():
    """The first error is raised, with the others' names."""
    run = []

    @all_cases("number", range(1, 6))
    def holds(number):
        run.append(number)
        assert number % 2, f"{number} is even"

    with pytest.raises(AssertionError, match="2 is even") as failure:
        holds()
    assert run == [1, 2, 3, 4, 5]
    assert failure.value.__notes__ == ["failed: 2, 4"]


@all_cases("number", [1, 2])
def test_fixtures_are_passed_on(number, tmp_path):
    (tmp_path / str(number)).mkdir()
    assert len(list(tmp_path.iterdir())) == number


def test_no_case_is_no_test():
    with pytest.raises(AssertionError):
        all_cases("number", [])
