"""How the HTML page looks: light, in the manner of booktabs, readable on paper too."""

STYLE = """\
:root { --ink: #1c2024; --soft: #60666d; --faint: #e6e8eb; --paper: #ffffff; --ground: #f6f7f8; --accent: #23527c;
  --improved: #0a7a2f; --degraded: #b3201d; --beyond: #a15c00; }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0; background: var(--ground); color: var(--ink);
  font: 15px/1.5 system-ui, "Segoe UI", Roboto, Helvetica, Arial, sans-serif; }
nav { position: fixed; inset: 0 auto 0 0; width: 270px; overflow-y: auto; padding: 24px 16px; background: var(--paper);
  border-right: 1px solid var(--faint); font-size: 12.5px; line-height: 1.35; }
nav a { display: block; padding: 4px 8px; color: var(--soft); text-decoration: none; border-radius: 4px; }
nav a:hover { background: var(--ground); color: var(--accent); }
nav + main { margin-left: 270px; }
main { max-width: 1720px; padding: 24px 32px 80px; }
h1, h2 { font-size: 22px; font-weight: 650; margin: 8px 0 16px; }
h2 { font-size: 18px; }
.synthetic { display: inline-block; margin: 0 0 12px; padding: 4px 12px; background: #fff3cd; border: 1px solid #e6c565;
  border-radius: 4px; color: #6b4e00; font-weight: 600; font-size: 13px; }
figure { margin: 0 0 28px; padding: 20px 24px; background: var(--paper); border: 1px solid var(--faint);
  border-radius: 8px; }
figcaption { margin-bottom: 12px; color: var(--soft); font-size: 13px; max-width: 105ch; }
figcaption .title { color: var(--ink); font-weight: 650; font-size: 15px; text-decoration: none; display: block; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 13.5px; font-variant-numeric: tabular-nums; white-space: nowrap;
  border-top: 2px solid var(--ink); border-bottom: 2px solid var(--ink); }
th, td { padding: 3px 9px; text-align: right; font-weight: 400; }
th:first-child { text-align: left; position: sticky; left: 0; background: var(--paper); padding-left: 4px; }
thead th { font-weight: 600; padding-top: 5px; }
thead tr:last-child th { border-bottom: 1px solid var(--ink); padding-bottom: 5px; }
thead .groups th { text-align: center; position: static; }
thead .groups span { display: block; border-bottom: 1px solid #b4bac1; margin: 0 6px; }
td.first, th.first { padding-left: 20px; }
.words { text-align: left; vertical-align: top; }
td.sentences { white-space: normal; min-width: 30ch; max-width: 60ch; }
tr:has(.sentences) > th:first-child { white-space: normal; min-width: 18ch; vertical-align: top; }
tbody + tbody { border-top: 1px solid #c9ced3; }
tbody tr:first-child > * { padding-top: 6px; }
tbody tr:last-child > * { padding-bottom: 6px; }
sup { line-height: 0; }
tbody tr:hover > * { background: #eef4fa; }
tr.section th { font-style: italic; color: var(--soft); }
tr.panel th { font-weight: 650; background: var(--ground); }
td b { font-weight: 700; }
td small { color: var(--soft); font-size: 11px; padding-left: 1px; }
.improved, .improved small { color: var(--improved); }
.degraded, .degraded small { color: var(--degraded); }
.beyond { color: var(--beyond); background: #fff6e5; }
.notes { margin: 10px 0 0; padding: 0; list-style: none; color: var(--soft); font-size: 12px; max-width: 120ch; }
.notes li { margin: 2px 0; overflow-wrap: anywhere; }
summary { cursor: pointer; }
code { font: 11.5px/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; background: var(--ground);
  border-radius: 3px; padding: 1px 4px; }
.picture img { max-width: 100%; height: auto; display: block; margin: 0 auto; }
@media (max-width: 900px) {
  nav { position: static; width: auto; max-height: 40vh; border-right: 0; }
  nav + main { margin-left: 0; }
  main { padding: 16px; }
}
@media print {
  nav { display: none; }
  nav + main { margin-left: 0; }
  figure { border: 0; break-inside: avoid; }
}
"""
