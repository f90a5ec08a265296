import { NIGHTLY } from "./env/nightly.ts";

/** What the test files of a run share, as far as one of them asks for it: vitest's global setups. */
const POSTGRES = "test/env/global-setup.ts";
const GO_PROGRAMS = "test/env/go/go-programs.ts";
const PULUMI = "test/env/pulumi/global-setup.ts";
const TOFU = "test/env/opentofu/global-setup.ts";
const PACKAGE = "test/env/package-of-run.ts";

/**
 * The suites. The ending of a test file's name says which one it is in, and nothing else does: `x.cluster.test.ts` is in
 * `cluster`, and so on; a file whose name has none of these endings is in `npm`, and takes nothing but what npm brings.
 * `journeys` and `faults` take no more: in the first are the guides, and what starts Keyplane as processes or threads; in
 * the second what kills these, loses files, cuts connections, sets clocks or goes on for long under load. What is in
 * `night` runs at night alone, and what is in `providers` by a credential alone. `x.cluster.night.test.ts` is in `cluster`,
 * by night alone: another level holds its promise by day.
 */
export const PROJECTS = {
  npm: { command: "npm test", needs: "npm", shared: [POSTGRES] },
  journeys: { command: "npm run test:journeys", needs: "npm", shared: [POSTGRES] },
  faults: { command: "npm run test:faults", needs: "npm", shared: [POSTGRES] },
  cluster: {
    command: "npm run test:cluster",
    needs: "Go, which builds Kubernetes, Helm, promtool and Lua",
    shared: [POSTGRES, GO_PROGRAMS],
  },
  pulumi: {
    command: "npm run test:pulumi",
    needs: "Go, which builds the Pulumi CLI and OpenTofu, Python with venv, Python's registry",
    shared: [POSTGRES, GO_PROGRAMS, PULUMI, TOFU],
  },
  browser: { command: "npm run test:browser", needs: "Chromium", shared: [POSTGRES] },
  chaos: { command: "npm run test:chaos", needs: "Go, which builds Kubernetes", shared: [POSTGRES, GO_PROGRAMS] },
  system: {
    command: "npm run test:system",
    needs: "root on Linux, nginx, PgBouncer, Python with venv, tar, npm's and Python's registries",
    shared: [POSTGRES, PACKAGE],
  },
  e2e: {
    command: "npm run e2e",
    needs: "root on Linux, Go and apt, nightly PgBouncer; or a cluster",
    shared: [POSTGRES],
  },
  providers: {
    command: "npm run test:providers",
    needs: "a credential of OpenAI, Anthropic or Google, whose models it asks",
    shared: [],
  },
  night: {
    command: "npm run nightly",
    needs: "all of these: every test at its full length",
    shared: [POSTGRES, GO_PROGRAMS, PULUMI, TOFU],
  },
} as const;

export type ProjectName = keyof typeof PROJECTS;

export const PROJECT_NAMES = Object.keys(PROJECTS) as ProjectName[];
const ENDINGS = PROJECT_NAMES.filter((name) => name !== "npm");

/**
 * The two halves of `npm`, as vitest's globs. What is in `together` shares a process with others, which spares half of
 * the processor's time: it leaves nothing behind there but what it has loaded.
 */
export function halvesOfNpm(): Record<"apart" | "together", { include: string[]; exclude: string[] }> {
  const { exclude } = filesOf("npm");
  return {
    apart: { include: [`test/!(${SHARING.join("|")})/**/*.test.ts`, ...APART], exclude },
    together: { include: [`test/{${SHARING.join(",")}}/**/*.test.ts`], exclude: [...exclude, ...APART] },
  };
}

/** The folders whose files share processes. */
const SHARING = [
  ...["architecture", "cli", "controller", "domain", "e2e", "env", "examples", "infra", "memory", "mistakes", "oracle"],
  ...["processes", "runtime", "server", "store"],
];

/**
 * What replaces timers, globals or modules of its process, watches its event loop, starts threads in it, decides by leases in real
 * time, counts the scans of a database whose connections are all its own, or takes long.
 */
export const APART = [
  "test/cli/env/sdk-variables.test.ts",
  "test/cli/memory/large-notes.test.ts",
  "test/cli/output/progress.test.ts",
  "test/controller/cluster/files/manifests/careless.test.ts",
  "test/controller/cluster/files/manifests/restless.test.ts",
  "test/controller/cluster/files/tree-watch.test.ts",
  "test/server/budgets/draw-queue.test.ts",
  "test/server/calls/shared-calls.test.ts",
  "test/server/console/exports.test.ts",
  "test/server/gateway/headers/credential-mask.test.ts",
  "test/server/gateway/operation-rows.test.ts",
  "test/server/gateway/request-body.test.ts",
  "test/server/gateway/slow-connections.test.ts",
  "test/server/gateway/tokens/call-bounds.test.ts",
  "test/server/key-index/dead-replicas.test.ts",
  "test/server/key-index/limit-cells-of-threads.test.ts",
  "test/server/key-index/replica-lease.test.ts",
  "test/server/key-index/replica-gap.test.ts",
  "test/server/key-index/replica-model.test.ts",
  "test/memory/saves-at-once.test.ts",
  "test/oracle/checker.test.ts",
  "test/store/database/pglite/connection-queue.test.ts",
  "test/store/feed/feed-connections.test.ts",
  "test/memory/store/writes/near-duplicate-iterations.test.ts",
];

/** The test files of a project, by night or by day, as vitest's globs. */
export function filesOf(project: ProjectName, night = NIGHTLY): { include: string[]; exclude: string[] } {
  const modules = "**/node_modules/**";
  const endings = `{${ENDINGS.join(",")}}`;
  if (project === "npm") return { include: ["test/**/*.test.ts"], exclude: [modules, `test/**/*.${endings}.test.ts`] };
  const byDay = `test/**/*.${project}.test.ts`;
  if (project === "night") return { include: [byDay], exclude: [modules, `test/**/*.${endings}.night.test.ts`] };
  return { include: night ? [byDay, `test/**/*.${project}.night.test.ts`] : [byDay], exclude: [modules] };
}
