"""Where each method class is, by its name. Written by scripts/method_table.py: do not edit."""

METHODS: dict[str, str] = {
    "ACCohort": "fairfr.methods.ac_cohort.ACCohort",
    "ACDensity": "fairfr.methods.ac_density.ACDensity",
    "ACHinge": "fairfr.methods.ac_hinge.ACHinge",
    "ACLinear": "fairfr.methods.ac_linear.ACLinear",
    "ACMLP": "fairfr.methods.ac_mlp.ACMLP",
    "Baseline": "fairfr.methods.baseline.Baseline",
    "Beta": "fairfr.methods.beta.Beta",
    "ComponentLogistic": "fairfr.methods.component_logistic.ComponentLogistic",
    "DemoNorm": "fairfr.methods.demonorm.DemoNorm",
    "DemoNormGroup": "fairfr.methods.demonorm.DemoNormGroup",
    "FSN": "fairfr.methods.fsn.FSN",
    "FairCal": "fairfr.methods.faircal.FairCal",
    "Falcon": "fairfr.methods.falcon.Falcon",
    "Frappe": "fairfr.methods.frappe.Frappe",
    "GST": "fairfr.methods.gst.GST",
    "Isotonic": "fairfr.methods.isotonic.Isotonic",
    "Multicalibration": "fairfr.methods.multicalibration.Multicalibration",
    "Oracle": "fairfr.methods.oracle.Oracle",
    "Platt": "fairfr.methods.platt.Platt",
    "Temperature": "fairfr.methods.temperature.Temperature",
}
