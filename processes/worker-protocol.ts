import type { BlockList } from "node:net";
import type { MessagePort } from "node:worker_threads";
import type { ThreadMetric } from "../runtime/process-metrics.ts";
import type { ManagementToken } from "../server/auth/management/management-token.ts";
import type { ServerConfig } from "../server/context/config.ts";
import type { UsageReport } from "../server/usage/use-notes.ts";
import type { DatabaseLocation } from "../store/database/postgres/connection-config.ts";
import type { Keyring } from "../store/encryption/keyring.ts";
import type { Ports, Reached } from "./listeners.ts";

/** Configuration in a form that can be handed to another thread. */
type PlainConfig = Omit<ServerConfig, "publicUrl" | "allowedPrivateUpstreams"> & {
  readonly publicUrl: string | null;
  readonly allowedPrivateUpstreams: BlockList;
};

/** Data that a worker starts with. */
export type WorkerStart = {
  readonly database: DatabaseLocation;
  readonly config: PlainConfig;
  readonly cells: SharedArrayBuffer;
  /** Buffer of {@link SharedCalls}. */
  readonly calls: SharedArrayBuffer;
  /** Port on which the messages of the index come in. */
  readonly messages: MessagePort;
  readonly replicaId: string;
  /** Token of the management API; null if the configuration says whether there is one. */
  readonly managementToken: ManagementToken | null;
  readonly keyring: Keyring;
};

/** Requests of the main thread to a worker. */
export type ToWorker =
  | { readonly ask: "listen"; readonly ports: Ports }
  | { readonly ask: "metrics"; readonly id: number }
  | { readonly ask: "drain"; readonly graceMs: number };

/** Reports of a worker to the main thread. */
export type WorkerReport =
  | { readonly kind: "open" }
  | ({ readonly kind: "listening" } & Reached)
  | { readonly kind: "metrics"; readonly id: number; readonly metrics: readonly ThreadMetric[] }
  | { readonly kind: "used"; readonly report: UsageReport }
  | { readonly kind: "drained" };

export function plainConfig(config: ServerConfig): PlainConfig {
  return { ...config, publicUrl: config.publicUrl?.href ?? null };
}

export function configOf(plain: PlainConfig): ServerConfig {
  return { ...plain, publicUrl: plain.publicUrl === null ? null : new URL(plain.publicUrl) };
}
