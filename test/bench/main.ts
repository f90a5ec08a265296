/** `npm run bench`: prints what deciding and forwarding cost here. How each run is made: README.md beside this file. */
import { availableParallelism, cpus, loadavg } from "node:os";
import { benchAttacks } from "./attacks.ts";
import { benchAuthz } from "./authz.ts";
import { benchBudget } from "./budget.ts";
import { benchCallers } from "./callers.ts";
import { benchConsole } from "./console.ts";
import { benchController } from "./controller.ts";
import { benchDecide } from "./decide.ts";
import { benchGateway } from "./gateway.ts";
import { benchIndex } from "./index.ts";
import { benchMemory, benchMemoryOfTeams } from "./memory.ts";
import { benchPages } from "./pages.ts";
import { benchProfile } from "./profile.ts";
import { benchPublic } from "./public.ts";
import { benchRecall } from "./recall.ts";
import { benchRest } from "./rest.ts";
import { benchRevocation } from "./revocation.ts";
import { benchSaves } from "./saves.ts";
import { benchScale } from "./scale.ts";
import { benchSemantic } from "./semantic.ts";
import { benchTokens } from "./tokens.ts";
import { benchUploads } from "./uploads.ts";

const [cpu] = cpus();
const load = loadavg().map((value) => value.toFixed(1));
process.stdout.write(
  `npm run bench\nnode ${process.version}, ${availableParallelism()} cores (${cpu?.model.trim() ?? "unknown"}), load ${load.join(" ")}\n\n`,
);
const BENCHES = {
  budget: benchBudget,
  decide: benchDecide,
  authz: benchAuthz,
  index: benchIndex,
  gateway: benchGateway,
  profile: benchProfile,
  tokens: benchTokens,
  uploads: benchUploads,
  rest: benchRest,
  revocation: benchRevocation,
  scale: benchScale,
  controller: benchController,
  memory: benchMemory,
  teams: benchMemoryOfTeams,
  saves: benchSaves,
  pages: benchPages,
  semantic: benchSemantic,
  recall: benchRecall,
  public: benchPublic,
  callers: benchCallers,
  attacks: benchAttacks,
  console: benchConsole,
};
const [only] = process.argv.slice(2);
for (const [name, bench] of Object.entries(BENCHES)) {
  if (only === undefined || only === name) process.stdout.write(`${await bench()}\n\n`);
}
// The embedded PostgreSQL's package would end the process for us, and with another code.
process.exit();
