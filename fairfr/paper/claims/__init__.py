"""The paper's claims, judged on its printed numbers and on our runs."""
