import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { type Html, html } from "../../../pages/html.ts";
import { csrfField } from "../../../pages/layout.ts";
import type { Viewer } from "../../../pages/viewer.ts";
import { isMadeByHand } from "../key-words.ts";

/**
 * What the viewer may do with a key: one thing in front, what ends it apart, and the rest in a menu that opens without
 * script. Nothing for a key that has ended.
 */
export function keyActions({
  key,
  mayChange,
  mayRevoke,
  viewer,
}: {
  readonly key: KeyJson;
  readonly mayChange: boolean;
  readonly mayRevoke: boolean;
  readonly viewer: Viewer;
}): Html | string {
  const { id, state, declaredIn } = key;
  if (state === "revoked") return "";
  const isOwn = mayChange && isMadeByHand(key);
  const mayRotate = isOwn || (mayChange && declaredIn !== null);
  return html`<div class="actions">${
    mayRotate && html`<a class="button primary" href="/dashboard/keys/${id}/rotate">Rotate</a>`
  }${isOwn && menu(key, viewer)}${
    mayRevoke && html`<a class="button danger apart" href="/dashboard/keys/${id}/revoke">Revoke</a>`
  }</div>`;
}

function menu({ id, spec }: KeyJson, { csrf }: Viewer): Html {
  const isSuspended = spec.state === "Suspended";
  return html`<details class="menu"><summary class="button">More</summary><div>
<a class="button" href="/dashboard/keys/${id}/edit">Edit</a>
<form method="post" action="/dashboard/keys/${id}/state">${csrfField(csrf)}<input type="hidden" name="state" value="${isSuspended ? "Active" : "Suspended"}"><button>${isSuspended ? "Resume" : "Suspend"}</button></form>
<a class="button" href="/dashboard/keys/${id}/manifest">Export as manifest</a>
</div></details>`;
}
