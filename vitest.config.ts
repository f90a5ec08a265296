import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  // What a program imports as `keyplane/...` is the source itself.
  ssr: { resolve: { conditions: ["keyplane-source", "node"] } },
  test: {
    include: ["test/**/*.test.ts"],
    exclude: [
      "**/node_modules/**",
      // Needs a node to run pods on: npm run e2e.
      "test/e2e/workload/**",
    ],
    globalSetup: ["test/env/global-setup.ts"],
    // Most of these tests wait for a process, a database or a deadline: more of them at once than there are cores.
    maxWorkers: availableParallelism() + 1,
    // No limit on a test stands for speed: only what hangs is to end.
    testTimeout: 300_000,
    hookTimeout: 300_000,
  },
});
