import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { COMPILE_CACHE, SHORT_LIVED } from "./test/env/compile-cache.ts";
import { NIGHTLY } from "./test/env/nightly.ts";
import { LongestFirst } from "./test/longest-first.ts";
import { filesOf, halvesOfNpm, PROJECT_NAMES, PROJECTS } from "./test/projects.ts";

/**
 * Of a process that files share: to look for garbage in it less often takes less of the processor, and more memory.
 */
const SHARED_PROCESS = ["--min-semi-space-size=32", "--initial-old-space-size=512"];

/** Projects all of whose files share processes: what they load is compiled once for each process. */
const SHARED_BY_ALL: readonly string[] = ["browser", "cluster", "faults", "journeys", "pulumi"];

export default defineConfig({
  // What a program imports as `keyplane/...` is the source itself.
  ssr: { resolve: { conditions: ["keyplane-source", "node"] } },
  test: {
    sequence: { sequencer: LongestFirst },
    // No limit on a test stands for speed: only what hangs is to end.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // What is about PGlite or vectors has no tests on a PostgreSQL that is tried instead of ours.
    passWithNoTests: process.env.KEYPLANE_TEST_POSTGRES !== undefined,
    projects: PROJECT_NAMES.flatMap((name) => {
      const { apart, together } = halvesOfNpm();
      const parts = name === "npm" ? { npm: apart, "npm-together": together } : { [name]: filesOf(name) };
      // By night databases are large, and what V8 optimizes of PGlite pays off.
      const short = !NIGHTLY && ["npm", "journeys", "faults"].includes(name) ? SHORT_LIVED : [];
      return Object.entries(parts).map(([part, files]) => {
        const sharesProcess = files === together || SHARED_BY_ALL.includes(name);
        return {
          extends: true as const,
          test: {
            name: part,
            ...files,
            // Many tests wait for a database or a deadline, those of npm most. Each process more is to load and to compile
            // everything once more.
            maxWorkers: availableParallelism() + (name === "npm" ? 3 : 1),
            // Of tests side by side most wait: for a file to be left alone, for a lock, for a replica.
            ...(name === "npm" && { maxConcurrency: 30 }),
            isolate: !sharesProcess,
            globalSetup: [...PROJECTS[name].shared],
            env: sharesProcess ? { ...COMPILE_CACHE, KEYPLANE_TEST_SHARES_PROCESS: "yes" } : COMPILE_CACHE,
            execArgv: sharesProcess ? [...short, ...SHARED_PROCESS] : [...short],
          },
        };
      });
    }),
  },
});
