/** A global setup: one Pulumi CLI and one server of Keyplane for the test files of a project. */
import type { TestProject } from "vitest/node";
import { openDesk } from "../desk.ts";
import { type PulumiAddress, startPulumi } from "./start.ts";

declare module "vitest" {
  export interface ProvidedContext {
    /** The desk that answers with a {@link PulumiAddress}. */
    pulumiPort: number;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const desk = await openDesk<PulumiAddress>(async () => {
    const { address, close } = await startPulumi();
    return { details: address, stop: close };
  });
  project.provide("pulumiPort", desk.port);
  return () => desk.close();
}
