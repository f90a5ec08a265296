import { counted } from "../../../../domain/counted.ts";
import type { LastUse } from "../../../../domain/key/stored/known-usage.ts";
import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { type Content, flag, type Html, html } from "../../../pages/html.ts";
import { csrfField } from "../../../pages/layout.ts";
import type { Viewer } from "../../../pages/viewer.ts";
import { ago } from "../../times.ts";
import { type RequestBar, sumOf, sumsOf } from "../page/request-bars.ts";
import { versionsInUse } from "../page/versions-in-use.ts";

export type ActForm = {
  readonly key: KeyJson;
  readonly viewer: Viewer;
  /** Reason for the refusal, in words; empty at first. */
  readonly refused: Content;
};

/** Values of the form that revokes a key. */
export type TypedRevocation = {
  readonly reason: string;
  /** Name of the key, typed to confirm the revocation. */
  readonly confirm: string;
  /** Fault of the typed name; empty if it has none. */
  readonly fault: string;
};
export const NOTHING_TYPED: TypedRevocation = { reason: "", confirm: "", fault: "" };

/** Uses of a key that revoking would cut off, as far as they are known: only each replica knows its calls under way. */
export type PresentUse = {
  /** Last uses of the versions, the newest version first. */
  readonly lastUses: readonly LastUse[];
  /** Requests of the last hour, in bars of five minutes. */
  readonly lastHour: readonly RequestBar[];
  readonly now: number;
};

export function revokeContent({ key, viewer, refused }: ActForm, use: PresentUse, typed: TypedRevocation): Html {
  const { id, name } = key;
  const { reason, confirm, fault } = typed;
  const isFaulty = fault !== "";
  return act(
    key,
    `Revoke ${name}`,
    isFaulty ? html`What to change is said beside the field: <a href="#confirm">${fault}</a>` : refused,
    html`<p><strong>This is final.</strong> All versions of the key end at once, on every replica within seconds, and open calls with it are cut off. Anyone who needs a key again gets a new one.</p>
<h2>What it would cut off now</h2>${presentUse(use)}
<form class="stack" method="post" action="/dashboard/keys/${id}/revoke">${csrfField(viewer.csrf)}
<div class="field"><label for="reason">Reason</label><input id="reason" name="reason" value="${reason}" maxlength="500" autocomplete="off" aria-describedby="reason-hint"><p class="hint" id="reason-hint">For the audit log, if you like. Not a place for a key.</p></div>
<div class="field"><label for="confirm">Name of the key</label><input id="confirm" name="confirm" value="${confirm}" required maxlength="253" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="confirm-hint${isFaulty && " confirm-error"}"${isFaulty && html` aria-invalid="true"`}><p class="hint" id="confirm-hint">Type <code>${name}</code>, so that no other key is ended.</p>${isFaulty && html`<p class="error" id="confirm-error">${fault}</p>`}</div>
<p class="actions"><button class="primary danger">Revoke</button><a class="button" href="/dashboard/keys/${id}">Cancel</a></p></form>`,
  );
}

const HOUR_MS = 3_600_000;
/** Text for an hour without counted requests: a use is known some seconds before its request is counted. */
const NO_REQUESTS = {
  none: "No request within the last hour is known.",
  uncounted: "Its latest requests are not counted yet.",
} as const;

function presentUse({ lastUses, lastHour, now }: PresentUse): Html {
  const sums = [...sumsOf(lastHour)].map(
    ([scope, sum]) => html`<li>${sum.toLocaleString("en-US")} by <code>${scope}</code></li>`,
  );
  const sum = sumOf(lastHour);
  return html`<p>${
    sum === 0
      ? NO_REQUESTS[lastUses.some(({ at }) => at > now - HOUR_MS) ? "uncounted" : "none"]
      : html`<strong>${counted(sum, "request")}</strong> within the last hour:`
  }</p>${sum > 0 && html`<ul>${sums}</ul>`}${
    lastUses.length === 0
      ? html`<p>It was never used.</p>`
      : html`<ul>${lastUses.map((use) => html`<li>${useText(use, now)}</li>`)}</ul>`
  }<p class="hint">As of some seconds ago. Answers that stream with the key are cut too.</p>`;
}

function useText({ version, at, address, userAgent }: LastUse, now: number): Content {
  const from = [address && ` from ${address}`, userAgent && ` by ${userAgent}`];
  return html`Version ${version}, last used ${ago(rfc3339Millis(at), now)}${from}`;
}

/** Overlaps that the form offers: how long the present version works on beside its successor. */
export const OVERLAPS = [
  { value: "1h", words: "1 hour" },
  { value: "24h", words: "24 hours" },
  { value: "168h", words: "7 days" },
  { value: "0s", words: "Not at all: it ends at once" },
] as const;
export const USUAL_OVERLAP = "24h";

/** Values of the form that rotates a key: the overlap of a key that was made by hand, `revokeOld` of a declared one. */
export type TypedRotation = { readonly overlap: string; readonly revokeOld: boolean };

/**
 * Renders the form that rotates a key. The versions in use stand below the form, so that the button stays where it was
 * pressed whatever is known by then.
 *
 * @param once id of the submission, which recognises a form that is sent twice
 */
export function rotateContent(
  { key, viewer, refused }: ActForm,
  once: string,
  { lastUses, now }: Pick<PresentUse, "lastUses" | "now">,
  { overlap, revokeOld }: TypedRotation,
): Html {
  const { id, name, declaredIn } = key;
  const fields =
    declaredIn === null
      ? html`<p>A new version is made, and shown once on the next page. The present one works on beside it for a while.</p>
<div class="field"><label for="overlap">The present version works on for</label><select id="overlap" name="overlap">${OVERLAPS.map(
          ({ value, words }) => html`<option value="${value}" ${flag("selected", value === overlap)}>${words}</option>`,
        )}</select></div>`
      : html`<p>Its controller makes a new version, and delivers it where the key's declaration says. The present one works on beside it for as long as the declaration says.</p>
<div class="choice"><input type="checkbox" id="revokeOld" name="revokeOld" value="yes" ${flag("checked", revokeOld)}><label for="revokeOld">End the present version as soon as the new one is delivered</label></div>`;
  const form = act(
    key,
    `Rotate ${name}`,
    refused,
    html`<form class="stack" method="post" action="/dashboard/keys/${id}/rotate">${csrfField(viewer.csrf)}<input type="hidden" name="once" value="${once}">${fields}
<p class="actions"><button class="primary">Rotate</button><a class="button" href="/dashboard/keys/${id}">Cancel</a></p></form>`,
  );
  return html`${form}
${versionsInUse(key, lastUses, now)}`;
}

function act({ id, name }: KeyJson, title: string, refused: Content, content: Html): Html {
  return html`<div class="head narrow"><div><p class="crumb"><a href="/dashboard/keys">API keys</a> / <a href="/dashboard/keys/${id}">${name}</a></p><h1>${title}</h1></div></div>
${refused !== "" && html`<div class="notice bad narrow" role="alert"><p><strong>Nothing was changed.</strong> ${refused}</p></div>`}
<div class="panel narrow">${content}</div>`;
}
