import { openServers, openUp } from "../chaos/hostile/installation.ts";
import { runHostileTenant } from "../chaos/hostile/run.ts";

const FORMS = { "keyplane server, two replicas": openServers, "keyplane up": openUp };
const ATOMS = 20_000;
const REST_MS = 10_000;
const ATTACK_MS = 20_000;

/** Measures what other tenants' calls take before, beside and after a hostile tenant that does all that it can at once. */
export async function benchCallers(): Promise<string> {
  const tables: string[] = [];
  for (const [name, open] of Object.entries(FORMS)) {
    const lines: string[] = [];
    await runHostileTenant({
      open,
      atoms: ATOMS,
      restMs: REST_MS,
      attackMs: ATTACK_MS,
      out: (line) => lines.push(line),
    });
    tables.push([name, ...lines].join("\n"));
  }
  return tables.join("\n\n");
}
