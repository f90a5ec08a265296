import { checkCounts } from "./counts.ts";
import { checkEverySecret } from "./every-secret.ts";
import type { Takeover } from "./leaderships.ts";
import { checkLeaks } from "./leaks.ts";
import { everDeclared } from "./model.ts";
import type { Ask } from "./probers.ts";
import type { Report } from "./report.ts";
import { findUnrest } from "./rest.ts";
import { countByOwner, mintedVersions } from "./rules.ts";
import type { Stage } from "./stage.ts";
import type { Standings } from "./standings.ts";
import { CONTROLLER_USER, processesOf } from "./world.ts";
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
  const writes = await writesOf(world.kubernetes, CONTROLLER_USER);
  checkWrites(writes, model, report);
  checkRates(writes, report);
  await checkLeaks(
    { ...world, processes: processesOf(world) },
    secrets.held.map(({ value }) => value),
    report,
  );
}
