import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { LongestFirst } from "./test/longest-first.ts";
import { filesOf, PROJECT_NAMES, PROJECTS } from "./test/projects.ts";

export default defineConfig({
  // What a program imports as `keyplane/...` is the source itself.
  ssr: { resolve: { conditions: ["keyplane-source", "node"] } },
  test: {
    // Most of these tests wait for a process, a database or a deadline: more of them at once than there are cores.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // No limit on a test stands for speed: only what hangs is to end.
    testTimeout: 300_000,
    hookTimeout: 300_000,
    projects: PROJECT_NAMES.map((name) => ({
      extends: true,
      test: { name, ...filesOf(name), globalSetup: [...PROJECTS[name].shared] },
    })),
  },
});
