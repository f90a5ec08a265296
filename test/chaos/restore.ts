/** The careless end of a run: the database is put back as it was before the last things that users did. */
import { setTimeout as delay } from "node:timers/promises";
import { putBack } from "../env/database/put-back.ts";
import type { Random } from "../env/random.ts";
import type { Report } from "../oracle/report.ts";
import { MOVES } from "./moves.ts";
import type { Stage } from "./stage.ts";

/**
 * What happens between the copy and its return. What is revoked by hand then is not known to any declaration: a restore
 * forgets it, as `keyplane doctor --after-restore` says, so it is not done here.
 */
const FORGOTTEN = [
  "create",
  "create",
  "delete",
  "rotate",
  "rotate",
  "suspend",
  "declare revoked",
  "change rights",
  "edit the Secret",
  "lose the Secret",
  "regenerate the manifest",
  "strip the finalizer",
];
const BETWEEN_MOVES_MS = 300;
/** What was done is carried out before it is forgotten. */
const CARRIED_OUT_MS = 5_000;

/** Copies the database, has users do things, and restores the copy. Each process goes on meanwhile. */
export async function restoreDatabase(stage: Stage, random: Random, report: Report) {
  await putBack(
    stage.world.postgres,
    (line) => report.log(line),
    async () => {
      for (const name of FORGOTTEN) {
        const done = MOVES[name]?.move(stage, random);
        if (done !== undefined) report.note(`${name}: ${done}`);
        await delay(BETWEEN_MOVES_MS);
      }
      await stage.settled();
      await delay(CARRIED_OUT_MS);
    },
  );
}
