"""The fittest weights for a set of documents, by a genetic algorithm [S3 step 7; methods §4].

An individual is a vector of weights, coded as floats and of length 1. Its fitness is its mean
inner product with the feedback documents. What the source leaves open:

- The first generation is the documents themselves and the topic, drawn with replacement.
- A generation has as many individuals as the first; the fittest one of all is the result.
- *Expansion*: an individual gets a term of one document that it lacks, with a random weight.
- The mean fitness fell: the generation is made once more from the same parents with half of
  ``crossover`` and ``mutation``, ``strategy_changes`` times in all; then it ends.

No weights are fitter than the documents' centroid, for an inner product is linear: the algorithm
comes near it from below, with fewer terms. Tests hold it against that bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GeneticParameters:
    """Numbers of the genetic algorithm; the source gives none.

    Attributes:
        population: Individuals of a generation, at least 2.
        generations: At most so many.
        crossover: Pc, probability that a pair of parents exchanges its tails, [0, 1].
        mutation: Pm, probability that one gene of an individual becomes a random number, [0, 1].
        expansion: Probability that an individual gets a term of a document that it lacks, [0, 1].
        strategy_changes: How often Pc and Pm are halved when the mean fitness fell.
    """

    population: int = 40
    generations: int = 40
    crossover: float = 0.8
    mutation: float = 0.05
    expansion: float = 0.1
    strategy_changes: int = 2


class Fittest(NamedTuple):
    """Result of the algorithm.

    Attributes:
        weights: The fittest individual, shape (genes,), at least 0, L2 norm 1 (or all 0).
        fitness: Its mean inner product with the documents, in [0, 1].
        means: Mean fitness of each generation that was accepted, never falling.
    """

    weights: Floats
    fitness: float
    means: tuple[float, ...]


def fittest(
    documents: Floats, topic: Floats, parameters: GeneticParameters, rng: np.random.Generator
) -> Fittest:
    """The fittest weights found.

    Args:
        documents: Feedback documents, shape (documents, genes), at least 0, rows of norm 1.
        topic: The present topic's weights, shape (genes,); takes part in the first generation.
        parameters: Sizes and probabilities.
        rng: Source of chance; the same one gives the same result.

    >>> documents = np.array([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]])
    >>> found = fittest(documents, documents[0], GeneticParameters(), np.random.default_rng(1))
    >>> found.fitness > 0.8
    True
    """
    order = np.argsort(-documents.mean(axis=0), kind="stable")
    run = _Evolution(documents[:, order], parameters, rng)
    weights, means = run.evolve(topic[order])
    found = np.zeros_like(topic, dtype=np.float64)
    found[order] = weights
    return Fittest(found, float(run.fitness(weights[None, :])[0]), means)


class _Evolution:
    """One run; genes are ordered by descending mean weight, so that the heavy ones stay together.

    Args:
        documents: As in ``fittest``, ordered.
        parameters: As there.
        rng: As there.
    """

    def __init__(
        self, documents: Floats, parameters: GeneticParameters, rng: np.random.Generator
    ) -> None:
        self.documents = documents
        self.parameters = parameters
        self.rng = rng
        self.crossover = parameters.crossover
        self.mutation = parameters.mutation
        self._centroid = documents.mean(axis=0)

    def fitness(self, individuals: Floats) -> Floats:
        """Mean inner product of each individual with the documents."""
        return np.asarray(individuals @ self._centroid)

    def evolve(self, topic: Floats) -> tuple[Floats, tuple[float, ...]]:
        """Return the fittest individual of all generations, and the generations' mean fitness."""
        generation = self._first(topic)
        fitness = self.fitness(generation)
        best, means, changes = generation[fitness.argmax()], [fitness.mean()], 0
        for _ in range(self.parameters.generations):
            children = self._next(generation, fitness)
            scores = self.fitness(children)
            if scores.max() > self.fitness(best[None, :])[0]:
                best = children[scores.argmax()]
            if scores.mean() < means[-1]:
                if changes == self.parameters.strategy_changes:
                    break
                changes += 1
                self.crossover, self.mutation = self.crossover / 2, self.mutation / 2
                continue
            generation, fitness = children, scores
            means.append(fitness.mean())
        return best, tuple(map(float, means))

    def _first(self, topic: Floats) -> Floats:
        pool = _unit(np.vstack([topic, self.documents]))
        size = self.parameters.population
        drawn = self.rng.integers(len(pool), size=max(0, size - len(pool)))
        return np.vstack([pool, pool[drawn]])[:size]

    def _next(self, generation: Floats, fitness: Floats) -> Floats:
        children = self._selected(generation, fitness)
        self._cross(children)
        self._mutate(children)
        self._expand(children)
        return _unit(children)

    def _selected(self, generation: Floats, fitness: Floats) -> Floats:
        """Parents by roulette: each as likely as its share of the fitness."""
        total = fitness.sum()
        shares = fitness / total if total > 0 else np.full(len(fitness), 1 / len(fitness))
        return generation[self.rng.choice(len(generation), size=len(generation), p=shares)]

    def _cross(self, children: Floats) -> None:
        """One point a pair: all behind it is exchanged."""
        genes = children.shape[1]
        for first in range(0, len(children) - 1, 2):
            if genes > 1 and self.rng.random() < self.crossover:
                point = self.rng.integers(1, genes)
                children[[first, first + 1], point:] = children[[first + 1, first], point:]

    def _mutate(self, children: Floats) -> None:
        """A random gene of random individuals becomes a number in [0, 1)."""
        rows = np.flatnonzero(self.rng.random(len(children)) < self.mutation)
        genes = self.rng.integers(children.shape[1], size=len(rows))
        children[rows, genes] = self.rng.random(len(rows))

    def _expand(self, children: Floats) -> None:
        """A term of a document that an individual lacks, the heaviest one, with a random weight."""
        for row in np.flatnonzero(self.rng.random(len(children)) < self.parameters.expansion):
            document = self.documents[self.rng.integers(len(self.documents))]
            lacking = np.where(children[row] > 0, 0.0, document)
            gene = lacking.argmax()
            children[row, gene] = self.rng.random() * lacking[gene]


def _unit(rows: Floats) -> Floats:
    """Rows of length 1; rows of zeros stay."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1.0))
