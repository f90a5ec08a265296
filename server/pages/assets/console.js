// What the console's pages do by script: nothing that a person cannot do without.

/** The characters of a key that may be shown: a whole key that is pasted into a search stays in the browser. */
const PREFIX_LENGTH = 12;

/** A key, however it was pasted: quoted, behind `Bearer`, or as a line of a file of variables. */
const KEY = /inf_[!#-+\--~]{9}/;

/** What is as long as a minted key, and its last six characters. */
const MINTED = /inf_[0-9A-Za-z]{51}(?=([0-9A-Za-z]{6}))/g;
const ALPHABET = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset.search === undefined) return;
  const [key] = KEY.exec(target.value) ?? brokenKey(target.value);
  if (key !== undefined) target.value = key.slice(0, PREFIX_LENGTH);
}, true);

/** A minted key with spaces in it, as where a line has ended within it. It is known by its checksum, which no words have. */
function brokenKey(text) {
  const joined = text.replace(/[\s\p{Cf}]/gu, "");
  return [...joined.matchAll(MINTED)].find(([body, digits]) => checksum(body) === digits) ?? [];
}

/** The CRC-32 of a key's first 55 characters in base62. */
function checksum(body) {
  let crc = -1;
  for (const character of body) {
    crc ^= character.charCodeAt(0);
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  let digits = "";
  for (let rest = ~crc >>> 0; digits.length < 6; rest = Math.floor(rest / 62)) digits = ALPHABET[rest % 62] + digits;
  return digits;
}

/** What is written without a field to write it in: `/` leads to the page's search. */
document.addEventListener("keydown", (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (key !== "/" || ctrlKey || metaKey || altKey || target.closest("input, textarea, select") !== null) return;
  const search = document.querySelector("input[type=search]");
  if (search === null) return;
  event.preventDefault();
  search.focus();
  search.select();
});

const MINUTE = { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", timeZoneName: "short" };
const LOCAL = {
  minute: new Intl.DateTimeFormat("en-GB", MINUTE),
  second: new Intl.DateTimeFormat("en-GB", { ...MINUTE, second: "2-digit" }),
};

/** What a page is without script it says in UTC, and has no button for what only a script can do. */
function enliven() {
  for (const time of document.querySelectorAll("time")) {
    const { local } = time.dataset;
    const said = LOCAL[local ?? "minute"].format(new Date(time.dateTime));
    if (local !== undefined) {
      time.title ||= time.textContent;
      time.textContent = said;
    } else if (!time.title.startsWith(said)) time.title = `${said} (${time.title})`;
  }
  for (const button of document.querySelectorAll("button[data-copy][hidden]")) button.hidden = false;
  countSelected();
}

/** The checkboxes of a list whose rows are selected. */
function selectionBoxes() {
  return [...document.querySelectorAll("#selection [type=checkbox]")];
}

/** How many of a page are selected, and a button for all of them. */
function countSelected() {
  const boxes = selectionBoxes();
  const count = boxes.filter(({ checked }) => checked).length;
  for (const said of document.querySelectorAll("[data-selected]")) {
    said.dataset.selected ||= said.textContent;
    said.textContent = count === 0 ? said.dataset.selected : `${count} of ${boxes.length} selected`;
  }
  for (const button of document.querySelectorAll("button[data-select-all]")) {
    button.hidden = false;
    button.textContent = count > 0 && count === boxes.length ? "Select none" : "Select all on this page";
  }
}

document.addEventListener("change", ({ target }) => {
  if (target.closest("#selection") !== null) countSelected();
});

document.addEventListener("click", ({ target }) => {
  if (!(target instanceof Element) || target.closest("button[data-select-all]") === null) return;
  const boxes = selectionBoxes();
  const isAll = boxes.every(({ checked }) => checked);
  for (const box of boxes) box.checked = !isAll;
  countSelected();
});

// A browser that goes back to a page gives it back what was selected there.
addEventListener("pageshow", countSelected);

enliven();
document.addEventListener("htmx:after:swap", enliven);

/** What is wrong with a form that is being filled in is said at its fields, as where the server has refused it. */
function placeFaults() {
  const panel = document.querySelector("[data-faults-of]");
  // A button that is being pressed stays where it is.
  if (panel === null || document.querySelector("button:active") !== null) return;
  const form = document.getElementById(panel.dataset.faultsOf);
  for (const fault of form.querySelectorAll(".error")) fault.remove();
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  for (const { hash, textContent } of panel.querySelectorAll("li > a[href^='#']")) {
    const field = form.querySelector(hash);
    const fault = document.createElement("p");
    Object.assign(fault, { className: "error", id: `${field.id}-error`, textContent });
    (field.closest(".field") ?? field).append(fault);
    if (field.tagName === "FIELDSET") continue;
    field.setAttribute("aria-invalid", "true");
    const hint = document.getElementById(`${field.id}-hint`) === null ? "" : `${field.id}-hint `;
    field.setAttribute("aria-describedby", `${hint}${fault.id}`);
  }
}
document.addEventListener("htmx:after:swap", placeFaults);

/** A form whose manifest cannot be had now stays as it is, and says so. */
function sayStale(event) {
  if (event.detail.ctx.request.method === "GET") return;
  event.preventDefault();
  document.querySelector("[data-stale]")?.removeAttribute("hidden");
}
document.addEventListener("htmx:error", sayStale);
document.addEventListener("htmx:before:response", (event) => {
  if (event.detail.ctx.response.status >= 400) sayStale(event);
});
// And one that is on its way asks for nothing more.
document.addEventListener("htmx:before:request", (event) => {
  if (event.target.hasAttribute("aria-busy")) event.preventDefault();
});

document.addEventListener("click", async ({ target }) => {
  const button = target instanceof Element ? target.closest("button[data-copy]") : null;
  if (button === null) return;
  const text = document.getElementById(button.dataset.copy)?.textContent ?? "";
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select and copy it by hand";
  }
  setTimeout(() => {
    button.textContent = label;
  }, 2_000);
});

/**
 * A form that changes something is sent once: a second press while its answer is under way would have the browser throw
 * that answer away, and with it what it alone shows (threats b116).
 */
document.addEventListener("submit", (event) => {
  const form = event.target;
  if (event.defaultPrevented || form.method !== "post") return;
  if (form.hasAttribute("aria-busy")) {
    event.preventDefault();
    return;
  }
  form.setAttribute("aria-busy", "true");
  form.dispatchEvent(new Event("htmx:abort"));
  if (form.dataset.kept !== undefined) keepTyped(form);
  // Later: a button that is disabled now would not be sent with the form.
  setTimeout(() => {
    for (const button of submitButtonsOf(form)) button.disabled = form.hasAttribute("aria-busy");
  });
});

// Also of a page that the browser has kept to go back to.
addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[aria-busy]")) {
    form.removeAttribute("aria-busy");
    for (const button of submitButtonsOf(form)) button.disabled = false;
  }
});

function submitButtonsOf(form) {
  return [...form.elements].filter((element) => element.type === "submit");
}

/**
 * What was typed into a form outlasts a session that ends before it is sent: this tab keeps it until the form is shown
 * again to the same person, or has made what it is for. Nothing that looks like a key or a hash is kept.
 */
const KEPT = "keyplane-typed";
const KEPT_MS = 3_600_000;
const CONFIDENTIAL = /inf_|[0-9a-f]{32}/i;

/** Nothing is kept where a browser lets pages keep nothing. */
function changeKept(change) {
  try {
    return change(sessionStorage);
  } catch {
    return null;
  }
}

function typedFields(form) {
  return [...form.elements].filter(({ name, type }) => name !== "" && !["hidden", "submit", "fieldset"].includes(type));
}

function viewer() {
  return document.querySelector(".who")?.textContent;
}

function keepTyped(form) {
  const typed = typedFields(form).map(({ name, type, value, checked }) => {
    const isChoice = type === "checkbox";
    return { name, value: CONFIDENTIAL.test(value) && !isChoice ? "" : value, checked: isChoice && checked };
  });
  changeKept((store) => store.setItem(KEPT, JSON.stringify({ page: form.action, by: viewer(), at: Date.now(), typed })));
}

function giveBackTyped(form) {
  const kept = JSON.parse(changeKept((store) => store.getItem(KEPT)) ?? "null");
  if (kept === null || kept.page !== form.action) return;
  changeKept((store) => store.removeItem(KEPT));
  // The form is there with what was typed where the server has refused it.
  if (kept.by !== viewer() || Date.now() - kept.at > KEPT_MS || document.querySelector("[role=alert]") !== null) return;
  for (const field of typedFields(form)) {
    const { name, value } = field;
    const isChoice = field.type === "checkbox";
    const one = kept.typed.find((typed) => typed.name === name && (!isChoice || typed.value === value));
    if (one === undefined) continue;
    if (isChoice) field.checked = one.checked;
    else if (field.tagName !== "SELECT" || [...field.options].some((option) => option.value === one.value)) {
      field.value = one.value;
      if (one.value !== "") field.closest("details")?.setAttribute("open", "");
    }
  }
  document.querySelector("[data-kept-note]")?.removeAttribute("hidden");
  addEventListener("load", () => form.dispatchEvent(new Event("input")));
}

for (const form of document.querySelectorAll("form[data-kept]")) giveBackTyped(form);

/** Stands for the key in the files that the page of a new key holds. */
const PLACEHOLDER = "KEY-IS-PUT-HERE";
const shownOnce = document.querySelector("[data-shown-once]");
if (shownOnce !== null) {
  const secret = document.getElementById("secret");
  changeKept((store) => store.removeItem(KEPT));
  // A reload asks for the key's page, and not for the form to be sent again.
  history.replaceState(null, "", shownOnce.dataset.shownOnce);
  for (const button of shownOnce.querySelectorAll("button[data-download]")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const file = button.dataset.download;
      const held = [...shownOnce.querySelectorAll("template")].find((one) => one.dataset.file === file);
      const text = (held?.content.textContent ?? "").replaceAll(PLACEHOLDER, secret.textContent);
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
      link.download = file;
      link.click();
      URL.revokeObjectURL(link.href);
    });
  }
  // Nothing of the key is left in a page that a browser keeps to go back to.
  addEventListener("pagehide", () => {
    secret.textContent = "The key was on this page until you left it.";
  });
}

// An answer that is no page of the list is shown as a page.
document.addEventListener("htmx:response:error", ({ detail }) => {
  location.assign(detail.ctx.request.action);
});
