import { execFile } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mcpRoutes } from "../../../memory/mcp/routes.ts";
import type { Store } from "../../../store/database/store.ts";
import { ROOT } from "../../architecture/sources.ts";
import { type Harness, startHarness } from "../../server/harness.ts";
import { openMemoryStore } from "../memory-store.ts";
import { INAPPLICABLE, RUN } from "./conformance-scenarios.ts";
import { lendSuiteTools } from "./conformance-tools.ts";

const SUITE = join(ROOT, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
const suite = (...args: string[]) => promisify(execFile)(process.execPath, [SUITE, ...args], { maxBuffer: 1 << 26 });

type Check = { readonly id: string; readonly status: string; readonly errorMessage?: string };
/** What a run came to, by scenario. */
type Outcome = ReadonlyMap<string, readonly Check[]>;

const folder = mkdtempSync(join(tmpdir(), "keyplane-conformance-"));
const takeBack = lendSuiteTools();
let store: Store;
let server: Harness;
let scenarios: readonly { readonly name: string; readonly revisions: readonly string[] }[];
const outcomes = new Map<string, Outcome>();

beforeAll(async () => {
  store = await openMemoryStore();
  server = await startHarness({ mounts: [{ at: "", routes: mcpRoutes }], store });
  const key = server.addKey({ teamDefaultLibraryId: "lib-handbook" });
  // The suite knows of no key: each of its requests gets one at the server's door.
  server.app.server.prependListener("request", ({ rawHeaders }) => rawHeaders.push("Authorization", `Bearer ${key}`));
  scenarios = listed((await suite("list", "--server")).stdout);
  const revisions = new Set(scenarios.flatMap((scenario) => scenario.revisions).filter((name) => name !== "extension"));
  await Promise.all([...revisions].map(async (revision) => outcomes.set(revision, await runSuite(revision))));
});
afterAll(async () => {
  takeBack();
  await server.close();
  await store.close();
  rmSync(folder, { recursive: true });
});

describe("the conformance suite of MCP", () => {
  test("has no scenario that is neither run nor listed with why it does not apply, and none of them twice", () => {
    const others = Object.values(INAPPLICABLE).flat();
    const whole = others.filter((name) => !name.includes(":"));
    expect([...RUN, ...whole].sort()).toEqual(scenarios.map(({ name }) => name).sort());
  });

  test("has no scenarios besides but those of clients and of authorization servers, which this is not", async () => {
    const groups = [...(await suite("list")).stdout.matchAll(/^(\S.*) scenarios\b/gm)].map(([, group]) => group);
    expect(groups).toEqual(["Server", "Client", "Authorization server"]);
  });

  test("finds fault with nothing that applies, in either era", () => {
    const [faults, ran] = [new Map<string, string>(), new Set<string>()];
    for (const [revision, outcome] of outcomes) {
      for (const name of RUN) {
        for (const { id, status, errorMessage } of outcome.get(name) ?? []) {
          ran.add(`${revision} ${name}`);
          if (status === "SUCCESS" || status === "INFO") continue;
          faults.set(`${name}:${id}`, `${revision}: ${status}: ${errorMessage}`);
        }
      }
    }
    const excepted = Object.values(INAPPLICABLE)
      .flat()
      .filter((name) => name.includes(":"));
    expect([...faults.keys()].sort(), JSON.stringify([...faults], null, 2)).toEqual(excepted.sort());
    const due = scenarios.filter(({ name }) => RUN.includes(name));
    expect([...ran].sort()).toEqual(
      due.flatMap(({ name, revisions }) => revisions.map((one) => `${one} ${name}`)).sort(),
    );
  });
});

/** `  - tools-list [2025-06-18,2025-11-25]`, a scenario a line. */
function listed(text: string) {
  return [...text.matchAll(/^ +- (\S+) \[([^\]]+)\]$/gm)].map(([, name = "", revisions = ""]) => ({
    name,
    revisions: revisions.split(","),
  }));
}

async function runSuite(revision: string): Promise<Outcome> {
  const output = join(folder, revision);
  const args = ["--url", `${server.url}/api/v1/memory/mcp`, "--suite", "all", "--spec-version", revision];
  // It ends with an error as soon as one check fails, of what does not apply too.
  await suite("server", ...args, "--output-dir", output).catch(() => {});
  return new Map(
    readdirSync(output).map((run) => [
      run.replace(/^server-|-\d{4}-\d\d-\d\dT.*$/g, ""),
      JSON.parse(readFileSync(join(output, run, "checks.json"), "utf8")),
    ]),
  );
}
