import { counted } from "../../../../domain/counted.ts";
import { isInUse, type LiveTraffic, liveTrafficText } from "../../../../domain/key/stored/live-traffic.ts";
import type { RevocationOutcome } from "../../../management/keys/change/revoke-each.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { type Html, html } from "../../../pages/html.ts";
import { csrfField } from "../../../pages/layout.ts";
import { type Column, table } from "../../../pages/table.ts";
import type { Viewer } from "../../../pages/viewer.ts";
import { withMoments } from "../../times.ts";
import type { TypedRevocation } from "../act/act-pages.ts";
import { stateBadge } from "../key-words.ts";

/** Keys of a selection by their ids, without keys that the viewer does not see. */
type SeenKeys = ReadonlyMap<string, KeyJson>;

export type SelectedRevocation = {
  readonly keys: SeenKeys;
  /** Expected outcome for each key. */
  readonly outcomes: readonly RevocationOutcome[];
  /** Traffic of the keys that would be revoked, in the order of the page. */
  readonly traffic: ReadonlyMap<string, LiveTraffic>;
  /** URL of the list. */
  readonly list: string;
  /** URL of the form, which contains the selection: the form is sent there, and a sign-in leads back to it. */
  readonly address: string;
  readonly typed: Omit<TypedRevocation, "fault">;
  /** True if the typed confirmation is wrong. */
  readonly isUnconfirmed: boolean;
  /** Reason for the refusal, in words; empty at first. */
  readonly refused: string;
  readonly viewer: Viewer;
  /** Milliseconds since the epoch. */
  readonly now: number;
};

/** Returns the text that confirms a revocation of so many keys. */
export function confirmationOf(count: number): string {
  return `revoke ${counted(count, "key")}`;
}

const COLUMNS: readonly Column[] = [
  ["Name", "named"],
  ["Prefix", "whole"],
  ["State", "whole"],
  "What it would cut off",
];

export function revokeSelectedContent(page: SelectedRevocation): Html {
  const { keys, outcomes, traffic, list, isUnconfirmed, refused, now } = page;
  const ids = [...traffic.keys()];
  const left = outcomes.filter(({ is }) => is !== "revoked");
  const leftPanel =
    left.length > 0 &&
    html`<section class="panel" aria-labelledby="left"><h2 id="left">Left as they are</h2>${outcomeList(left, keys)}</section>`;
  if (ids.length === 0) {
    return html`${head(list, "None of these keys would be revoked")}
${leftPanel}<p class="actions"><a class="button" href="${list}">Back to the list</a></p>`;
  }
  const inUse = [...traffic.values()].filter((one) => isInUse(one, now));
  const requests = inUse.reduce((sum, { lastDay }) => sum + (lastDay?.requests ?? 0), 0);
  const fault = isUnconfirmed ? `Confirmation: type ${confirmationOf(ids.length)}.` : "";
  const said = isUnconfirmed ? html`What to change is said beside the field: <a href="#confirm">${fault}</a>` : refused;
  const rows = ids.map((id) => rowOf(id, keys, traffic, now));
  return html`${head(list, `Revoke ${counted(ids.length, "key")}`)}
${said !== "" && html`<div class="notice bad" role="alert"><p><strong>Nothing was changed.</strong> ${said}</p></div>`}
<div class="notice ${inUse.length > 0 ? "bad" : "warn"}"><p><strong>This is final.</strong> All versions of ${ids.length === 1 ? "this key" : `these ${ids.length} keys`} end at once, on every replica within seconds, and open calls are cut off. Anyone who needs a key again gets a new one.</p><p>${
    inUse.length === 0
      ? "No use within the last day is known."
      : html`<strong>${inUse.length} of ${ids.length} ${inUse.length === 1 ? "was" : "were"} used within the last day</strong>, ${requests === 0 ? "as far as is known" : `for ${counted(requests, "request")}`}.`
  }</p></div>
<div class="panel flush">${table("Keys to revoke", COLUMNS, rows)}</div>
<p class="hint">Those that are in use first, as of some seconds ago.</p>
${leftPanel}
${confirmForm(ids.length, page, fault)}`;
}

function confirmForm(count: number, page: SelectedRevocation, fault: string): Html {
  const { list, address, typed, viewer, isUnconfirmed: isFaulty } = page;
  const { reason, confirm } = typed;
  const phrase = confirmationOf(count);
  return html`<form class="panel narrow stack" method="post" action="${address}">${csrfField(viewer.csrf)}
<div class="field"><label for="reason">Reason</label><input id="reason" name="reason" value="${reason}" maxlength="500" autocomplete="off" aria-describedby="reason-hint"><p class="hint" id="reason-hint">For the audit log of each key, if you like. Not a place for a key.</p></div>
<div class="field"><label for="confirm">Confirmation</label><input id="confirm" name="confirm" value="${confirm}" required maxlength="60" autocomplete="off" autocapitalize="off" spellcheck="false" aria-describedby="confirm-hint${isFaulty && " confirm-error"}"${isFaulty && html` aria-invalid="true"`}><p class="hint" id="confirm-hint">Type <code>${phrase}</code>, so that no others are ended.</p>${isFaulty && html`<p class="error" id="confirm-error">${fault}</p>`}</div>
<p class="actions"><button class="primary danger">Revoke ${counted(count, "key")}</button><a class="button" href="${list}">Cancel</a></p></form>`;
}

function rowOf(id: string, keys: SeenKeys, traffic: SelectedRevocation["traffic"], now: number) {
  const key = keys.get(id);
  const live = traffic.get(id);
  const said = live === undefined ? "" : liveTrafficText(live, now);
  const isUsed = live !== undefined && isInUse(live, now);
  return [
    html`${nameOf(id, key)}${key && html`<small>${key.team}${key.managedBy !== null && html` · managed by ${key.managedBy}`}</small>`}`,
    html`<code>${key?.prefix ?? "none yet"}</code>`,
    key && stateBadge(key.state),
    html`${isUsed && html`<span class="line"><span class="badge bad">In use</span></span>`}${said.charAt(0).toUpperCase()}${withMoments(said.slice(1), now)}`,
  ];
}

export type RevokedSelection = Pick<SelectedRevocation, "keys" | "outcomes" | "list">;

/** Renders the outcome of a revocation for each key. */
export function revokedContent({ keys, outcomes, list }: RevokedSelection): Html {
  const of = (is: RevocationOutcome["is"]) => outcomes.filter((outcome) => outcome.is === is);
  const [revoked, already, refused] = [of("revoked"), of("already"), of("refused")];
  return html`${head(list, `${counted(revoked.length, "key")} revoked`)}
<div class="notice ${refused.length > 0 ? "bad" : "good"}" role="status"><p><strong>${revoked.length} revoked, ${already.length} already revoked, ${refused.length} refused.</strong> Every replica refuses a revoked key within seconds; its page says when all do.</p></div>
${section("refused", "Refused", refused, keys)}${section("revoked", "Revoked", revoked, keys)}${section("already", "Already revoked before", already, keys)}
<p class="actions"><a class="button primary" href="${list}">Back to the list</a></p>`;
}

function section(id: string, title: string, outcomes: readonly RevocationOutcome[], keys: SeenKeys): Html | string {
  if (outcomes.length === 0) return "";
  return html`<section class="panel" aria-labelledby="${id}"><h2 id="${id}">${title}</h2>${outcomeList(outcomes, keys)}</section>`;
}

function outcomeList(outcomes: readonly RevocationOutcome[], keys: SeenKeys): Html {
  return html`<ul>${outcomes.map(
    (outcome) => html`<li>${nameOf(outcome.id, keys.get(outcome.id))}${whyOf(outcome)}</li>`,
  )}</ul>`;
}

function whyOf(outcome: RevocationOutcome): Html | string {
  if (outcome.is === "refused") return html`: ${outcome.why}`;
  return outcome.is === "already" ? ": revoked already." : "";
}

function nameOf(id: string, key: KeyJson | undefined): Html {
  return key === undefined ? html`<code>${id}</code>` : html`<a href="/dashboard/keys/${id}">${key.name}</a>`;
}

function head(list: string, title: string): Html {
  return html`<div class="head"><div><p class="crumb"><a href="${list}">API keys</a></p><h1>${title}</h1></div></div>`;
}
