"""Tests of the genetic search for a topic vector."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from topiccrawl.addons.adaptation.genetic import GeneticParameters, fittest


def documents_of(seed: int, count: int, genes: int) -> np.ndarray:
    rows = np.random.default_rng(seed).random((count, genes)) ** 4
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


@given(st.integers(0, 10_000), st.integers(1, 12), st.integers(1, 20))
def test_fittest_vector_is_normalized_and_within_its_bounds(
    seed: int, count: int, genes: int
) -> None:
    documents = documents_of(seed, count, genes)
    topic = documents[0]
    found = fittest(documents, topic, GeneticParameters(), np.random.default_rng(seed))
    centroid = documents.mean(axis=0)
    assert np.linalg.norm(found.weights) == pytest.approx(1.0)
    assert (found.weights >= 0).all()
    assert found.fitness == pytest.approx(float(found.weights @ centroid))
    assert found.fitness >= (documents @ centroid).max() - 1e-9
    assert found.fitness <= np.linalg.norm(centroid) + 1e-9


def test_result_is_fitter_than_every_document() -> None:
    documents = documents_of(3, 20, 60)
    found = fittest(documents, documents[0], GeneticParameters(), np.random.default_rng(1))
    alone = float((documents @ documents.mean(axis=0)).max())
    assert found.fitness > alone


def test_result_depends_on_the_random_seed_only() -> None:
    documents = documents_of(5, 10, 30)
    runs = [
        fittest(documents, documents[0], GeneticParameters(), np.random.default_rng(seed))
        for seed in (1, 1, 2)
    ]
    assert runs[0].weights.tolist() == runs[1].weights.tolist()
    assert runs[0].weights.tolist() != runs[2].weights.tolist()


def test_mean_fitness_rises_and_generations_are_limited() -> None:
    parameters = GeneticParameters(generations=7)
    documents = documents_of(8, 20, 40)
    means = fittest(documents, documents[0], parameters, np.random.default_rng(1)).means
    assert list(means) == sorted(means)
    assert 2 <= len(means) <= 8


def test_result_without_operators_is_a_document() -> None:
    parameters = GeneticParameters(crossover=0, mutation=0, expansion=0)
    documents = documents_of(2, 6, 9)
    found = fittest(documents, documents[1], parameters, np.random.default_rng(4))
    assert any(np.allclose(found.weights, document) for document in documents)


def test_expansion_adds_terms_missing_from_the_topic() -> None:
    documents = np.array([[0.0, 1.0]])
    topic = np.array([1.0, 0.0])
    parameters = GeneticParameters(crossover=0, mutation=0, expansion=1)
    found = fittest(documents, topic, parameters, np.random.default_rng(1))
    assert found.fitness == pytest.approx(1.0)
