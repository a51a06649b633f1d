// Elements, numbers and files. Text goes in as text nodes, never as markup.

/** An element: h("p", {class: "x", onclick: f}, "text", child). */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") element.style.cssText = value;
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

export function fill(element, ...children) {
  element.replaceChildren(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

export const percent = (value, digits = 1) => `${(100 * value).toFixed(digits)}%`;
/** A share on an axis: as many digits as it needs. */
export const percentTick = (value) => `${Number((100 * value).toPrecision(4))}%`;
/** A number with its sign, and a minus as wide as a plus. */
export const signed = (value, text = String(Math.abs(value))) => `${value < 0 ? "−" : value > 0 ? "+" : ""}${text}`;
/** A change of a proportion, in percentage points. */
export const points = (value, digits = 2) => signed(value, Math.abs(100 * value).toFixed(digits));
/** A measure, or a dash where there is none. */
export const hundredths = (value) => (value === null ? "–" : value.toFixed(2).replace("-", "−"));
export const thousands = d3.format(",");
export const brief = (value) =>
  Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3)
    ? value.toExponential(2)
    : String(Number(value.toPrecision(6)));

let statusTimer = 0;
/** Tell the reader, and a screen reader, what has happened. */
export function announce(text) {
  const status = document.getElementById("status");
  status.textContent = text;
  status.classList.add("shown");
  clearTimeout(statusTimer);
  statusTimer = setTimeout(() => status.classList.remove("shown"), 2500);
}

export function download(name, type, content) {
  const link = h("a", { href: URL.createObjectURL(new Blob([content], { type })), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** A table as CSV. A text that a spreadsheet would run as a formula is led by an apostrophe. */
export function csvOf(columns, rows) {
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

export function button(text, onclick, properties = {}) {
  return h("button", { type: "button", onclick, ...properties }, text);
}

/** Two or more choices, of which one holds. */
export function segments(label, choices, current, choose) {
  return h(
    "div",
    { class: "segments", role: "group", "aria-label": label },
    choices.map(([value, text]) =>
      button(text, () => choose(value), { "aria-pressed": String(value === current()), "data-value": value }),
    ),
  );
}

/** A select of options [value, text]. */
export function select(label, options, current, choose) {
  const element = h(
    "select",
    { "aria-label": label, onchange: () => choose(element.value) },
    options.map(([value, text]) => h("option", { value }, text)),
  );
  element.value = current;
  return element;
}

/** A choice of how many things are shown. */
export const countSelect = (label, numbers, what, current, choose) =>
  select(
    label,
    numbers.map((n) => [n, `${n} ${what}`]),
    current,
    (value) => choose(Number(value)),
  );

/** A choice among very many: an input with suggestions, that takes only what it knows. */
let suggestionLists = 0;
export function chooser(label, options, choose, placeholder = "Type to choose …") {
  const id = `suggestions-${suggestionLists++}`;
  const byText = new Map(options.map(([value, text]) => [text, value]));
  const input = h("input", { type: "text", list: id, "aria-label": label, placeholder, autocomplete: "off" });
  const take = () => {
    const lower = input.value.trim().toLowerCase();
    const text = byText.has(input.value)
      ? input.value
      : options.find((option) => option[1].toLowerCase() === lower)?.[1];
    if (text === undefined) return;
    choose(byText.get(text), input);
  };
  input.addEventListener("change", take);
  input.addEventListener("input", (event) => {
    // A suggestion that was clicked, in contrast to a letter that was typed.
    if (!(event instanceof InputEvent) || event.inputType === "insertReplacementText") take();
  });
  const list = h(
    "datalist",
    { id },
    options.map(([, text]) => h("option", { value: text })),
  );
  return h("span", {}, input, list);
}

/** A colour of the page as a value that a file can hold. */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
