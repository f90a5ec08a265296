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

/** Stands for the key in the files that the page of a new key holds. */
const PLACEHOLDER = "KEY-IS-PUT-HERE";
const shownOnce = document.querySelector("[data-shown-once]");
if (shownOnce !== null) {
  const secret = document.getElementById("secret");
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
