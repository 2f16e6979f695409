"""Genetic algorithm that finds the fittest weights for documents [S3 step 7; methods §4].

An individual is a vector of float weights with length 1. Its fitness is its mean inner product with
the feedback documents. The source does not specify these points:

- The first generation consists of the topic, the documents, and samples of these (with
  replacement).
- All generations have the same size; the fittest individual of all generations is the result.
- *Expansion*: an individual gets a term of a document that it lacks, with a random weight.
- If the mean fitness falls, the generation is rebuilt from the same parents with half of
  ``crossover`` and ``mutation``, up to ``strategy_changes`` times in total; then the search ends.

Since an inner product is linear, the centroid of the documents has the maximum fitness. The
algorithm approaches it with fewer terms; tests check this bound.
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
    """Parameters of the genetic algorithm; the source gives no values.

    Attributes:
        population: Number of individuals per generation, at least 2.
        generations: Maximum number of generations.
        crossover: Probability Pc of a crossover per pair of parents, in [0, 1].
        mutation: Probability Pm of a random gene per individual, in [0, 1].
        expansion: Probability of an expansion per individual, in [0, 1].
        strategy_changes: How often Pc and Pm may be halved after the mean fitness fell.
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
        fitness: Mean inner product with the documents, in [0, 1].
        means: Mean fitness of each accepted generation, not decreasing.
    """

    weights: Floats
    fitness: float
    means: tuple[float, ...]


def fittest(
    documents: Floats, topic: Floats, parameters: GeneticParameters, rng: np.random.Generator
) -> Fittest:
    """Run the genetic algorithm and return the fittest weights.

    Args:
        documents: Feedback documents, shape (documents, genes), at least 0, rows of norm 1.
        topic: Weights of the current topic, shape (genes,); part of the first generation.
        parameters: Sizes and probabilities.
        rng: Random generator.

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
    """One run of the algorithm, with genes in descending order of their mean weight.

    The order keeps important genes together in crossovers.

    Args:
        documents: See ``fittest``; with ordered genes.
        parameters: Sizes and probabilities.
        rng: Random generator.
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
        """Return the mean inner product of each individual with the documents."""
        return np.asarray(individuals @ self._centroid)

    def evolve(self, topic: Floats) -> tuple[Floats, tuple[float, ...]]:
        """Return the fittest individual and the mean fitness of each accepted generation."""
        generation = self._initial(topic)
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

    def _initial(self, topic: Floats) -> Floats:
        pool = _unit(np.vstack([topic, self.documents]))
        size = self.parameters.population
        drawn = self.rng.integers(len(pool), size=max(0, size - len(pool)))
        return np.vstack([pool, pool[drawn]])[:size]

    def _next(self, generation: Floats, fitness: Floats) -> Floats:
        children = self._select(generation, fitness)
        self._cross(children)
        self._mutate(children)
        self._expand(children)
        return _unit(children)

    def _select(self, generation: Floats, fitness: Floats) -> Floats:
        """Select parents with probabilities proportional to their fitness."""
        total = fitness.sum()
        shares = fitness / total if total > 0 else np.full(len(fitness), 1 / len(fitness))
        return generation[self.rng.choice(len(generation), size=len(generation), p=shares)]

    def _cross(self, children: Floats) -> None:
        """Apply one-point crossover to pairs."""
        genes = children.shape[1]
        for first in range(0, len(children) - 1, 2):
            if genes > 1 and self.rng.random() < self.crossover:
                point = self.rng.integers(1, genes)
                children[[first, first + 1], point:] = children[[first + 1, first], point:]

    def _mutate(self, children: Floats) -> None:
        """Set a random gene of random individuals to a random number in [0, 1)."""
        rows = np.flatnonzero(self.rng.random(len(children)) < self.mutation)
        genes = self.rng.integers(children.shape[1], size=len(rows))
        children[rows, genes] = self.rng.random(len(rows))

    def _expand(self, children: Floats) -> None:
        """Add the largest lacking term of a random document, with a random weight."""
        for row in np.flatnonzero(self.rng.random(len(children)) < self.parameters.expansion):
            document = self.documents[self.rng.integers(len(self.documents))]
            lacking = np.where(children[row] > 0, 0.0, document)
            gene = lacking.argmax()
            children[row, gene] = self.rng.random() * lacking[gene]


def _unit(rows: Floats) -> Floats:
    """Scale rows to length 1; rows of zeros are unchanged."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(norms > 0, norms, 1.0))
