// SPDX-License-Identifier: Apache-2.0
// The dashboard.  It shows the data of the API and nothing else.  The part of the URL after #
// selects what is shown: #/ all programs, #/b/BUILD the races of a program, #/r/BUILD/ID one race,
// #/s/BUILD/ID one sketch.  Texts of programs are inserted only as text, never as HTML.
"use strict";

const VERDICTS = { "true-race": "true race", "likely-false-positive": "likely false", "unknown": "unknown" };
const REASONS = {
  "both-orders": "seen in both orders", "single-order": "seen in one order", "synchronisation": "ordered by synchronisation",
  "order-not-reached": "not even the longest pause showed the race", "not-aliasing": "never at the same address", "context": "same address, but only one thread",
  "being-validated": "two threads access it; being validated", "not-executed": "at least one access was not executed", "no-report": "no report yet",
  "unguarded": "no site can validate it",
};
const ORDER = { "true-race": 0, "unknown": 1, "likely-false-positive": 2 };
const REFRESH_MS = 10000, ROWS = 500;

const view = { filter: "all", search: "", selected: 0, shown: "" };
const $ = id => document.getElementById(id);

// Makes an element: el("td.n", {title: "x"}, "text", child…) is <td class="n" title="x">.
function el(what, attributes, ...children) {
  const [tag, ...classes] = what.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes || {}))
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== false && value != null) node.setAttribute(key, value === true ? "" : value);
  node.append(...children.filter(c => c != null && c !== false));
  return node;
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

class Refused extends Error {}

async function api(path) {
  const token = sessionStorage.getItem("token");
  const answer = await fetch("/api/v1/" + path, { headers: token ? { Authorization: "Bearer " + token } : {} });
  if (answer.status === 401 || answer.status === 403) throw new Refused();
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error || String(answer.status));
  return body;
}

const number = n => n.toLocaleString("en");
const plural = (n, word) => `${number(n)} ${word}${n === 1 ? "" : "s"}`;
const short = build => build.length > 16 ? build.slice(0, 12) + "…" : build;
const base = file => file.slice(file.lastIndexOf("/") + 1);

function when(seconds) {
  if (!seconds) return "never";
  const age = Date.now() / 1000 - seconds;
  for (const [unit, name] of [[86400, "day"], [3600, "hour"], [60, "minute"]])
    if (age >= unit) return plural(Math.floor(age / unit), name) + " ago";
  return "just now";
}
const time = seconds => el("time", { datetime: new Date(seconds * 1000).toISOString(), title: new Date(seconds * 1000).toLocaleString() }, when(seconds));
const pill = verdict => el("span.pill." + verdict, {}, VERDICTS[verdict]);

function bar(counts) {
  const total = Object.values(counts).reduce((a, b) => a + b, 0) || 1;
  const part = (name, n) => { const i = el("i." + name, {}); i.style.width = 100 * n / total + "%"; return i; };
  return el("div.bar", { role: "img", "aria-label": Object.entries(counts).map(([v, n]) => `${n} ${VERDICTS[v]}`).join(", ") },
    part("t", counts["true-race"]), part("f", counts["likely-false-positive"]));
}

function key(counts) {
  return el("div.key", {}, ...["true-race", "likely-false-positive", "unknown"].map(v => el("span", {}, el("b", {}, number(counts[v])), " " + VERDICTS[v])));
}

// Draws how many candidates had each verdict, from the time when the program was added until now.
function trend(program, races) {
  const changes = races.flatMap(r => r.history.map((h, i) => ({ at: h.at, to: h.verdict, from: i ? r.history[i - 1].verdict : "unknown" })));
  changes.sort((a, b) => a.at - b.at);
  const end = Date.now() / 1000, start = Math.min(program.added, changes.length ? changes[0].at : end), span = Math.max(end - start, 1);
  const counts = { "true-race": 0, "likely-false-positive": 0, "unknown": races.length };
  const W = 1000, H = 90, total = races.length || 1, x = t => W * (t - start) / span;
  const top = [], middle = [];
  const note = t => { top.push([x(t), H * (1 - counts["true-race"] / total)]); middle.push([x(t), H * (1 - (counts["true-race"] + counts["likely-false-positive"]) / total)]); };
  note(start);
  for (const c of changes) { note(c.at); counts[c.from]--; counts[c.to]++; note(c.at); }
  note(end);
  const area = (points, name) => svg("polygon", { class: name, points: [...points, [W, H], [0, H]].map(p => p.map(v => v.toFixed(1)).join(",")).join(" ") });
  const drawing = svg("svg", { class: "trend", viewBox: `0 0 ${W} ${H}`, preserveAspectRatio: "none", role: "img",
    "aria-label": "Verdicts since the program was added" }, svg("rect", { class: "u", width: W, height: H }), area(middle, "f"), area(top, "t"));
  return el("div", {}, drawing, el("div.key", {}, el("span", {}, "since ", time(start)), el("span", {}, "red: true races, green: likely false, grey: unknown")));
}

function crumbs(...parts) {
  $("crumbs").replaceChildren(...parts.flatMap(p => ["› ", p, " "]));
}

async function showPrograms() {
  const { programs } = await api("programs");
  crumbs();
  document.title = "Raddle hive";
  if (!programs.length)
    return [el("h1", {}, "No programs yet"), el("p", {}, "Add one:"), command(`raddle hive add --hive ${location.origin} ./PROGRAM`)];
  programs.sort((a, b) => a.name.localeCompare(b.name) || b.added - a.added);
  const cards = programs.map(p => el("article.card", { "data-go": "#/b/" + p.build },
    el("h2", {}, el("a", { href: "#/b/" + p.build }, p.name)),
    el("div.dim", {}, el("span.mono", { title: p.build }, short(p.build)), " · added ", time(p.added)),
    bar(p.verdicts), key(p.verdicts),
    el("div.key", {}, el("span", {}, plural(p.candidates, "candidate")), el("span", {}, plural(p.sites, "site")),
      el("span", {}, (p.stopped ? "stopped: validating runs fail" : p.state) + (p.rollout < 100 ? ` for ${p.rollout} %` : "")))));
  return [el("h1", {}, "Programs"), el("div.grid", {}, ...cards)];
}

function matches(race) {
  const words = (race.object + " " + race.id + " " + race.accesses.map(a => `${a.file}:${a.line} ${a.function}`).join(" ")).toLowerCase();
  return (view.filter === "all" || race.verdict === view.filter) && view.search.toLowerCase().split(/\s+/).every(w => words.includes(w));
}

const place = a => el("div.place.mono", { title: a.file }, `${a.op} ${base(a.file)}:${a.line} ${a.function}()`);

function raceRow(race) {
  const r = race.reports, bad = Object.entries(race.consequences).map(([name, n]) => `${name} ×${n}`).join(", ");
  return el("tr.go", { "data-go": `#/r/${race.build}/${race.id}` },
    el("td.full", {}, el("a.object", { href: `#/r/${race.build}/${race.id}` }, race.object || race.id), ...race.accesses.map(place)),
    el("td.full", {}, pill(race.verdict), el("div.dim", {}, REASONS[race.reason] || race.reason), bad && el("div", {}, el("span.pill.true-race", {}, bad)),
      race.class && el("div", {}, race.class)),
    el("td.n", { "data-name": "race" }, number(r.race)), el("td.n", { "data-name": "no race" }, number(r["no-race"])),
    el("td.n", { "data-name": "time-out" }, number(r.timeout)), el("td.n", { "data-name": "not seen" }, number(r["not-seen"])),
    el("td.n", { "data-name": "last" }, race.last_report ? time(race.last_report) : "–"));
}

function raceTable(races) {
  const found = races.filter(matches), head = ["race", "no race", "time-out", "not seen", "last"];
  return [el("div.card.wide", {}, el("table.flow", {}, el("thead", {}, el("tr", {}, el("th", {}, "variable and places"), el("th", {}, "verdict"),
    ...head.map(h => el("th.n", {}, h)))), el("tbody", {}, ...found.slice(0, ROWS).map(raceRow)))),
    el("p.dim", { role: "status" }, found.length > ROWS ? `${ROWS} of ${plural(found.length, "candidate")}; search to see others` : plural(found.length, "candidate"))];
}

const STATES = { tracking: "being tracked", explained: "explained", exhausted: "nothing distinguishes failing from passing runs" };

// Shows failures that sites help to explain.  The page of a sketch is a separate document.  A link
// could not send the token, so the page is fetched and then saved.
function failures(sketches) {
  if (!sketches.length) return null;
  const open = async s => {
    const token = sessionStorage.getItem("token");
    const answer = await fetch(`/api/v1/sketches/${s.build}/${s.id}/page`, { headers: token ? { Authorization: "Bearer " + token } : {} });
    const link = el("a", { href: URL.createObjectURL(new Blob([await answer.text()], { type: "text/html" })), download: `sketch-${s.id}.html` });
    link.click();
  };
  return el("section.card.wide", { id: "sketches" }, el("h2", {}, "Failures"), el("table.flow", {},
    el("thead", {}, el("tr", {}, ...["where", "state", "failing", "passing", "statements", ""].map(h => el("th", {}, h)))),
    el("tbody", {}, ...sketches.map(s => el("tr", {},
      el("td.mono", { title: s.file }, `${base(s.file)}:${s.line} ${s.function ? s.function + "()" : ""}`, el("div.dim", {}, s.what || s.kind)),
      el("td", {}, STATES[s.state] || s.state), el("td.n", { "data-name": "failing" }, number(s.failing)), el("td.n", { "data-name": "passing" }, number(s.passing)),
      el("td.n", { "data-name": "statements" }, `${Math.min(s.sigma, s.statements)} of ${s.statements}`),
      el("td", {}, s.failing > 0 ? el("a", { href: `#/s/${s.build}/${s.id}` }, "sketch") : "no failing run yet", " ",
        s.failing > 0 && el("button", { type: "button", onclick: () => open(s) }, "page")))))));
}

// Shows the sketch as text, within the dashboard.
async function showSketch(build, id) {
  const token = sessionStorage.getItem("token");
  const answer = await fetch(`/api/v1/sketches/${encodeURIComponent(build)}/${encodeURIComponent(id)}/text`, { headers: token ? { Authorization: "Bearer " + token } : {} });
  if (answer.status === 401 || answer.status === 403) throw new Refused();
  if (!answer.ok) throw new Error((await answer.json()).error || String(answer.status));
  crumbs(el("a", { href: "#/b/" + build }, short(build)), id);
  document.title = "Sketch – Raddle hive";
  return [el("h1", {}, "Why it fails"), el("section.card.wide", {}, el("pre", { id: "sketch" }, await answer.text()))];
}

async function showBuild(build) {
  const { programs: [program], races, sketches } = await api("status?build=" + encodeURIComponent(build));
  races.sort((a, b) => ORDER[a.verdict] - ORDER[b.verdict] || a.rank - b.rank);
  crumbs(el("a", { href: "#/b/" + build }, program.name));
  document.title = program.name + " – Raddle hive";
  const list = el("div", { id: "races" }, ...raceTable(races));
  const redraw = () => { list.replaceChildren(...raceTable(races)); view.selected = 0; mark(); };
  const tab = (filter, text, n) => el("button", { type: "button", "data-filter": filter, "aria-pressed": String(view.filter === filter),
    onclick: e => { view.filter = filter; for (const b of e.target.parentNode.querySelectorAll("button")) b.setAttribute("aria-pressed", String(b === e.target)); redraw(); } },
    `${text} ${number(n)}`);
  return [el("h1", {}, program.name),
    el("div.dim", {}, "build ", el("span.mono", {}, program.build), ` · ${plural(program.sites, "site")} · ${program.state}`),
    el("div.card", {}, key(program.verdicts), trend(program, races)),
    el("div.tabs", { role: "group", "aria-label": "Verdict" }, tab("all", "All", races.length),
      ...["true-race", "likely-false-positive", "unknown"].map(v => tab(v, VERDICTS[v][0].toUpperCase() + VERDICTS[v].slice(1), program.verdicts[v])),
      el("input", { id: "search", type: "search", placeholder: "Search variable, file, function …", "aria-label": "Search", value: view.search,
        oninput: e => { view.search = e.target.value; redraw(); } })),
    list, failures(sketches),
    program.unsound.length > 0 && el("details.card", {}, el("summary", {}, "Not covered, so races may be missing"),
      el("ul", {}, ...program.unsound.map(u => el("li", {}, u))))];
}

function command(text) {
  const button = el("button", { type: "button", onclick: async () => {
    try { await navigator.clipboard.writeText(text); button.textContent = "Copied"; } catch { getSelection().selectAllChildren(button.previousSibling); button.textContent = "Press Ctrl-C"; }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  } }, "Copy");
  return el("div.copy", {}, el("pre", {}, text), button);
}

const quote = word => /^[\w./:,@%+=-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'";

function commands(race) {
  const pair = quote(race.accesses.map(a => `${base(a.file)}:${a.line}`).join(",")), program = quote("./" + race.program);
  return el("section.card", {}, el("h2", {}, "Reproduce it"),
    el("p.dim", {}, "Find out what it does to the program in both orders. The document then names schedules that show it:"),
    command(`raddle classify --race ${pair} --json=race.json -- ${program}`),
    el("p.dim", {}, "Repeat the run, or repeat it in gdb with both threads stopped before the accesses:"),
    command(`raddle replay race.json -- ${program}`), command(`raddle replay --gdb race.json -- ${program}`),
    el("p.dim", {}, "Send the class to this hive:"),
    command(`raddle hive add --hive ${location.origin} --classes=race.json ${program}`));
}

function access(a, i) {
  return el("section.card", {}, el("h2", {}, i ? "Second access" : "First access"),
    el("div.place.mono", {}, `${a.file}:${a.line}${a.column ? ":" + a.column : ""}`),
    el("dl", {}, el("dt", {}, "function"), el("dd.mono", {}, a.function + "()"), el("dt", {}, "does"), el("dd", {}, a.op + (a.atomic ? ", atomic" : "")),
      el("dt", {}, "to"), el("dd.mono", {}, a.what || "–"), el("dt", {}, "lock held"), el("dd", {}, a.locked ? "some, but no common one" : "none known")));
}

function facts(race) {
  const rows = [], add = (name, value) => rows.push(el("dt", {}, name), el("dd", {}, value));
  const list = counts => Object.entries(counts).filter(([, n]) => n).map(([name, n]) => `${name} ${number(n)}`).join(", ");
  add("reports", list(race.reports) || "none");
  if (race.reports.race) { add("orders", list(race.orders)); add("proofs", list(race.proofs)); }
  if (race.bound != null) add("shown by", race.bound < 1 ? `at most ${(100 * race.bound).toPrecision(2)} % of the runs (95 % confidence)` : "too few runs to say");
  add("context", [["first", "first access executed"], ["second", "second access executed"], ["same_address", "same address"], ["two_threads", "two threads"]]
    .filter(([name]) => race.context[name]).map(([, text]) => text).join(", ") || "nothing seen");
  add("consequences", list(race.consequences) || "none seen");
  if (race.stopped) add("stopped", "runs that validate it fail without showing the race; it is not assigned any more");
  if (list(race.suspected)) add("suspected", list(race.suspected) + " (without the race being seen in that run)");
  add("class", race.class ? race.class + (race.class_consequence ? `: ${race.class_consequence}` : "") : "not classified yet");
  if (race.unguarded) add("not validated", race.unguarded);
  return el("section.card", {}, el("h2", {}, "Evidence"), el("dl", {}, ...rows));
}

function evidence(race) {
  if (!race.evidence.length) return null;
  return el("section.card.wide", {}, el("table.flow", {}, el("thead", {}, el("tr", {}, ...["when", "result", "order", "site", "run"].map(h => el("th", {}, h)))),
    el("tbody", {}, ...race.evidence.map(e => el("tr", {}, el("td", {}, time(e.at)),
      el("td", {}, e.result + (e.proof ? ` (${e.proof})` : "") + (e.consequence ? `, ${e.consequence}` : "") + (e.result === "timeout" ? ` after ${e.tau_us / 1000} ms` : "")),
      el("td", {}, e.order || "–"), el("td.mono", { title: e.site }, e.site.slice(0, 8)), el("td.mono", {}, e.run.slice(0, 8)))))));
}

function sites(race) {
  return el("section.card", {}, el("h2", {}, race.more_sites ? "Sites that saw it (the first 50)" : "Sites that saw it"),
    race.sites.length ? el("dl", {}, ...race.sites.flatMap(s => [el("dt.mono", { title: s.site }, s.site.slice(0, 12)),
      el("dd", {}, plural(s.reports, "report") + (s.races ? `, ${plural(s.races, "race")}` : "") + ", last ", time(s.last_report))])) : el("p.dim", {}, "None has reported yet."));
}

async function showRace(build, id) {
  const race = await api(`races/${encodeURIComponent(build)}/${encodeURIComponent(id)}`);
  crumbs(el("a", { href: "#/b/" + build }, race.program), race.object || id);
  document.title = (race.object || id) + " – Raddle hive";
  return [el("h1", {}, race.object || id), el("div", {}, pill(race.verdict), " ", REASONS[race.reason] || race.reason,
    el("span.dim", {}, ` · rank ${race.rank} · `), el("span.mono.dim", {}, id)),
    el("div.pair", {}, ...race.accesses.map(access)),
    el("div.pair", {}, facts(race), el("section.card", {}, el("h2", {}, "History"), race.history.length
      ? el("ol.history", {}, ...race.history.map(h => el("li", {}, pill(h.verdict), " ", REASONS[h.reason] || h.reason, " – ", time(h.at)))) : el("p.dim", {}, "No report yet."))),
    commands(race), sites(race), evidence(race)];
}

function askToken() {
  return [el("h1", {}, "This hive needs a token"), el("form.card", { onsubmit: e => { e.preventDefault(); sessionStorage.setItem("token", $("token").value.trim()); show(); } },
    el("p", {}, el("label", { for: "token" }, "An admin token (raddle hive token --admin NAME makes one): ")),
    el("input", { id: "token", type: "password", autocomplete: "off", required: true }), " ", el("button", {}, "Use it"))];
}

function route() {
  const parts = location.hash.replace(/^#\/?/, "").split("/").filter(Boolean).map(decodeURIComponent);
  if (parts[0] === "b" && parts[1]) return () => showBuild(parts[1]);
  if (parts[0] === "s" && parts[2]) return () => showSketch(parts[1], parts[2]);
  if (parts[0] === "r" && parts[2]) return () => showRace(parts[1], parts[2]);
  return showPrograms;
}

const rows = () => [...document.querySelectorAll("[data-go]")];
function mark() {
  rows().forEach((r, i) => r.classList.toggle("sel", i === view.selected && r.tagName === "TR"));
}

function fresh(text, bad) {
  $("fresh").textContent = text;
  $("fresh").classList.toggle("bad", Boolean(bad));
}

// Draws again and keeps the caret of the search field.  Only the latest call counts.
let turn = 0;
async function show(again) {
  const mine = ++turn, focus = document.activeElement && document.activeElement.id;
  try {
    const content = await route()();
    if (mine !== turn) return;
    const place = scrollY, caret = focus === "search" ? $("search").selectionStart : null;
    $("main").replaceChildren(...content.filter(Boolean));
    if (again) scrollTo(0, place); else { scrollTo(0, 0); view.selected = 0; }
    if (focus === "search" && $("search")) { $("search").focus(); $("search").setSelectionRange(caret, caret); }
    mark();
    fresh("up to date");
  } catch (error) {
    if (mine !== turn) return;
    if (error instanceof Refused) { if (!$("token")) $("main").replaceChildren(...askToken()); fresh(""); return; }
    if (!again) { crumbs(); $("main").replaceChildren(el("h1", {}, "This page cannot be shown"), el("p", {}, error.message)); }
    fresh(again ? "no answer from the hive" : "", true);
  }
}

const THEMES = ["auto", "light", "dark"];
function theme(next) {
  const now = THEMES[(THEMES.indexOf(localStorage.getItem("theme") || "auto") + (next ? 1 : 0)) % 3];
  localStorage.setItem("theme", now);
  if (now === "auto") document.documentElement.removeAttribute("data-theme"); else document.documentElement.setAttribute("data-theme", now);
  $("theme").textContent = { auto: "◐ Auto", light: "○ Light", dark: "● Dark" }[now];
}

function move(step) {
  const all = rows();
  if (!all.length) return;
  view.selected = Math.max(0, Math.min(all.length - 1, view.selected + step));
  mark();
  all[view.selected].querySelector("a").focus({ preventScroll: true });
  all[view.selected].scrollIntoView({ block: "nearest" });
}

function up() {
  const parts = location.hash.split("/");
  location.hash = parts[1] === "r" ? "#/b/" + parts[2] : "#/";
}

const KEYS = {
  j: () => move(1), k: () => move(-1), u: up, t: () => theme(true), "?": () => $("keys").showModal(),
  "/": () => { if ($("search")) $("search").focus(); },
  Enter: () => { const all = rows(); if (all[view.selected]) location.hash = all[view.selected].dataset.go; },
  1: () => pick(0), 2: () => pick(1), 3: () => pick(2), 4: () => pick(3),
};
function pick(i) {
  const tabs = document.querySelectorAll("[data-filter]");
  if (tabs[i]) tabs[i].click();
}

document.addEventListener("keydown", e => {
  if (e.ctrlKey || e.metaKey || e.altKey || $("keys").open) return;
  if (e.target.matches("input")) { if (e.key === "Escape") e.target.blur(); return; }
  if (e.key === "Enter" && e.target.matches("a, button, summary")) return;
  if (KEYS[e.key]) { e.preventDefault(); KEYS[e.key](); }
});
document.addEventListener("click", e => {
  const row = e.target.closest("tr[data-go]");
  if (row && !e.target.closest("a") && !String(getSelection())) location.hash = row.dataset.go;
});
addEventListener("hashchange", () => { view.search = ""; view.filter = "all"; show(); });
$("theme").addEventListener("click", () => theme(true));
$("help").addEventListener("click", () => $("keys").showModal());
setInterval(() => { if (!document.hidden && !$("token")) show(true); }, REFRESH_MS);
theme(false);
show();
