// Dark or light: as the system says, until one is chosen.

import { byId } from "./dom.js";

const KEY = "sandbox-theme";

export function startTheme() {
  apply(localStorage.getItem(KEY));
  byId("theme").addEventListener("click", () => {
    const next = current() === "dark" ? "light" : "dark";
    localStorage.setItem(KEY, next);
    apply(next);
  });
}

function current() {
  const chosen = document.documentElement.dataset.theme;
  if (chosen) return chosen;
  return matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
}

function apply(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}
