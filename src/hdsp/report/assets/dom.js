// Elements, numbers and files. Text goes in as text nodes, never as markup.

/** An element: h("p.muted", { onclick: f }, "text", child); properties may be left out. */
export function h(tag, ...children) {
  const properties = children[0]?.constructor === Object ? children.shift() : {};
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name);
  if (classes.length) element.className = classes.join(" ");
  for (const [property, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (property.startsWith("on")) element.addEventListener(property.slice(2), value);
    else if (property === "style") element.style.cssText = value;
    else if (property === "value" || property === "checked") element[property] = value;
    else element.setAttribute(property, value === true ? "" : value);
  }
  return fill(element, children);
}

/** Replace the children of an element; null and false are none. */
export function fill(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter((child) => (child ?? false) !== false));
  return element;
}

export const percent = (value, digits = 1) => `${(100 * value).toFixed(digits)}%`;
/** A share on an axis: as many digits as it needs. */
export const percentTick = (value) => `${Number((100 * value).toPrecision(4))}%`;
/** A number with its sign, and a minus as wide as a plus. */
export const signed = (value, text = String(Math.abs(value))) => `${value < 0 ? "−" : value > 0 ? "+" : ""}${text}`;
/** A change of a proportion, in percentage points. */
export const points = (value, digits = 2) => signed(value, Math.abs(100 * value).toFixed(digits));
/** A measure, or a dash if it is missing. */
export const hundredths = (value) => (value === null ? "–" : value.toFixed(2).replace("-", "−"));
export const thousands = d3.format(",");
export const short = (value) => Number(value.toPrecision(6));
export const brief = (value) =>
  Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(2) : String(short(value));

let statusTimer = 0;
/** Show a message to the reader and to a screen reader. */
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
function csvOf({ columns, rows }) {
  const cell = (value) => {
    if (value === null || value === undefined) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

const MOST_ROWS = 500;

/** A table {columns, rows} as an element: its first rows. */
export function tableOf({ columns, rows }) {
  const cell = (value, i) => {
    if (typeof value === "number") return h("td.number", { "data-value": value }, brief(value));
    return i ? h("td", value ?? "") : h("th", { scope: "row" }, value ?? "");
  };
  const isNumber = (i) => typeof rows[0]?.[i] === "number";
  const head = columns.map((name, i) => h(isNumber(i) ? "th.number" : "th", { scope: "col" }, name));
  const body = rows.slice(0, MOST_ROWS).map((row) => h("tr", row.map(cell)));
  const rest = `The first ${MOST_ROWS} of ${thousands(rows.length)} rows; CSV has all.`;
  return [h("table", h("thead", h("tr", head)), h("tbody", body)), rows.length > MOST_ROWS && h("p.caption", rest)];
}

export function button(text, onclick, properties = {}) {
  return h("button", { type: "button", onclick, ...properties }, text);
}

export const saveButton = (kind, title, save) =>
  button(kind.toUpperCase(), save, {
    class: "quiet",
    "aria-label": `${title}: save as ${kind.toUpperCase()}`,
    "data-save": kind,
  });

/** A button that saves a table. */
export const csvButton = (title, file, table) =>
  saveButton("csv", title, () => download(`${file}.csv`, "text/csv;charset=utf-8", csvOf(table())));

/** Two or more choices, of which one holds. */
export function segments(label, choices, current, choose) {
  const parts = choices.map(([value, text]) =>
    button(text, () => choose(value), { "aria-pressed": String(value === current), "data-value": value }),
  );
  return h("div.segments", { role: "group", "aria-label": label }, parts);
}

/** A control with a text before it. */
export const field = (text, ...controls) => h("label.field", text, controls);

/** A box to tick with a text after it. */
export const tick = (text, checked, choose, properties = {}) =>
  h(
    "label.field",
    h("input", { type: "checkbox", checked, onchange: (event) => choose(event.target.checked), ...properties }),
    text,
  );

/** A select of options [value, text]. */
export function select(label, options, current, choose) {
  const shown = options.map(([value, text]) => h("option", { value }, text));
  const element = h("select", { "aria-label": label, onchange: () => choose(element.value) }, shown);
  element.value = current;
  return element;
}

/** A choice of how many things are shown. */
export function countSelect(label, numbers, what, current, choose) {
  const options = numbers.map((n) => [n, `${n} ${what}`]);
  return select(label, options, current, (value) => choose(Number(value)));
}

/** A field to search by words: `choose` gets them in lower case. */
export function searchField(id, label, placeholder, choose) {
  const oninput = (event) => choose(event.target.value.trim().toLowerCase());
  return h("input", { type: "search", id, placeholder, "aria-label": label, oninput });
}

let suggestionLists = 0;
/** A choice among very many: an input with suggestions, that takes only what it knows. */
export function chooser(label, options, choose, placeholder = "Type to choose …") {
  const id = `suggestions-${suggestionLists++}`;
  const byText = new Map(options.map(([value, text]) => [text, value]));
  const input = h("input", { type: "text", list: id, "aria-label": label, placeholder, autocomplete: "off" });
  const take = () => {
    const lower = input.value.trim().toLowerCase();
    const text = byText.has(input.value) ? input.value : [...byText.keys()].find((key) => key.toLowerCase() === lower);
    if (text !== undefined) choose(byText.get(text));
  };
  input.addEventListener("change", take);
  input.addEventListener("input", (event) => {
    // A suggestion that was clicked, in contrast to a letter that was typed.
    if (!(event instanceof InputEvent) || event.inputType === "insertReplacementText") take();
  });
  const shown = options.map(([, text]) => h("option", { value: text }));
  return h("span", input, h("datalist", { id }, shown));
}

/** A colour of the page as a value that a file can hold. */
export function themed(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
