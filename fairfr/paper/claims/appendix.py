"""Claims of the appendix's additional checks: each has a small table of its own."""

from __future__ import annotations

from fairfr.paper.claims.claim import CONTEXT, LABEL, Part, Verdict, verdict
from fairfr.paper.numbers import Numbers

NEAR_CHANCE = 0.1  # AUROC within 0.1 of one half
STABLE = 0.001  # AUROC
_COMPONENTS = "Appendix, component ablation"
_ACCURACY = "Appendix, LFW accuracy"
_SIZE = "Appendix, sample size"
_SPLIT = "Appendix, split sensitivity"
PART = Part("Additional checks of the appendix")
claim = PART.claim


@claim("location-alone", _COMPONENTS, "Location alone performs poorly")
def _location_alone(numbers: Numbers) -> Verdict:
    values = [row.values["midpoint_only"][0] for row in numbers.required_study("components")]
    near = all(abs(value - 0.5) <= NEAR_CHANCE for value in values)
    return verdict(near, f"worst-group AUROC {min(values):.3f} to {max(values):.3f} (settings: {len(values)})")


@claim("context-helps", _COMPONENTS, "Adding context to similarity often helps")
def _context_helps(numbers: Numbers) -> Verdict:
    rows = numbers.required_study("components")
    better = dict.fromkeys(CONTEXT, 0)
    for row in rows:
        for method in CONTEXT:
            if row.values[method][0] > row.values["platt"][0]:
                better[method] += 1
    detail = ", ".join(f"{LABEL[m]} {n} of {len(rows)}" for m, n in better.items())
    return verdict(all(n > len(rows) / 2 for n in better.values()), f"above Platt: {detail}")


@claim("not-uniform", _COMPONENTS, "The full density residual is not uniformly best")
def _not_uniformly_best(numbers: Numbers) -> Verdict:
    rows = numbers.required_study("components")
    best = 0
    for row in rows:
        highest = max(values[0] for values in row.values.values())
        if row.values["ac_density"][0] == highest:
            best += 1
    return verdict(best < len(rows), f"AC-Density best in {best} of {len(rows)} settings")


@claim("alignment", _ACCURACY, "An aligned pipeline substantially improves the older ArcFace result")
def _alignment(numbers: Numbers) -> Verdict:
    new, *_, old = numbers.required_study("lfw_accuracy")
    before = old.values["cosine"][0]
    after = new.values["cosine"][0]
    return verdict(after - before > 10, f"cosine accuracy {before:.2f} to {after:.2f} %")


@claim("r50-decreases", _ACCURACY, "ArcFace R50: accuracy decreases under AC")
def _r50_decreases(numbers: Numbers) -> Verdict:
    row = numbers.required_study("lfw_accuracy")[0]
    values = {method: value[0] for method, value in row.values.items()}
    detail = (
        f"cosine {values['cosine']:.2f}, AC-Linear {values['ac_linear']:.2f}, AC-Density {values['ac_density']:.2f} %"
    )
    return verdict(all(values[m] < values["cosine"] for m in CONTEXT), detail)


@claim("linear-stable", _SIZE, "AC-Linear is stable from 600 to 5,400 pairs")
def _linear_stable(numbers: Numbers) -> Verdict:
    values = [row.values["ac_linear"][0] for row in numbers.required_study("calibration_size")]
    return verdict(max(values) - min(values) <= STABLE, f"AUROC {min(values):.4f} to {max(values):.4f}")


@claim("mlp-improves", _SIZE, "AC-MLP improves with more data but remains below the smaller models")
def _mlp_improves(numbers: Numbers) -> Verdict:
    rows = numbers.required_study("calibration_size")
    mlp = [row.values["ac_mlp"][0] for row in rows]
    below = "yes"
    for row in rows:
        smaller_models = [row.values[method][0] for method in CONTEXT]
        if row.values["ac_mlp"][0] >= min(smaller_models):
            below = "no"
    detail = f"AC-MLP {mlp[0]:.4f} to {mlp[-1]:.4f}, below both at every size: {below}"
    return verdict(mlp == sorted(mlp) and below == "yes", detail)


@claim(
    "density-ethnicity",
    "Appendix, attribute-defined groups",
    "AC-Density has lower worst-group ethnicity AUROC than Platt",
)
def _density_ethnicity(numbers: Numbers) -> Verdict:
    row = next(row for row in numbers.required_study("attributes") if row.label == ("Ethnicity",))
    density = row.values["ac_density"][0]
    platt = row.values["platt"][0]
    return verdict(density < platt, f"AC-Density {density:.4f}, Platt {platt:.4f}")


@claim(
    "five-percent",
    "Appendix, subgroup coverage",
    "At 5 % retention both AC models have higher AUROC than Platt and worse Brier",
)
def _five_percent(numbers: Numbers) -> Verdict:
    row = next(row for row in numbers.required_study("coverage") if row.label == ("5%",))
    auroc, brier = row.values["platt"]
    both = all(row.values[m][0] > auroc and row.values[m][1] > brier for m in CONTEXT)
    figures = ", ".join(f"{LABEL[m]} {row.values[m][0]:.4f} / {row.values[m][1]:.4f}" for m in CONTEXT)
    return verdict(both, f"Platt {auroc:.4f} / {brier:.4f}, {figures}")


@claim("gains-persist", _SPLIT, "Worst-group ranking gains persist on endpoint-disjoint folds")
def _gains_persist(numbers: Numbers) -> Verdict:
    gains = []
    for row in numbers.required_study("split"):
        if row.label[1] == "Endpoint-disjoint":
            gains += [row.values[method][0] - row.values["platt"][0] for method in CONTEXT]
    return verdict(min(gains) > 0, f"worst-group AUROC above Platt's by {min(gains):.4f} to {max(gains):.4f}")


@claim("density-split", _SPLIT, "ArcFace: AC-Density's Brier worsens after re-splitting")
def _density_brier_worsens(numbers: Numbers) -> Verdict:
    before, after = (row.values["ac_density"][1] for row in numbers.required_study("split")[:2])
    return verdict(after > before, f"ArcFace, worst-group Brier {before:.4f} to {after:.4f}")
