import { existsSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import { describe, expect, it } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { LONGEST } from "../longest-first.ts";
import { stepsOf } from "../nightly.ts";
import { APART, filesOf, halvesOfNpm, PROJECT_NAMES, PROJECTS, type ProjectName } from "../projects.ts";
import { filesBelow, importsOf, ROOT, read } from "./sources.ts";

const files = filesBelow("test", ".test.ts");
const matches = (file: string, globs: readonly string[]) => globs.some((glob) => matchesGlob(file, glob));
const projects = new Map(
  files.map((file) => {
    const names = PROJECT_NAMES.filter((name) => {
      const { include, exclude } = filesOf(name, true);
      return matches(file, include) && !matches(file, exclude);
    });
    return [file, names] as const;
  }),
);
const projectsOf = (file: string): readonly ProjectName[] => projects.get(file) ?? [];

/** What not every machine has: the module by which a test comes to it, and where such tests may be by day. */
const COMPONENTS: Readonly<Record<string, readonly ProjectName[]>> = {
  "test/env/kubernetes/binaries.ts": ["cluster", "chaos", "e2e"],
  "test/env/kubernetes/of-run.ts": ["cluster"],
  "test/env/actionlint.ts": ["cluster"],
  "test/env/glua.ts": ["cluster"],
  "test/env/helm.ts": ["cluster", "e2e"],
  "test/env/promtool.ts": ["cluster", "e2e"],
  "test/env/pulumi/cli.ts": ["pulumi"],
  "test/env/pulumi.ts": ["pulumi"],
  "test/env/opentofu/cli.ts": ["pulumi"],
  "test/env/opentofu.ts": ["pulumi"],
  "test/env/browser.ts": ["browser"],
  "test/env/nginx.ts": ["system"],
  "test/env/python-proxies.ts": ["system"],
  "test/env/database/pgbouncer.ts": ["system", "e2e"],
  "test/env/node/namespaces.ts": ["system", "e2e"],
};

/** Programs that not every machine has, or that need root, as a test names them. */
const PROGRAMS = /"(python3|nginx|tar|unshare|mount|go|apt-get)"/;

/** Calls that watch the process as a whole, or replace what all of it has. */
const OF_THE_PROCESS =
  /\bprocess\.(chdir|umask)\b|\b(monitorEventLoopDelay|eventLoopUtilization)\(|\bvi\.(useFakeTimers|stubGlobal|stubEnv|mock|doMock)\(|\bnew Worker\(/;

const reaches = new Map<string, ReadonlySet<string>>();

/** All that a file has loaded. */
function reachOf(file: string): ReadonlySet<string> {
  const known = reaches.get(file);
  if (known !== undefined) return known;
  const reach = new Set([file]);
  // A set's loop visits what is added to it meanwhile.
  for (const each of reach) for (const next of importsOf(each)) reach.add(next);
  reaches.set(file, reach);
  return reach;
}

it("a program of the tests, as npm run bench is, loads nothing that only a test run has", () => {
  const programs = filesBelow("test", ".ts").filter((file) => /(\/main|-process)\.ts$/.test(file));
  expect(programs).toContain("test/bench/main.ts");
  const isOfRun = (module: string) => /^import \{[^}]*\binject\b[^}]*\} from "vitest";/m.test(read(module));
  const wrong = programs.flatMap((file) => [...reachOf(file)].filter(isOfRun).map((module) => `${file}: ${module}`));
  expect(wrong).toEqual([]);
});

describe("the suites", () => {
  it("have each test file once, and the ending of its name says where", () => {
    const ending = (file: string) => /\.([^./]+?)(\.night)?\.test\.ts$/.exec(file)?.[1] ?? "npm";
    expect(files.filter((file) => projectsOf(file).join() !== ending(file))).toEqual([]);
  });

  it("have no file that reaches for what its suite does not bring: name it x.<suite>.test.ts", () => {
    const wrong = files.flatMap((file) => {
      const has = (module: string) =>
        projectsOf(file).every((name) => name === "night" || (COMPONENTS[module]?.includes(name) ?? true));
      return [...reachOf(file)].filter((module) => !has(module)).map((module) => `${file}: ${module}`);
    });
    expect(wrong).toEqual([]);
  });

  it("have each file of npm test in one of its halves", () => {
    const halves = Object.values(halvesOfNpm());
    const isIn = (file: string) =>
      halves.filter(({ include, exclude }) => matches(file, include) && !matches(file, exclude)).length;
    const wrong = files.filter((file) => isIn(file) !== (projectsOf(file).includes("npm") ? 1 : 0));
    expect(wrong).toEqual([]);
  });

  it("have no file that watches its event loop, or replaces what all of its process has, in one with others", () => {
    const sharing = [halvesOfNpm().together, filesOf("cluster", true), filesOf("pulumi", true)];
    const together = files.filter((file) =>
      sharing.some(({ include, exclude }) => matches(file, include) && !matches(file, exclude)),
    );
    const reached = new Set(together.flatMap((file) => [...reachOf(file)]));
    const calls = [...reached].filter((module) => module.startsWith("test/") && OF_THE_PROCESS.test(read(module)));
    const wrong = together.flatMap((file) =>
      calls.filter((module) => reachOf(file).has(module)).map((module) => `${file}: ${module}`),
    );
    expect(wrong).toEqual([]);
    const spying = together.filter((file) => /\bvi\.spyOn\(/.test(read(file)));
    expect(spying.filter((file) => !/\b(restoreAllMocks|mockRestore)\(/.test(read(file)))).toEqual([]);
  });

  it("name files that exist", () => {
    expect(LONGEST.filter((file) => !files.includes(file))).toEqual([]);
    expect(APART.filter((glob) => !files.some((file) => matches(file, [glob])))).toEqual([]);
    expect(Object.keys(COMPONENTS).filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it("call no program that npm does not bring where npm is all that is needed", () => {
    const takesNpm = (name: ProjectName) => PROJECTS[name].needs === "npm";
    const wrong = files.filter((file) => projectsOf(file).every(takesNpm) && PROGRAMS.test(read(file)));
    expect(wrong.filter((file) => !file.startsWith("test/architecture/"))).toEqual([]);
  });

  it("have all tests of what makes statements run on PostgreSQL 15 too", () => {
    const [, folders = ""] = /set -- ([^;]+);/.exec(packageJson.scripts["test:postgres15"]) ?? [];
    const ofStores = files.filter((file) => /^test\/(\w+\/)?store\//.test(file));
    const isRun = (file: string) => folders.split(" ").some((folder) => file.startsWith(`${folder}/`));
    expect(ofStores.filter((file) => !isRun(file))).toEqual([]);
  });

  it("run by night as a whole, and in parts that have each of them once", () => {
    const steps = stepsOf(1, 1);
    const projects = steps.flatMap(({ name, command }) =>
      [...command].filter((_, at) => command[at - 1] === "--project").concat(name),
    );
    expect(PROJECT_NAMES.filter((name) => !projects.includes(name))).toEqual([]);
    const nights = steps
      .filter(({ command }) => command.includes("night"))
      .flatMap(({ command }) => command.filter((word) => word.startsWith("test/")));
    const ofNight = files.filter((file) => projectsOf(file).includes("night"));
    expect(ofNight.filter((file) => nights.filter((folder) => file.startsWith(`${folder}/`)).length !== 1)).toEqual([]);
    for (const parts of [2, 4, 5]) {
      const names = Array.from({ length: parts }, (_, part) => stepsOf(part + 1, parts))
        .flat()
        .map(({ name }) => name);
      expect(names.toSorted()).toEqual(steps.map(({ name }) => name).toSorted());
    }
  });

  it.each(PROJECT_NAMES)(
    "%s has tests, a command, and its run in the gate, or is for the night or a credential",
    (name) => {
      expect(files.some((file) => projectsOf(file).includes(name))).toBe(true);
      const script = PROJECTS[name].command.replace(/^npm (run )?/, "");
      expect(Object.keys(packageJson.scripts)).toContain(script);
      if (name === "night" || name === "providers") return;
      expect(read(".ci/run")).toMatch(new RegExp(`\\bsuite \\S+ ${script}[\\s"]`));
    },
  );
});
