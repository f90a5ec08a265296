import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { type Html, html } from "../../../pages/html.ts";
import { csrfField } from "../../../pages/layout.ts";
import type { Viewer } from "../../../pages/viewer.ts";
import { isMadeByHand, leakedVersions } from "../key-words.ts";

/**
 * Renders the actions that the viewer may take on a key: one in front, revoking apart, and the rest in a menu that
 * opens without script. In front is Resume if the key is suspended and was not reported as leaked, and else Rotate, as
 * a plain button. Empty for a revoked key.
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
  const rotate = (classes: string) => html`<a class="${classes}" href="/dashboard/keys/${id}/rotate">Rotate</a>`;
  const toResume = isOwn && key.spec.state === "Suspended" && leakedVersions(key).length === 0;
  const first = toResume ? stateForm(key, viewer, "button primary") : mayRotate && rotate("button");
  const other = toResume ? rotate("button") : stateForm(key, viewer, "button");
  return html`<div class="actions">${first}${isOwn && menu(id, other)}${
    mayRevoke && html`<a class="button danger apart" href="/dashboard/keys/${id}/revoke">Revoke</a>`
  }</div>`;
}

function menu(id: string, other: Html): Html {
  return html`<details class="menu"><summary class="button">More</summary><div>
<a class="button" href="/dashboard/keys/${id}/edit">Edit</a>
${other}
<a class="button" href="/dashboard/keys/${id}/manifest">Export as manifest</a>
</div></details>`;
}

function stateForm({ id, spec }: KeyJson, { csrf }: Viewer, classes: string): Html {
  const [label, state] = spec.state === "Suspended" ? ["Resume", "Active"] : ["Suspend", "Suspended"];
  return html`<form method="post" action="/dashboard/keys/${id}/state">${csrfField(csrf)}<input type="hidden" name="state" value="${state}"><button class="${classes}">${label}</button></form>`;
}
