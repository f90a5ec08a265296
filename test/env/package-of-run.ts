/** A global setup: the package is packed once for the test files of a project, when the first of them asks for it. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openDesk } from "./desk.ts";
import { pack } from "./package.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The desk that answers with the path of the package's tarball. */
    packagePort: number;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-packed-"));
  const desk = await openDesk(async () => ({ details: await pack(folder), stop: async () => {} }));
  project.provide("packagePort", desk.port);
  return async () => {
    await desk.close();
    await rm(folder, { recursive: true });
  };
}
