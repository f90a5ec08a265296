import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";
import { filesOf, halvesOfNpm, PROJECT_NAMES, PROJECTS } from "./test/projects.ts";

export default defineConfig({
  // What a program imports as `keyplane/...` is the source itself.
  ssr: { resolve: { conditions: ["keyplane-source", "node"] } },
  test: {
    // Most of these tests wait for a process, a database or a deadline: more of them at once than there are cores.
    maxWorkers: availableParallelism() + 2,
    sequence: { sequencer: LongestFirst },
    // No limit on a test stands for speed: only what hangs is to end.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: PROJECT_NAMES.flatMap((name) => {
      const { apart, together } = halvesOfNpm();
      const parts = name === "npm" ? { npm: apart, "npm-together": together } : { [name]: filesOf(name) };
      return Object.entries(parts).map(([part, files]) => ({
        extends: true as const,
        test: { name: part, ...files, isolate: files !== together, globalSetup: [...PROJECTS[name].shared] },
      }));
    }),
  },
});
