import { type Html, html } from "../../../pages/html.ts";
import { csrfField } from "../../../pages/layout.ts";
import type { Viewer } from "../../../pages/viewer.ts";

/** Content of the form, which never repeats what was typed. */
export type FindForm = {
  /** Outcome for the secret that was sent; `nothing` if none was sent yet. */
  readonly outcome: "nothing" | "empty" | "unknown";
  readonly viewer: Viewer;
};

const SAID = {
  empty: "Paste the whole key.",
  unknown:
    "No key that you may see has this secret. It may be another team's, of another installation, or not whole: a key is copied to its last character.",
} as const;

export function findContent({ outcome, viewer }: FindForm): Html {
  return html`<div class="head"><div><p class="crumb"><a href="/dashboard/keys">API keys</a></p><h1>Find a key by its secret</h1></div></div>
${outcome !== "nothing" && html`<div class="notice bad narrow" role="alert"><p>${SAID[outcome]}</p></div>`}
<form class="panel narrow stack" method="post" action="/dashboard/keys/find">${csrfField(viewer.csrf)}
<div class="field"><label for="secret">The whole key</label><input id="secret" name="secret" type="password" required maxlength="512" autocomplete="off" spellcheck="false" aria-describedby="secret-hint"><p class="hint" id="secret-hint">It is looked for by its SHA-256, and kept nowhere. A key that others may have seen is to be revoked on its page.</p></div>
<p class="actions"><button class="primary">Find</button><a class="button" href="/dashboard/keys">Cancel</a></p></form>`;
}
