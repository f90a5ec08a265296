import { isAccepted } from "./judgement.ts";
import type { Takeover } from "./leaderships.ts";
import { checkLeaks } from "./leaks.ts";
import { type Declared, everDeclared } from "./model.ts";
import { hex } from "./probers.ts";
import type { Report } from "./report.ts";
import { type Ask, findUnrest } from "./rest.ts";
import { countByOwner, type MintedCounts, mintedVersions } from "./rules.ts";
import type { Secrets } from "./secrets.ts";
import type { Stage } from "./stage.ts";
import type { Standings } from "./standings.ts";
import { checkRates, checkWrites, writesOf } from "./writes.ts";

/**
 * What is looked at once, when all is at rest.
 *
 * @param standings of a look that began after the last change
 * @param takeovers all of the run
 */
export async function checkEnd(
  stage: Stage,
  report: Report,
  { standings, takeovers }: { readonly standings: Standings; readonly takeovers: readonly Takeover[] },
  ask: Ask,
): Promise<void> {
  const { world, model, secrets } = stage;
  for (const one of await findUnrest(stage, ask)) report.violation({ rule: "I8", ...one });
  await checkEverySecret({ serverUrls: world.serverUrls, secrets }, report, standings, ask);
  checkCounts(everDeclared(model), countByOwner(await mintedVersions(world.store), takeovers), report);
  const writes = await writesOf(world);
  checkWrites(writes, model, report);
  checkRates(writes, report);
  await checkLeaks(
    world,
    secrets.held.map(({ value }) => value),
    report,
  );
}

/** One secret is delivered for one cause, and none is minted without, whatever refuses or alters the Secret (spec §6.2). */
export function checkCounts(
  declarations: readonly Declared[],
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

/** Every replica says of every secret what the store does. */
export async function checkEverySecret(
  { serverUrls, secrets }: { readonly serverUrls: readonly string[]; readonly secrets: Pick<Secrets, "held"> },
  report: Report,
  standings: Standings,
  ask: Ask,
): Promise<void> {
  for (const { value, digest, prefix, title } of secrets.held) {
    const standing = standings.get(hex(digest));
    const works = standing?.usable === true && (standing.until === null || standing.until > Date.now());
    const answers = await Promise.all(serverUrls.map((url) => ask(url, value)));
    answers.forEach((answer, replica) => {
      if (answer !== undefined && isAccepted(answer.status) === works) return;
      const what = `server-${replica} answers ${answer?.status ?? "nothing"}; by the store it ${works ? "works" : "is refused"}`;
      report.violation({ rule: "I8", subject: `${title} ${prefix}`, what });
    });
  }
}
