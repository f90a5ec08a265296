import { defineConfig } from "vitest/config";

/** Of `npm run e2e`: see main.ts. */
export default defineConfig({
  test: {
    include: ["test/e2e/workload/*.test.ts"],
    globalSetup: ["test/env/global-setup.ts"],
    // Each of its tests goes on from where the one before it has ended.
    bail: 1,
    testTimeout: 240_000,
    hookTimeout: 240_000,
  },
});
