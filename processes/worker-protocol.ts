import type { BlockList } from "node:net";
import type { MessagePort } from "node:worker_threads";
import type { ManagementToken } from "../server/auth/management/management-token.ts";
import type { ServerConfig } from "../server/context/config.ts";
import type { UsageReport } from "../server/usage/use-notes.ts";
import type { DatabaseLocation } from "../store/database/postgres/connection-config.ts";
import type { Keyring } from "../store/encryption/keyring.ts";

/** The configuration as it can be handed to another thread. */
type PlainConfig = Omit<ServerConfig, "publicUrl" | "allowedPrivateUpstreams"> & {
  readonly publicUrl: string | null;
  readonly allowedPrivateUpstreams: BlockList;
};

/** What a worker begins with. */
export type WorkerStart = {
  readonly database: DatabaseLocation;
  readonly config: PlainConfig;
  readonly cells: SharedArrayBuffer;
  /** Of {@link SharedCalls}. */
  readonly calls: SharedArrayBuffer;
  /** Where the messages of the index come in. */
  readonly messages: MessagePort;
  readonly replicaId: string;
  /** Null where the configuration says whether there is one. */
  readonly managementToken: ManagementToken | null;
  readonly keyring: Keyring;
  /** To listen on; 0 takes a free one. */
  readonly port: number;
};

/** What the main thread asks of a worker. */
export type ToWorker =
  | { readonly ask: "metrics"; readonly id: number }
  | { readonly ask: "drain"; readonly graceMs: number };

/** What a worker reports to the main thread. */
export type WorkerReport =
  | { readonly kind: "listening"; readonly port: number; readonly url: string }
  | { readonly kind: "metrics"; readonly id: number; readonly metrics: readonly object[] }
  | { readonly kind: "used"; readonly report: UsageReport }
  | { readonly kind: "drained" };

export function plainConfig(config: ServerConfig): PlainConfig {
  return { ...config, publicUrl: config.publicUrl?.href ?? null };
}

export function configOf(plain: PlainConfig): ServerConfig {
  return { ...plain, publicUrl: plain.publicUrl === null ? null : new URL(plain.publicUrl) };
}
