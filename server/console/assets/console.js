// What the console's pages do by script: nothing that a person cannot do without.

/** The characters of a key that may be shown: a whole key that somebody pastes into a search stays in the browser. */
const PREFIX_LENGTH = 12;

document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset.search === undefined) return;
  const text = target.value.trim();
  if (text.startsWith("inf_") && text.length > PREFIX_LENGTH) target.value = text.slice(0, PREFIX_LENGTH);
}, true);

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

// An answer that is no page of the list is shown as a page.
document.addEventListener("htmx:response:error", ({ detail }) => {
  location.assign(detail.ctx.request.action);
});
