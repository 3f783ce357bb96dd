# Written by scripts/method_table.py: do not edit.
from typing import Literal

from fairfr import metrics as metrics
from fairfr.auditing.audit import audit as audit
from fairfr.auditing.evaluate import evaluate as evaluate
from fairfr.comparing.compare import compare as compare
from fairfr.core.errors import ConfigError as ConfigError
from fairfr.core.errors import DataError as DataError
from fairfr.core.errors import FairfrError as FairfrError
from fairfr.core.errors import FairfrWarning as FairfrWarning
from fairfr.core.errors import MethodError as MethodError
from fairfr.core.errors import StorageError as StorageError
from fairfr.core.errors import UndeclaredInputError as UndeclaredInputError
from fairfr.core.errors import UnmetNeedError as UnmetNeedError
from fairfr.core.extras import MissingExtraError as MissingExtraError
from fairfr.library.method_classes import as_model as as_model
from fairfr.library.model import Model as Model
from fairfr.library.model_file import load as load
from fairfr.library.pair_classifier import PairClassifier as PairClassifier
from fairfr.stored.frame import results as results
from fairfr.stored.frame import runs as runs

__version__: str

class ACCohort(Model):
    """AC-Hinge on a cosine normalised by each image's highest cosines to a cohort.

    Parameters
    ----------
    share : float, default 0.02
        The share of an image's cosines to the cohort that count: the highest ones.
    floor : float, default 0.1
        No image's mean is taken to be below this quantile of the training images' means; 0 switches it off.
    most : int, default 5000
        Draw at most so many images as cohort.
    cohort : {"train", "external", "both"}, default "train"
        The images of the training pairs, other unlabelled images of the same network, or both.
    keep : {"vectors", "mixture"}, default "vectors"
        What is kept of the cohort: its face vectors, or a mixture of normal distributions without any.
    """

    share: float
    floor: float
    most: int
    cohort: Literal["train", "external", "both"]
    keep: Literal["vectors", "mixture"]
    def __init__(
        self,
        *,
        share: float = 0.02,
        floor: float = 0.1,
        most: int = 5000,
        cohort: Literal["train", "external", "both"] = "train",
        keep: Literal["vectors", "mixture"] = "vectors",
    ) -> None: ...

class ACDensity(Model):
    """p = clip(p_base(s) + ridge([m, rho, s]), 0, 1).

    Parameters
    ----------
    k : int, default 20
        How many nearest reference midpoints the local density is the mean distance to.
    alpha : float, default 1.0
        Strength of the ridge penalty.
    C : float, default 1.0
        Inverse strength of the L2 penalty of the Platt base, as in scikit-learn.
    self_neighbour : bool, default True
        Whether a training pair counts among its own neighbours while fitting, as published.
    engine : {"auto", "scan", "faiss"}, default "auto"
        How neighbours are searched. All engines find the same ones; they differ in time.
    max_references : int or None, default None
        Draw at most this many training pairs as references; None takes all.
    """

    k: int
    alpha: float
    C: float
    self_neighbour: bool
    engine: Literal["auto", "scan", "faiss"]
    max_references: int | None
    def __init__(
        self,
        *,
        k: int = 20,
        alpha: float = 1.0,
        C: float = 1.0,
        self_neighbour: bool = True,
        engine: Literal["auto", "scan", "faiss"] = "auto",
        max_references: int | None = None,
    ) -> None: ...

class ACHinge(Model):
    """logit p = b + a t + c max(t, 0)^2 + w . (x_left + x_right) / 2."""

    def __init__(self) -> None: ...

class ACLinear(Model):
    """p = sigmoid(w . [m, s] + b).

    Parameters
    ----------
    C : float, default 1.0
        Inverse strength of the L2 penalty, as in scikit-learn: larger values shrink the weights less.
    solver : {"sklearn", "converged"}, default "sklearn"
        Where the optimiser stops: where scikit-learn's default stops, or at the optimum.
    """

    C: float
    solver: Literal["sklearn", "converged"]
    def __init__(
        self,
        *,
        C: float = 1.0,
        solver: Literal["sklearn", "converged"] = "sklearn",
    ) -> None: ...

class ACMLP(Model):
    """p = sigmoid(MLP([m / |m|, s])).

    Parameters
    ----------
    hidden : int, default 1024
        Units of the hidden layer.
    epochs : int, default 5
        How often training goes through all pairs.
    batch : int, default 512
        Pairs in one optimiser step.
    learning_rate : float, default 0.001
        Of Adam.
    min_steps : int, default 0
        Add whole epochs until there are this many optimiser steps.
    """

    hidden: int
    epochs: int
    batch: int
    learning_rate: float
    min_steps: int
    def __init__(
        self,
        *,
        hidden: int = 1024,
        epochs: int = 5,
        batch: int = 512,
        learning_rate: float = 0.001,
        min_steps: int = 0,
    ) -> None: ...

class Baseline(Model):
    """The cosine itself."""

    def __init__(self) -> None: ...

class Beta(Model):
    """p = sigmoid(a ln u - b ln(1 - u) + c).

    Parameters
    ----------
    variant : {"constrained", "unconstrained"}, default "constrained"
        As published (a, b >= 0, cosines from -1 to 1), or as the Adaptive Calibration paper describes it (free a and b,
        range of the training cosines).
    solver : {"sklearn", "converged"}, default "sklearn"
        Where the optimiser stops: where scikit-learn's default stops, or at the optimum.
    """

    variant: Literal["constrained", "unconstrained"]
    solver: Literal["sklearn", "converged"]
    def __init__(
        self,
        *,
        variant: Literal["constrained", "unconstrained"] = "constrained",
        solver: Literal["sklearn", "converged"] = "sklearn",
    ) -> None: ...

class ComponentLogistic(Model):
    """p = sigmoid(w . inputs + b).

    Parameters
    ----------
    inputs : tuple of {"midpoint", "density", "cosine"}, default ("midpoint", "cosine")
        What the logistic regression sees.
    C : float, default 1.0
        Inverse strength of the L2 penalty, as in scikit-learn: larger values shrink the weights less.
    k : int, default 20
        How many nearest reference midpoints the local density is the mean distance to.
    self_neighbour : bool, default True
        Whether a training pair counts among its own neighbours while fitting, as published.
    engine : {"auto", "scan", "faiss"}, default "auto"
        How neighbours are searched. All engines find the same ones; they differ in time.
    max_references : int or None, default None
        Draw at most this many training pairs as references; None takes all.
    """

    inputs: tuple[Literal["midpoint", "density", "cosine"], ...]
    C: float
    k: int
    self_neighbour: bool
    engine: Literal["auto", "scan", "faiss"]
    max_references: int | None
    def __init__(
        self,
        *,
        inputs: tuple[Literal["midpoint", "density", "cosine"], ...] = ("midpoint", "cosine"),
        C: float = 1.0,
        k: int = 20,
        self_neighbour: bool = True,
        engine: Literal["auto", "scan", "faiss"] = "auto",
        max_references: int | None = None,
    ) -> None: ...

class DemoNorm(Model):
    """s' = (s - mu) / sigma, by the cosines of one image to a cohort.

    Parameters
    ----------
    variant : {"M1", "M1.1", "M1.2", "M2", "M2.1", "M2.2"}, default "M1.1"
        Whose impostor scores normalise a pair, as listed above.
    people : int or None, default None
        People of each group in the cohort; None takes the published number of the variant.
    """

    variant: Literal["M1", "M1.1", "M1.2", "M2", "M2.1", "M2.2"]
    people: int | None
    def __init__(
        self,
        *,
        variant: Literal["M1", "M1.1", "M1.2", "M2", "M2.1", "M2.2"] = "M1.1",
        people: int | None = None,
    ) -> None: ...

class DemoNormGroup(Model):
    """One increasing map of the cosine for each group.

    Parameters
    ----------
    variant : {"group", "M4", "M5"}, default "group"
        Which map each group gets, as listed above.
    rule : {"both", "first"}, default "first"
        Which pairs are in a group, in fit and in predict: those with both images in it, or with the first one.
    """

    variant: Literal["group", "M4", "M5"]
    rule: Literal["both", "first"]
    def __init__(
        self,
        *,
        variant: Literal["group", "M4", "M5"] = "group",
        rule: Literal["both", "first"] = "first",
    ) -> None: ...

class FSN(Model):
    """s' = s - (delta_l + delta_r) / 2, delta_k = threshold of cluster k - global threshold.

    Parameters
    ----------
    K : int, default 100
        How many clusters of images k-means makes.
    fpr : float, default 0.05
        False-positive rate at which thresholds are compared.
    n_init : int, default 10
        How many starts of k-means are tried.
    engine : {"faiss", "sklearn"}, default "faiss"
        Which library runs k-means.
    corners : {"source", "all"}, default "source"
        Which points of the ROC curve may be a threshold: its corners alone, as in FairCal's code, or all.
    pick : {"nearest", "reaching"}, default "nearest"
        Which of these points: the one whose rate is nearest to ``fpr``, or the first that reaches it.
    """

    K: int
    fpr: float
    n_init: int
    engine: Literal["faiss", "sklearn"]
    corners: Literal["source", "all"]
    pick: Literal["nearest", "reaching"]
    def __init__(
        self,
        *,
        K: int = 100,
        fpr: float = 0.05,
        n_init: int = 10,
        engine: Literal["faiss", "sklearn"] = "faiss",
        corners: Literal["source", "all"] = "source",
        pick: Literal["nearest", "reaching"] = "nearest",
    ) -> None: ...

class FairCal(Model):
    """p = (n_l mu_l(s) + n_r mu_r(s)) / (n_l + n_r), mu_k the beta map of cluster k.

    Parameters
    ----------
    K : int, default 100
        How many clusters of images k-means makes.
    n_init : int, default 10
        How many starts of k-means are tried.
    engine : {"faiss", "sklearn"}, default "faiss"
        Which library runs k-means.
    """

    K: int
    n_init: int
    engine: Literal["faiss", "sklearn"]
    def __init__(
        self,
        *,
        K: int = 100,
        n_init: int = 10,
        engine: Literal["faiss", "sklearn"] = "faiss",
    ) -> None: ...

class Falcon(Model):
    """score = omega s + (1 - omega) (1 - t^_left - t^_right).

    Parameters
    ----------
    fmr : float, default 0.001
        Share of impostors that reach an image's local threshold.
    omega : float, default 0.75
        Weight of the cosine against the thresholds; 1 is the Baseline.
    kernel : {"linear", "poly2", "poly3", "rbf"}, default "poly3"
        Of the regression of thresholds on embeddings.
    ridge : float, default 0.0001
        Penalty of that regression.
    gamma : float or None, default None
        Scale of the kernel; None is 1 / d.
    max_images : int, default 6000
        Fit the regression on at most this many random training images.
    form : {"weighted", "legacy"}, default "weighted"
        The score above, or the authors' earlier one without omega.
    preset : {"own", "source"}, default "own"
        Whether kernel and ridge are those given here, or the authors' choice for the backbone.
    """

    fmr: float
    omega: float
    kernel: Literal["linear", "poly2", "poly3", "rbf"]
    ridge: float
    gamma: float | None
    max_images: int
    form: Literal["weighted", "legacy"]
    preset: Literal["own", "source"]
    def __init__(
        self,
        *,
        fmr: float = 0.001,
        omega: float = 0.75,
        kernel: Literal["linear", "poly2", "poly3", "rbf"] = "poly3",
        ridge: float = 0.0001,
        gamma: float | None = None,
        max_images: int = 6000,
        form: Literal["weighted", "legacy"] = "weighted",
        preset: Literal["own", "source"] = "own",
    ) -> None: ...

class Frappe(Model):
    """p = sigmoid(a s + b + T(m)).

    Parameters
    ----------
    clusters : int, default 20
        Pseudo-groups that the adversary tries to tell apart.
    strength : float, default 1.0
        Weight of the adversary, lambda of the papers; 0 leaves Platt.
    criterion : {"eo", "dp"}, default "eo"
        Equalised odds (the adversary sees the label), or demographic parity (it does not).
    discrepancy : {"kl", "bce"}, default "kl"
        What keeps the correction in bounds: nearness to the base, or to the labels.
    learning_rate : float, default 5e-05
        Of the correction T.
    adversary_learning_rate : float, default 0.001
        Of the adversary.
    hidden : int, default 64
        Units of T's hidden layer.
    adversary_hidden : int, default 32
        Units of the adversary's hidden layer.
    batch : int, default 512
        Pairs in one optimiser step.
    epochs : int, default 100
        How often training goes through all pairs, at most.
    max_steps : int, default 5000
        Optimiser steps, at most.
    max_clustered : int, default 5000
        Cluster at most this many random training pairs.
    C : float, default 1.0
        Inverse strength of the L2 penalty of the Platt base, as in scikit-learn.
    """

    clusters: int
    strength: float
    criterion: Literal["eo", "dp"]
    discrepancy: Literal["kl", "bce"]
    learning_rate: float
    adversary_learning_rate: float
    hidden: int
    adversary_hidden: int
    batch: int
    epochs: int
    max_steps: int
    max_clustered: int
    C: float
    def __init__(
        self,
        *,
        clusters: int = 20,
        strength: float = 1.0,
        criterion: Literal["eo", "dp"] = "eo",
        discrepancy: Literal["kl", "bce"] = "kl",
        learning_rate: float = 5e-05,
        adversary_learning_rate: float = 0.001,
        hidden: int = 64,
        adversary_hidden: int = 32,
        batch: int = 512,
        epochs: int = 100,
        max_steps: int = 5000,
        max_clustered: int = 5000,
        C: float = 1.0,
    ) -> None: ...

class GST(Model):
    """s' = s - (t_g - t_G), p = beta(s').

    Parameters
    ----------
    fpr : float, default 0.05
        False-positive rate at which thresholds are compared.
    rule : {"both", "first"}, default "both"
        Which pairs are in a group: those with both images in it, or with the first one.
    corners : {"source", "all"}, default "source"
        Which points of the ROC curve may be a threshold: its corners alone, as in FairCal's code, or all.
    """

    fpr: float
    rule: Literal["both", "first"]
    corners: Literal["source", "all"]
    def __init__(
        self,
        *,
        fpr: float = 0.05,
        rule: Literal["both", "first"] = "both",
        corners: Literal["source", "all"] = "source",
    ) -> None: ...

class Isotonic(Model):
    """p = f(s), f non-decreasing."""

    def __init__(self) -> None: ...

class Multicalibration(Model):
    """MCGrad on [logit p_base, cosine, principal components of m].

    Parameters
    ----------
    components : int, default 16
        How many principal components of the midpoints are features.
    C : float, default 1.0
        Inverse strength of the L2 penalty of the Platt base, as in scikit-learn.
    """

    components: int
    C: float
    def __init__(
        self,
        *,
        components: int = 16,
        C: float = 1.0,
    ) -> None: ...

class Oracle(Model):
    """p = beta_g(s).

    Parameters
    ----------
    mixed : {"global", "zero", "first", "combo"}, default "global"
        What becomes of pairs from two groups, as listed above.
    """

    mixed: Literal["global", "zero", "first", "combo"]
    def __init__(
        self,
        *,
        mixed: Literal["global", "zero", "first", "combo"] = "global",
    ) -> None: ...

class Platt(Model):
    """p = sigmoid(a s + b).

    Parameters
    ----------
    C : float, default 1.0
        Inverse strength of the L2 penalty, as in scikit-learn: larger values shrink the weights less.
    smooth_targets : bool, default False
        Smooth the labels as Platt (1999) proposed.
    solver : {"sklearn", "converged"}, default "sklearn"
        Where the optimiser stops: where scikit-learn's default stops, or at the optimum.
    """

    C: float
    smooth_targets: bool
    solver: Literal["sklearn", "converged"]
    def __init__(
        self,
        *,
        C: float = 1.0,
        smooth_targets: bool = False,
        solver: Literal["sklearn", "converged"] = "sklearn",
    ) -> None: ...

class Temperature(Model):
    """p = sigmoid(s / T)."""

    def __init__(self) -> None: ...
