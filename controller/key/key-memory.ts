import type { AlteredSecret } from "../../domain/key/observed/observed-key.ts";
import type { ClusterEvent, SecretObject } from "../cluster/port.ts";

/**
 * Memory of this process alone about the keys it works on, by the uid of their declaration. Losing it is safe at every
 * moment: if a plaintext is lost, a new secret is minted (architecture §2).
 */
export type KeyMemory = {
  /** Secrets that were minted and are not yet known to be in their Secret. */
  readonly held: Map<string, HeldSecret>;
  /**
   * Secrets that were as declared when the cluster last answered with them. null for a Secret that was not, or that a
   * write with an unclear outcome may have changed.
   */
  readonly delivered: Map<string, Delivered | null>;
  /** Changes that something else made to Secrets: to what was last written, or to what that write replaced. */
  readonly altered: Map<string, AlteredWrite>;
  /** Time since which a Secret is found lost or edited, in milliseconds since the epoch. */
  readonly undoneSince: Map<string, number>;
  /** Version that a key's workloads were restarted for, until the key's status has it. */
  readonly restarted: Map<string, RestartedFor>;
  /** Events of changes made in the store, which are recorded once all keys that end together have ended. */
  readonly events: Map<string, readonly ClusterEvent[]>;
};

/** Version that workloads were restarted for. A number repeats, with another key or an older database; a prefix does not. */
export type RestartedFor = { readonly number: number; readonly prefix: string };

export type HeldSecret = {
  readonly plaintext: string;
  readonly digest: string;
};

/** Facts about a Secret that was as declared when it was read or written, without its data. */
export type Delivered = {
  readonly resourceVersion: string;
  /** SHA-256 of the key that the Secret holds, 32 latin1 characters. */
  readonly digest: string;
  /** Hash of all else that the Secret should have: a different hash shows that something else is declared by now. */
  readonly content: string;
  /** Marks of the Secret, as in {@link SecretObject}. */
  readonly marks: readonly string[];
};

export type AlteredWrite = AlteredSecret & {
  /** Uid of the Secret that was written: it is the key's Secret, whatever has been changed in it. */
  readonly secretUid: string;
  /**
   * Hash of all that the Secret should have except its key: a different hash shows that something else is declared by
   * now.
   */
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

/** Forgets all that is known of a declaration that is gone, or about to go. */
export function forgetKey(memory: KeyMemory, uid: string): void {
  for (const known of Object.values(memory)) known.delete(uid);
}
