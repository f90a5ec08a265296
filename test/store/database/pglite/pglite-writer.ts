/** A process that writes to a PGlite folder until it is killed: prints `wrote N` once N is committed. */
import { change } from "../../../../store/database/change.ts";
import { openPGlite } from "../../../../store/database/pglite/pglite.ts";
import { saveTeam } from "../../../../store/teams/teams.ts";
import { teamDraft } from "../../fixtures.ts";

const store = await openPGlite(process.argv[2] ?? "");
for (let n = 1; ; n++) {
  await change(store, null, (tx) => saveTeam(tx, teamDraft({ name: `team ${n}`, namespaces: [`ns-${n}`] })));
  process.stdout.write(`wrote ${n}\n`);
}
