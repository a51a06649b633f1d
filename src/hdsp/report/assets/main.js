// Views are made when they are first shown, and drawn anew when they are shown again.

import { VIEWS, go, keepAddress, onGo, readFragment, state } from "./address.js";
import { DATA, effectRow } from "./data.js";
import { fill, h } from "./dom.js";
import { loadNames } from "./topics.js";
import { documentsView } from "./view-documents.js";
import { effectsView } from "./view-effects.js";
import { explorerView, firstSettings } from "./view-explorer.js";
import { fitView } from "./view-fit.js";
import { heatView } from "./view-heat.js";
import { mapView } from "./view-map.js";
import { topicsView } from "./view-topics.js";

const makers = {
  topics: topicsView,
  explorer: explorerView,
  effects: effectsView,
  map: mapView,
  heat: heatView,
  documents: documentsView,
  fit: fitView,
};
const made = {};

function showView() {
  for (const [name] of VIEWS) {
    const section = document.getElementById(`view-${name}`);
    section.hidden = name !== state.view;
    const link = document.querySelector(`nav a[data-view="${name}"]`);
    if (name === state.view) {
      link.setAttribute("aria-current", "page");
      // On a phone the row of views is wider than the screen.
      link.parentElement.scrollLeft = link.offsetLeft - 60;
    } else link.removeAttribute("aria-current");
  }
  const section = document.getElementById(`view-${state.view}`);
  made[state.view] ??= makers[state.view](section);
  made[state.view].draw();
  keepAddress();
}

function start() {
  loadNames();
  state.label = DATA.effects.labels[0] ?? null;
  firstSettings();
  if (state.a.size) {
    const first = [...state.a.keys()][0];
    if (effectRow.has(first)) state.label = first;
  }
  readFragment();
  const follow = (view) => (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go({ view });
  };
  const links = VIEWS.map(([view, text]) =>
    h("a", { href: `#view=${view}`, "data-view": view, onclick: follow(view) }, text),
  );
  fill(document.getElementById("nav"), links);
  for (const moment of ["popstate", "hashchange"]) {
    window.addEventListener(moment, () => {
      readFragment();
      showView();
    });
  }
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  });
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme
      ? root.dataset.theme === "dark"
      : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    showView();
  });
  onGo(showView);
  showView();
}

start();
