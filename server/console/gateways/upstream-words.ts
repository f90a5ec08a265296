import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { UpstreamState } from "../../../store/gateways/upstream-outcomes.ts";
import type { StoredUpstream } from "../../../store/objects/objects.ts";
import { type Content, type Html, html } from "../../pages/html.ts";
import { ago } from "../times.ts";

type Health = { readonly word: string; readonly tone: "good" | "warn" | "bad" | "" };

/** Says whether an upstream answers, as calls have shown: a page sends it no request. */
export function healthOf(state: UpstreamState | undefined, { takesCredential, hasCredential }: StoredUpstream): Health {
  if (takesCredential && !hasCredential) return { word: "No credential", tone: "bad" };
  if (state?.refusesCredential) {
    return { word: takesCredential ? "Credential refused" : "Asks for a credential", tone: "bad" };
  }
  const { answeredAt = null, status = null, failedAt = null } = state ?? {};
  if (failedAt !== null && failedAt >= (answeredAt ?? 0)) return { word: "Does not answer", tone: "bad" };
  if (answeredAt === null) return { word: "Not asked yet", tone: "" };
  if (status === null || status < 400) return { word: "Answers", tone: "good" };
  // An upstream answers a caller's own mistakes with such a status, too.
  return { word: `Answers with ${status}`, tone: status >= 500 ? "bad" : "warn" };
}

export function healthBadge({ word, tone }: Health): Html {
  return html`<span class="badge ${tone}">${word}</span>`;
}

/** Says when an upstream last answered and last failed, and how. */
export function lastHeard(state: UpstreamState | undefined, now: number): Content {
  const { answeredAt = null, status = null, failedAt = null, failure = null } = state ?? {};
  if (answeredAt === null && failedAt === null) return html`<span class="muted">No call known yet</span>`;
  return html`${answeredAt !== null && html`<span class="line">Answered ${status} ${ago(rfc3339Millis(answeredAt), now)}</span>`}${
    failedAt !== null && html`<span class="line">Failed ${ago(rfc3339Millis(failedAt), now)}: ${failure}</span>`
  }`;
}

export function credentialWords(
  state: UpstreamState | undefined,
  { takesCredential, hasCredential }: StoredUpstream,
  now: number,
): Content {
  if (takesCredential && !hasCredential) return html`<strong>None</strong>: nothing is forwarded`;
  const { credentialAt = null, refusesCredential = false, refusedAt = null } = state ?? {};
  const there = credentialAt === null ? "There" : html`There, read ${ago(rfc3339Millis(credentialAt), now)}`;
  return html`${takesCredential ? there : "None declared: calls go without one"}${
    refusesCredential &&
    refusedAt !== null &&
    html`<span class="line"><strong>${takesCredential ? "Refused" : "Asked for"}</strong> ${ago(rfc3339Millis(refusedAt), now)}</span>`
  }`;
}
