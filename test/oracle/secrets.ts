/** Every value that a Secret ever held, and the Secrets that may not be touched. */
import { randomBytes } from "node:crypto";
import { KEY_LABEL } from "../../controller/cluster/port.ts";
import { keyDigest, keyPrefix, keyShape, mintKey } from "../../domain/key/secret/key-format.ts";
import type { Model } from "./model.ts";
import type { Report } from "./report.ts";
import type { WatchedObject } from "./watch.ts";

/** A value as a Secret held it. */
export type HeldValue = {
  readonly value: string;
  readonly digest: string;
  readonly prefix: string;
  /** Of the Secret where it was first seen. */
  readonly title: string;
  /** On the monotonic clock, in milliseconds. */
  readonly seenAt: number;
  /** From when on every replica refuses it, as a receipt has said; on the same clock. */
  refusedFrom: number | undefined;
};

export type SecretLedger = {
  /** Takes in a state of a Secret. */
  see(secret: WatchedObject, gone: boolean): void;
  /** Takes a value as if a Secret of a key had held it: an import. */
  hold(title: string, value: string): void;
  /** That a receipt says that every replica refuses it. */
  refuse(value: string): void;
  /** Watches over a Secret of another owner, as it is now. */
  keepUntouched(secret: WatchedObject): void;
  /** That it, or all of a namespace, may change or go from here on, by its owner's hand. */
  release(title: string): void;
  readonly held: readonly HeldValue[];
};

const titleOf = ({ metadata }: WatchedObject) => `${metadata.namespace}/${metadata.name}`;

export const base64 = (text: string) => Buffer.from(text).toString("base64");

export function decode(data: WatchedObject["data"], key: string): string | undefined {
  const value = data?.[key];
  return value === undefined ? undefined : Buffer.from(value, "base64").toString();
}

export function watchSecrets(model: Pick<Model, "secretNames">, report: Report): SecretLedger {
  const held: HeldValue[] = [];
  const values = new Set<string>();
  /** By uid. */
  const untouched = new Map<string, { readonly title: string; readonly substance: string }>();

  function hold(title: string, value: string): void {
    if (values.has(value) || keyShape(value) === "malformed") return;
    values.add(value);
    const seenAt = performance.now();
    held.push({ value, digest: keyDigest(value), prefix: keyPrefix(value), title, seenAt, refusedFrom: undefined });
  }

  function checkUntouched(secret: WatchedObject, gone: boolean): void {
    const { uid } = secret.metadata;
    const wanted = untouched.get(uid);
    if (wanted === undefined) return;
    const { title } = wanted;
    if (gone) {
      untouched.delete(uid);
      report.violation({ rule: "I7", subject: title, what: "another's Secret has been deleted" });
    } else if (substanceOf(secret) !== wanted.substance) {
      untouched.set(uid, { title, substance: substanceOf(secret) });
      report.violation({ rule: "I7", subject: title, what: "another's Secret has been changed" });
    }
  }

  return {
    held,
    hold,
    refuse(value) {
      const one = held.find((other) => other.value === value);
      if (one !== undefined) one.refusedFrom ??= performance.now();
    },
    see(secret, gone) {
      const title = titleOf(secret);
      checkUntouched(secret, gone);
      const isOfAKey = secret.metadata.labels?.[KEY_LABEL] !== undefined || model.secretNames.has(title);
      for (const encoded of Object.values(secret.data ?? {})) {
        if (isOfAKey) hold(title, Buffer.from(encoded, "base64").toString());
      }
    },
    keepUntouched(secret) {
      untouched.set(secret.metadata.uid, { title: titleOf(secret), substance: substanceOf(secret) });
    },
    release(title) {
      for (const [uid, one] of untouched) {
        if (one.title === title || one.title.startsWith(`${title}/`)) untouched.delete(uid);
      }
    },
  };
}

/** Everything in it that its owner could have meant. */
function substanceOf({ metadata, data, immutable }: WatchedObject): string {
  const { labels, annotations, ownerReferences, finalizers, deletionTimestamp } = metadata;
  return JSON.stringify([data, immutable, labels, annotations, ownerReferences, finalizers, deletionTimestamp]);
}

/** A value as a key has it, which was never minted. */
export function forgedKey(): string {
  return mintKey((size) => randomBytes(size));
}
