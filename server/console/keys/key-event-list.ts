import { rfc3339Millis } from "../../../domain/rfc3339.ts";
import type { KeyEvent } from "../../../store/keys/key-events.ts";
import { type Html, html } from "../html.ts";
import { moment } from "../times.ts";
import { inWords } from "./key-words.ts";

/** What happened, in words; another kind is shown by its name. */
const WORDS: Readonly<Record<string, (detail: KeyEvent["detail"]) => string>> = {
  "key.reserved": ({ version }) => `Version ${version} was minted`,
  "key.activated": ({ version }) => `Version ${version} came into use`,
  "key.retired": () => "Old versions ended",
  "key.policy_updated": ({ changed }) => `Changed: ${changedFields(changed)}`,
  "key.rotation_requested": () => "A new version was asked for",
  "key.expiring": ({ expiresAt }) => `It was found to end soon, at ${expiresAt}`,
  "key.consumer_late": ({ lateVersion }) => `Somebody was found to use version ${lateVersion} still`,
  "key.leaked": ({ version, reporter, url }) => `Version ${version} was reported as leaked${reportedBy(reporter, url)}`,
  "key.taken_over": ({ namespace, name }) => `Taken over by PlatformKey ${namespace}/${name}`,
  "key.released": () => "Its declaration let go of it",
  "key.revoked": ({ reason }) => `Revoked: ${inWords(String(reason)).toLowerCase()}`,
};

export function eventList(events: readonly KeyEvent[], now: number): Html {
  if (events.length === 0) return html`<p class="muted">Nothing is kept of it any more.</p>`;
  return html`<ul class="events">${events.map(({ at, kind, actor, detail }) => {
    const { why } = detail;
    return html`<li><span>${WORDS[kind]?.(detail) ?? kind}</span>${
      typeof why === "string" && html`<span>“${why}”</span>`
    }<span class="muted small">${actor} · ${moment(rfc3339Millis(at), now)}</span></li>`;
  })}</ul>`;
}

function reportedBy(reporter: unknown, url: unknown): string {
  if (reporter === "anonymous") return ", by nobody known";
  return reporter === "github" ? `, by GitHub${typeof url === "string" ? `: ${url}` : ""}` : "";
}

function changedFields(changed: unknown): string {
  const names = typeof changed === "object" && changed !== null ? Object.keys(changed) : [];
  return names.length === 0 ? "nothing that counts" : names.join(", ");
}
