/**
 * A global setup: the package is packed, and installed by the oldest Node.js that it promises, once for the test files of
 * a project, when the first of them asks for it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { OLDEST_NODE } from "../../runtime/node-version.ts";
import { openDesk } from "./desk.ts";
import { install, pack, pathOfNode } from "./package.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The desk that answers with a {@link PackageOfRun}. */
    packagePort: number;
  }
}

export type PackageOfRun = {
  /** The path of its tarball. */
  readonly tarball: string;
  /** The folder that it is installed in: each test file adds only what no other has there. */
  readonly app: string;
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-packed-"));
  const desk = await openDesk<PackageOfRun>(async () => {
    const tarball = await pack(folder);
    const app = await install(tarball, join(folder, "installed"), await pathOfNode(OLDEST_NODE));
    return { details: { tarball, app }, stop: async () => {} };
  });
  project.provide("packagePort", desk.port);
  return async () => {
    await desk.close();
    await rm(folder, { recursive: true });
  };
}
