import type { LastUse } from "../../../../domain/key/stored/known-usage.ts";
import type { KeyJson } from "../../../management/keys/shown/key-json.ts";
import { type Html, html } from "../../../pages/html.ts";
import { moment } from "../../times.ts";
import { useOf } from "./key-in-use-panel.ts";

/**
 * Warns that no use of the newest version of a key is known while older versions work: the key's users have not read
 * the new version yet, and are refused once the older versions end.
 */
export function outdatedNotice({ versions, state }: KeyJson, lastUses: readonly LastUse[], now: number): Html | string {
  const newest = versions.find((version) => version.state === "active");
  const [older] = versions.filter((version) => version.state === "retiring");
  const isUsed = (number: number) => lastUses.some(({ version }) => version === number);
  if (state !== "active" || newest === undefined || older === undefined || isUsed(newest.number)) return "";
  const { number, retiresAt } = older;
  const use = useOf(
    lastUses.find(({ version }) => version === number),
    now,
  );
  return html`<div class="notice warn"><p><strong>Outdated.</strong> Version ${newest.number} works, and no use of it is known. Version ${number} works ${
    retiresAt === null ? "on for now" : html`until ${moment(retiresAt, now)}`
  } (${use}): have what uses this key read version ${newest.number}${retiresAt !== null && " before then"}.</p></div>`;
}
