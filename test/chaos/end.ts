import { isAccepted } from "./judgement.ts";
import type { Takeover } from "./leaderships.ts";
import { checkLeaks } from "./leaks.ts";
import { everDeclared } from "./model.ts";
import { hex } from "./probers.ts";
import type { Report } from "./report.ts";
import { type Ask, findUnrest } from "./rest.ts";
import { mintedByOwner, mintedVersions } from "./rules.ts";
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
  const minted = mintedByOwner(await mintedVersions(world.store), takeovers);
  for (const one of everDeclared(model)) {
    const count = minted.get(one.uid ?? "") ?? 0;
    const byInterval = one.interval === undefined ? 0 : Math.ceil((Date.now() - one.createdAt) / (0.9 * one.interval));
    if (count > one.causes + byInterval) {
      const what = `${count} secrets were minted, for ${one.causes} causes and ${byInterval} intervals`;
      report.violation({ rule: "one secret a version", subject: one.title, what });
    }
  }
  const writes = await writesOf(world);
  checkWrites(writes, model, report);
  checkRates(writes, report);
  await checkLeaks(
    world,
    secrets.held.map(({ value }) => value),
    report,
  );
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
