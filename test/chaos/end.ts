import { checkCounts } from "../oracle/counts.ts";
import { checkEverySecret } from "../oracle/every-secret.ts";
import type { Takeover } from "../oracle/leaderships.ts";
import { checkLeaks } from "../oracle/leaks.ts";
import { everDeclared } from "../oracle/model.ts";
import type { Ask } from "../oracle/probers.ts";
import type { Report } from "../oracle/report.ts";
import { findUnrest } from "../oracle/rest.ts";
import { countByOwner, mintedVersions } from "../oracle/rules.ts";
import type { Standings } from "../oracle/standings.ts";
import { checkRates, checkWrites, writesOf } from "../oracle/writes.ts";
import type { Stage } from "./stage.ts";
import { CONTROLLER_USER, processesOf } from "./world.ts";

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
