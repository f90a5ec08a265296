/** A global setup: OpenTofu's CLI, and the providers that the test files of a project run with it, built once. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { openDesk } from "../desk.ts";
import { goBuild } from "../go/go-build.ts";
import { findTofu } from "./cli.ts";
import { SOURCES } from "./sources.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The desk that answers with {@link TofuPrograms}. */
    tofuPort: number;
  }
}

export type TofuPrograms = {
  readonly cli: string;
  /** The folder of the providers. */
  readonly providers: string;
};

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const desk = await openDesk<TofuPrograms>(async () => {
    const cli = await findTofu();
    const providers = await mkdtemp(join(tmpdir(), "keyplane-providers-"));
    for (const [name, source] of Object.entries(SOURCES)) {
      await goBuild("../../infra/terraform", [source], join(providers, `terraform-provider-${name}`));
    }
    return { details: { cli, providers }, stop: () => rm(providers, { recursive: true }) };
  });
  project.provide("tofuPort", desk.port);
  return () => desk.close();
}
