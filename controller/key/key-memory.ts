import type { AlteredSecret } from "../../domain/key/observed/observed-key.ts";
import type { ClusterEvent, SecretObject } from "../cluster/port.ts";

/**
 * What this process alone knows of the keys it works on, by the uid of their declaration. Losing it is safe at every
 * moment: where a plaintext is lost, a new secret is minted (architecture §2).
 */
export type KeyMemory = {
  /** A secret that was minted and is not yet known to be in its Secret. */
  readonly held: Map<string, HeldSecret>;
  /**
   * Secrets that were as they should be when the cluster last answered with them; null for one that was not, or that a
   * write with an unclear outcome may have changed.
   */
  readonly delivered: Map<string, Delivered | null>;
  /** What something else changed of Secrets as they were last written, or before. */
  readonly altered: Map<string, AlteredWrite>;
  /** Since when a Secret is found lost or edited, in milliseconds since the epoch. */
  readonly undoneSince: Map<string, number>;
  /** The version that a key's workloads were restarted for, until its status says so. */
  readonly restarted: Map<string, number>;
  /** What has been done in the store, and is to be recorded once all keys that end together have ended. */
  readonly events: Map<string, readonly ClusterEvent[]>;
};

export type HeldSecret = {
  readonly plaintext: string;
  readonly digest: string;
};

/** A Secret that was read, or written, and was as declared: what there is to know of it without keeping its data. */
export type Delivered = {
  readonly resourceVersion: string;
  /** Of the key that it holds: SHA-256, 32 latin1 characters. */
  readonly digest: string;
  /** A hash of all else that it should have: another one shows that something else is declared by now. */
  readonly content: string;
  /** As {@link SecretObject} has them. */
  readonly marks: readonly string[];
};

export type AlteredWrite = AlteredSecret & {
  /** Of the Secret that was written: it is the key's, whatever it has become. */
  readonly secretUid: string;
  /** A hash of all but its key that it should have: another one shows that something else is declared by now. */
  readonly content: string;
};

export function newKeyMemory(): KeyMemory {
  return {
    held: new Map(),
    delivered: new Map(),
    altered: new Map(),
    undoneSince: new Map(),
    restarted: new Map(),
    events: new Map(),
  };
}

/** Of a declaration that is gone, or about to go. */
export function forgetKey(memory: KeyMemory, uid: string): void {
  for (const known of Object.values(memory)) known.delete(uid);
}
