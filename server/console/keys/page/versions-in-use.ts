import type { LastUse } from "../../../../domain/key/stored/known-usage.ts";
import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import type { KeyJson, VersionJson } from "../../../management/keys/shown/key-json.ts";
import { type Html, html } from "../../../pages/html.ts";
import { type Column, table } from "../../../pages/table.ts";
import { moment } from "../../times.ts";
import { mayWork, versionBadge } from "../key-words.ts";
import { useOf } from "./key-in-use-panel.ts";

const COLUMNS: readonly Column[] = [
  ["Version", "whole"],
  ["Prefix", "whole"],
  ["State", "whole"],
  "Works until",
  "Use",
];

/**
 * Shows the versions of a key that work now, the newest first: until when each works, and its last known use.
 *
 * @param now milliseconds since the epoch
 */
export function versionsInUse(key: KeyJson, lastUses: readonly LastUse[], now: number): Html {
  const working = key.versions.filter((version) => mayWork(version) && endsAt(version, key) > now);
  return html`<section class="panel narrow" aria-labelledby="works-now"><h2 id="works-now">What works now</h2>${
    key.state === "suspended" && html`<p>The key is suspended: none of these works until it is resumed.</p>`
  }${working.length === 0 ? html`<p>No version.</p>` : tableOf(key, working, lastUses, now)}</section>`;
}

function tableOf(key: KeyJson, working: readonly VersionJson[], lastUses: readonly LastUse[], now: number): Html {
  const rows = working.map((version) => {
    const end = endsAt(version, key);
    return [
      String(version.number),
      html`<code>${version.prefix}</code>`,
      versionBadge(version),
      Number.isFinite(end) ? moment(rfc3339Millis(end), now) : "No end",
      useOf(
        lastUses.find((use) => use.version === version.number),
        now,
      ),
    ];
  });
  return html`${table("Versions that work", COLUMNS, rows)}<p class="hint">As of some ten seconds ago.</p>`;
}

/** Returns when a version stops working: by its overlap, its own end, or the key's. In milliseconds since the epoch. */
function endsAt({ retiresAt, expiresAt }: VersionJson, { spec }: KeyJson): number {
  const ends = [retiresAt, expiresAt, spec.expiresAt].map((end) => (end ? Date.parse(end) : Number.POSITIVE_INFINITY));
  return Math.min(...ends);
}
