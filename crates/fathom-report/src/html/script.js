(() => {
"use strict";
const all = (query, inside = document) => [...inside.querySelectorAll(query)];
const get = id => document.getElementById(id);
const bar = document.querySelector(".bar");
if (!bar) return;
const form = bar.firstChild, keys = ["find", "sort", "order", "base", "axis"];
const fresh = () => ({ find: "", sort: "file", order: "file", base: "", axis: "", hide: {} });
const systems = all(".systems li"), names = systems.map(li => li.textContent);
const clamp = x => Math.max(0, Math.min(1, x)), pct = x => (x * 86).toFixed(2) + "%"; // of the axis
const byText = (a, b) => a.localeCompare(b, "en", { numeric: true });
let state = fresh();

function digits(v, n) {
  if (Math.abs(v) >= 1e15) return v.toExponential(4);
  return v.toFixed(v ? Math.max(0, Math.min(9, n - 1 - Math.floor(Math.log10(Math.abs(v))))) : 0);
}
function mark(v) {
  const [unit, suffix] = v >= 1e9 ? [1e9, "G"] : v >= 1e6 ? [1e6, "M"] : v >= 1e4 ? [1e3, "K"] : [1, ""];
  return +(v / unit).toPrecision(6) + suffix;
}

// Axes: the rules of svg/axis.rs.
function linear(max) {
  let step = 1;
  if (max >= 6) {
    const end = (Math.floor(Math.round(1.285 * max) / 6) + 1) * 6;
    const unit = 10 ** (Math.floor(Math.log10(end)) - 1);
    step = Math.round(Math.ceil(end / 6) / unit) * unit;
  } else if (max > 0) step = +(1.35 * max / 6).toPrecision(3);
  const marks = [1, 2, 3, 4, 5].map(i => [i / 6, mark(step * i)]);
  return { place: v => clamp(v / (6 * step)), marks };
}
function logarithmic(min, max) {
  const low = Math.floor(Math.log10(min)), n = Math.max(1, Math.ceil(Math.log10(max)) - low), marks = [];
  for (let i = 1; i <= n; i++) if (i % Math.ceil(n / 8) == 0) marks.push([i / n, mark(10 ** (low + i))]);
  return { place: v => v > 0 ? clamp((Math.log10(v) - low) / n) : 0, marks, log: true };
}
function set(element, attributes) {
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  return element;
}
const make = (name, attributes) => set(document.createElementNS("http://www.w3.org/2000/svg", name), attributes);

// What the charts were when the page was loaded.
const charts = all("svg.bars").map(svg => {
  const unit = svg.querySelector(".unit");
  const rows = all("g.row", svg).map((g, i) => {
    const find = query => g.querySelector(query), bar = find(".b"), dot = find("circle"), text = find(".val");
    const height = dot ? (dot.getAttribute("cy") - 17) * 2 : bar && +bar.getAttribute("height");
    return { g, i, s: g.dataset.s, v: +(g.dataset.v || NaN), e: +(g.dataset.e || 0), bar, dot, height, text,
      frame: find(".w"), shown: text && text.textContent, y: +g.getAttribute("transform").match(/[\d.]+(?=\))/)[0] };
  });
  return { svg, rows, top: rows.length ? rows[0].y : 22, step: rows.length > 1 ? rows[1].y - rows[0].y : 38,
    unit, was: unit.textContent.replace(" (logarithmic axis)", ""), axis: svg.querySelector(".axis"),
    direction: svg.closest("figure").dataset.d };
});
const boxes = all("svg.boxes").map(svg => all("g.row", svg));
const heat = document.querySelector(".heat"), heatRows = heat ? all("tbody tr", heat) : [];
for (const tr of heatRows) {
  tr.cells_ = all("td", tr).slice(1).map(td => ({ td, text: td.textContent, look: td.className, x: td.dataset.x / 1e6 || parseFloat(td.textContent) }));
}
const sections = all("section.r").map((s, i) => {
  const text = all("h3,p.sub", s).map(e => e.textContent).join(" ").toLowerCase();
  const spreads = charts.filter(c => s.contains(c.svg)).map(c => {
    const values = c.rows.map(r => r.v).filter(v => v > 0);
    return values.length ? Math.max(...values) / Math.min(...values) : 0;
  });
  return { s, i, text, spread: Math.max(0, ...spreads) };
});
const end = document.createComment("");
if (sections.length) sections[sections.length - 1].s.after(end);

function drawChart(c) {
  const base = c.direction != "n" && c.rows.find(r => r.s == state.base && r.v > 0);
  const lowIsBest = c.direction == "l" && !base;
  for (const r of c.rows) {
    r.x = r.v;
    r.h = r.e;
    if (!base) continue;
    r.x = c.direction == "l" ? base.v / r.v : r.v / base.v;
    r.h = r == base ? 0 : r.x * Math.hypot(r.e / r.v, base.e / base.v);
  }
  const values = c.rows.filter(r => !state.hide[r.s] && isFinite(r.x)).map(r => r.x);
  const max = Math.max(0, ...values), min = Math.min(...values);
  const log = min > 0 && isFinite(min) && (state.axis == "log" || !state.axis && max / min > 100);
  const scale = log ? logarithmic(min, max) : linear(max);
  const rank = r => isFinite(r.x) ? lowIsBest ? r.x : -r.x : Infinity;
  const rows = c.rows.slice().sort((a, b) => (state.sort == "name" ? byText(names[a.s], names[b.s])
    : state.sort == "value" ? rank(a) - rank(b) || 0 : 0) || a.i - b.i);
  const bottom = place(rows, c.top, c.step);
  for (const r of rows) if (r.bar && isFinite(r.x)) drawRow(r, scale, base);
  set(c.svg, { height: bottom + 20 });
  c.unit.textContent = (base ? `relative to ${names[state.base]}, More Is Better` : c.was) + (log ? " (logarithmic axis)" : "");
  c.axis.textContent = "";
  for (const [at, text] of scale.marks) {
    const label = make("text", { class: "k", x: pct(at), y: bottom + 14, "text-anchor": "middle" });
    label.textContent = text;
    c.axis.append(make("line", { class: "g", x1: pct(at), x2: pct(at), y1: c.top - 2, y2: bottom }), label);
  }
}
// Puts the rows that are not hidden below one another; gives where they end.
function place(rows, top, step) {
  for (const r of rows) {
    const hidden = state.hide[r.s];
    r.g.style.display = hidden ? "none" : "";
    if (hidden) continue;
    set(r.g, { transform: `translate(0 ${top})` });
    top += step;
  }
  return top;
}
function drawRow(r, scale, base) {
  const middle = 17 + r.height / 2, at = scale.place(r.x);
  set(r.bar, { width: pct(at), height: scale.log ? 2 : r.height, y: scale.log ? middle - 1 : 17 });
  if (scale.log && !r.dot) {
    r.dot = make("circle", { class: r.bar.getAttribute("class"), cy: middle, r: Math.min(6, r.height / 2 - 1) });
    r.bar.after(r.dot);
  }
  if (r.dot) set(r.dot, { cx: pct(at) }).style.display = scale.log ? "" : "none";
  const low = scale.place(r.x - r.h), high = scale.place(r.x + r.h), edge = Math.max(at, r.frame ? high : 0);
  if (r.frame) set(r.frame, { x: pct(low), width: pct(high - low) });
  r.text.textContent = base ? digits(r.x, 4) : r.shown;
  set(r.text, { x: pct(edge), dx: scale.log ? 10 : 6 });
}
function drawHeat() {
  if (!heat) return;
  for (const tr of all("tr", heat)) all("th,td", tr).slice(2).forEach((cell, i) => { cell.hidden = !!state.hide[i]; });
  for (const tr of heatRows) {
    const base = state.base && tr.cells_[state.base].x;
    for (const cell of tr.cells_) {
      const x = cell.x / base, known = base > 0 && isFinite(x);
      const rest = state.base && cell.x >= 0 ? "" : cell.text;
      cell.td.textContent = known ? digits(x, 3) : rest;
      cell.td.className = known ? "h" + [1.1, 1.02, .98, .9, .5, .25, -1].findIndex(step => x >= step) : rest && cell.look;
    }
    const figure = get(tr.dataset.r), section = figure && figure.closest("section");
    tr.hidden = !!section && section.hidden;
  }
  get("heat-note").hidden = state.base != "";
}
function apply() {
  charts.forEach(drawChart);
  for (const rows of boxes) place(rows.map(g => ({ g, s: g.dataset.s })), 22, 34);
  for (const e of all("polyline[data-s],tr[data-s],.reasons [data-s]")) e.style.display = state.hide[e.dataset.s] ? "none" : "";
  const words = state.find.toLowerCase().split(/\s+/);
  const order = { spread: (a, b) => b.spread - a.spread, name: (a, b) => byText(a.text, b.text) }[state.order] || (() => 0);
  for (const { s, text } of sections.slice().sort((a, b) => order(a, b) || a.i - b.i)) {
    s.hidden = !words.every(word => text.includes(word));
    end.before(s);
  }
  drawHeat();
}

// The view in the address, so that a link shows the same.
function save() {
  const parts = keys.filter(k => state[k] && state[k] != "file").map(k => k + "=" + encodeURIComponent(state[k]));
  const hide = Object.keys(state.hide).filter(s => state.hide[s]);
  if (hide.length) parts.push("hide=" + hide.join("."));
  const hash = "#" + location.hash.slice(1).split("?")[0] + (parts.length ? "?" + parts.join("&") : "");
  try { history.replaceState(null, "", hash == "#" ? location.pathname + location.search : hash); } catch { /* an address that cannot change */ }
}
function load() {
  const [anchor, query] = location.hash.slice(1).split("?");
  state = fresh();
  for (const [k, v] of new URLSearchParams(query)) {
    if (k == "hide") for (const s of v.split(".")) state.hide[s] = s in names;
    else if (keys.includes(k) && get(k)) {
      get(k).value = v;
      if (get(k).value == v) state[k] = v;
    }
  }
  for (const k of keys) if (get(k)) get(k).value = state[k];
  checks.forEach((check, i) => { check.checked = !state.hide[i]; });
  apply();
  if (anchor && get(anchor)) get(anchor).scrollIntoView();
}

const checks = systems.map((li, i) => {
  const label = document.createElement("label"), check = document.createElement("input");
  check.type = "checkbox";
  check.checked = true;
  check.addEventListener("change", () => { state.hide[i] = !check.checked; apply(); save(); });
  label.append(check, ...li.childNodes);
  li.append(label);
  return check;
});
for (const k of keys) if (get(k)) get(k).addEventListener("input", () => { state[k] = get(k).value; apply(); save(); });
form.addEventListener("submit", event => event.preventDefault());
form.addEventListener("reset", () => { state = fresh(); for (const c of checks) c.checked = true; setTimeout(() => { apply(); save(); }); });
for (const a of all("a.p")) a.addEventListener("click", () => setTimeout(() => {
  save();
  if (navigator.clipboard) navigator.clipboard.writeText(location.href).catch(() => {});
}));
bar.hidden = false;
if (location.hash.includes("?")) load();
})();
