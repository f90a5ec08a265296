import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { type Html, html } from "../../../pages/html.ts";
import { moment } from "../../times.ts";
import { leakedVersions } from "../key-words.ts";

/** Warns of leaked versions that may let requests through, and says what to do. */
export function leakNotice(key: KeyJson, mayRevoke: boolean, now: number): Html | string {
  const leaked = leakedVersions(key);
  if (leaked.length === 0) return "";
  const said = leaked.map(
    ({ number, prefix, leakedAt }) =>
      html`Version ${number} (<code>${prefix}</code>) was reported ${moment(leakedAt ?? "", now)}. `,
  );
  const advice = leaked.every(({ state }) => state === "retiring")
    ? "It works until its overlap ends. Revoke the key if that is too late."
    : "Anyone who found it can use it: rotate the key and end its old versions at once, or revoke it.";
  return html`<div class="notice bad"><p><strong>Leaked.</strong> ${said}${mayRevoke ? advice : "Ask an admin of the team to revoke it."}</p></div>`;
}
