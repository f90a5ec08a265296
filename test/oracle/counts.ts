import type { ModelDeclaration } from "./model.ts";
import type { Report } from "./report.ts";
import type { MintedCounts } from "./rules.ts";

/** One secret is delivered for one cause, and none is minted without, whatever refuses or alters the Secret (spec §6.2). */
export function checkCounts(
  declarations: readonly ModelDeclaration[],
  counts: ReadonlyMap<string, MintedCounts>,
  report: Report,
): void {
  for (const { uid = "", title, causes, holds, interval, createdAt } of declarations) {
    const { delivered = 0, minted = 0 } = counts.get(uid) ?? {};
    const byInterval = interval === undefined ? 0 : Math.ceil((Date.now() - createdAt) / (0.9 * interval));
    const most = causes + byInterval;
    if (delivered <= most && minted <= most + holds) continue;
    const secrets = `${delivered} secrets were delivered and ${minted} minted`;
    const what = `${secrets}, for ${causes} causes, ${holds} holds and ${byInterval} intervals`;
    report.violation({ rule: "one secret a version", subject: title, what });
  }
}
