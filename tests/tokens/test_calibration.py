from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from threadline.messages.dialects import decode
from threadline.tokens import Measure, calibrate, calibration_factor, counter_for
from threadline.tokens.calibration import ENOUGH_TO_LOWER, FACTOR_RANGE

OBSERVATIONS = st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)), max_size=20)


def test_reported_usage_above_the_estimate_raises_it_at_once():
    assert calibration_factor([(1_000, 1_200)]) == pytest.approx(1.2)


def test_the_factor_is_the_median_so_that_one_odd_reply_does_not_move_it():
    assert calibration_factor([(1_000, 1_100), (2_000, 2_200), (1_000, 9_000)]) == pytest.approx(1.1)


def test_few_observations_never_lower_an_estimate():
    low = [(1_000, 800)] * (ENOUGH_TO_LOWER - 1)
    assert calibration_factor(low) == 1.0
    assert calibration_factor([*low, (1_000, 800)]) == pytest.approx(0.8)


def test_tiny_and_empty_requests_tell_nothing():
    assert calibration_factor([]) == 1.0
    assert calibration_factor([(10, 40), (0, 10), (1_000, 0)]) == 1.0


@given(OBSERVATIONS)
def test_the_factor_stays_in_its_range(observations):
    assert FACTOR_RANGE[0] <= calibration_factor(observations) <= FACTOR_RANGE[1]


@given(OBSERVATIONS, st.randoms(use_true_random=False))
def test_the_order_of_observations_does_not_matter(observations, rng: random.Random):
    shuffled = rng.sample(observations, len(observations))
    assert calibration_factor(shuffled) == calibration_factor(observations)


def test_a_calibrated_counter_is_no_longer_exact_and_names_its_factor():
    counter = calibrate(counter_for("gpt-4o"), [(1_000, 1_250)])
    assert counter.factor == 1.25
    assert not counter.exact
    assert "1.25" in counter.name
    assert counter.count(["hello world", ""]) == [3, 0]


def test_a_calibrated_measure_is_a_new_one_that_records_its_factor():
    measure = Measure("claude-opus-5")
    calibrated = calibrate(measure, [(1_000, 900)] * ENOUGH_TO_LOWER)
    assert (measure.factor, calibrated.factor) == (1.0, pytest.approx(0.9))
    assert calibrated.profile is measure.profile
    assert calibrated.text("word " * 1_000) < measure.text("word " * 1_000)


def test_calibrating_again_builds_on_the_factor_already_learnt():
    once = calibrate(Measure(), [(1_000, 1_200)])
    assert calibrate(once, [(1_200, 1_320)]).factor == pytest.approx(1.32)


def test_factors_do_not_pile_up_beyond_the_range():
    measure = Measure()
    for _ in range(5):
        measure = calibrate(measure, [(1_000, 1_900)])
    assert measure.factor == FACTOR_RANGE[1]


def test_estimates_meet_reported_usage_after_calibration():
    request = decode([{"role": "user", "content": "a few plain words " * 200}])
    measure = Measure("claude-opus-5")
    estimated = measure.request(request).total
    reported = round(estimated * 0.85)
    calibrated = calibrate(measure, [(estimated, reported)] * ENOUGH_TO_LOWER)
    assert calibrated.request(request).total == pytest.approx(reported, abs=2)
