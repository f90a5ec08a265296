import { hash } from "node:crypto";
import type { DeclaredKey } from "../../domain/key/declared-key.ts";
import { keyDigest } from "../../domain/key/key-format.ts";
import type { ObservedSecret } from "../../domain/key/observed-key.ts";
import { type Endpoints, renderSecretData } from "../../domain/key/secret-template.ts";
import type { StoredKey } from "../../domain/key/stored-key.ts";
import { PREFERRED_API_VERSION } from "../../domain/manifest/kinds.ts";
import type { LoadedKey } from "../../store/keys/key-rows.ts";
import {
  type DeclaredObject,
  KEY_ID_ANNOTATION,
  KEY_LABEL,
  KEY_VERSION_ANNOTATION,
  type SecretDraft,
  type SecretObject,
} from "../cluster/port.ts";
import type { Delivered } from "./key-memory.ts";

/** A key's Secret is the one that its declaration names; these decide what it should be. */
export type SecretContext = {
  readonly object: DeclaredObject<"PlatformKey">;
  readonly declared: DeclaredKey;
  /** The key as the plan has it, with what is recorded of its Secret. */
  readonly stored: LoadedKey | undefined;
  /** What the Secret's template writes of addresses. */
  readonly endpoints: Endpoints;
};

type VersionName = { readonly keyId: string; readonly number: number };

/** The Secret that delivers a version: the whole of it, as the declaration wants it. */
export function draftSecret(
  { object, declared, endpoints }: SecretContext,
  plaintext: string,
  version: VersionName,
): SecretDraft {
  return {
    namespace: object.namespace,
    name: declared.secret.name,
    data: renderSecretData(plaintext, declared, endpoints),
    labels: { [KEY_LABEL]: object.name },
    annotations: { [KEY_ID_ANNOTATION]: version.keyId, [KEY_VERSION_ANNOTATION]: String(version.number) },
    owner: declared.secret.deleteWithKey
      ? { apiVersion: PREFERRED_API_VERSION, uid: object.uid, name: object.name }
      : null,
  };
}

/**
 * What a plan may know of a Secret as it was read. It is ours by its owner reference; where it has none, by what it
 * holds, a secret that was minted for a key of this name, or, where it is declared to outlive its key, by the key id it
 * carries. That a value is ours is decided by its digest alone (I3).
 *
 * @param mintedForThisName whether the value's digest is one that was minted for a key of this namespace and name
 */
export function secretState(
  secret: SecretObject | undefined,
  mintedForThisName: boolean,
  context: SecretContext,
): ObservedSecret {
  const { object, declared, stored } = context;
  if (secret === undefined) return { state: "absent" };
  const owned = secret.owner?.uid === object.uid;
  const carriesId = stored !== undefined && secret.annotations[KEY_ID_ANNOTATION] === stored.id;
  const unowned = secret.owner === null && (mintedForThisName || (carriesId && !declared.secret.deleteWithKey));
  if (!owned && !unowned) return { state: "unmanaged" };
  const value = secret.data[declared.secret.dataKey];
  const holds = value === undefined ? "nothing" : (versionHolding(value, stored)?.number ?? "unknown");
  return {
    state: "ours",
    holds,
    immutable: secret.immutable,
    owned,
    rendered:
      value === undefined ||
      stored === undefined ||
      typeof holds === "string" ||
      sameSecret(secret, draftSecret(context, value, { keyId: stored.id, number: holds })),
  };
}

/** Stands for the key where what surrounds it is compared. */
const NO_KEY = "";

/** What is remembered of a Secret that was answered: undefined unless it is ours and as declared. */
export function deliveredAs(
  secret: SecretObject,
  observed: ObservedSecret,
  context: SecretContext,
): Delivered | undefined {
  const { stored } = context;
  if (stored === undefined || observed.state !== "ours" || !observed.rendered) return undefined;
  const version = stored.versions.find(({ number }) => number === observed.holds);
  if (version === undefined) return undefined;
  const { resourceVersion } = secret;
  const content = contentOf(context, { keyId: stored.id, number: version.number });
  return { resourceVersion, digest: version.digest, content, marks: secret.marks };
}

/** What a Secret that has not changed since is now: undefined where something else is declared of it by now. */
export function observeDelivered({ digest, content }: Delivered, context: SecretContext): ObservedSecret | undefined {
  const { declared, stored } = context;
  const version = stored?.versions.find((one) => one.digest === digest);
  if (stored === undefined || version === undefined) return undefined;
  if (contentOf(context, { keyId: stored.id, number: version.number }) !== content) return undefined;
  const { deleteWithKey } = declared.secret;
  // Whether it is immutable matters to whoever would write to it, and that one reads it first.
  return { state: "ours", holds: version.number, immutable: false, rendered: true, owned: deleteWithKey };
}

function contentOf(context: SecretContext, version: VersionName): string {
  const draft = draftSecret(context, NO_KEY, version);
  return hash("sha256", JSON.stringify(draft), "base64url");
}

/** The version whose secret a value is. */
function versionHolding(value: string, key: StoredKey | undefined) {
  const digest = keyDigest(value);
  return key?.versions.find((version) => version.digest === digest);
}

/**
 * Compares what is declared of a Secret; what others add to its labels and annotations is theirs. An immutable one is not
 * made anew for the version alone by which its owner is named.
 */
function sameSecret(read: SecretObject, wanted: SecretDraft): boolean {
  const within = (want: Readonly<Record<string, string>>, have: Readonly<Record<string, string>>) =>
    Object.entries(want).every(([name, value]) => have[name] === value);
  return (
    within(wanted.data, read.data) &&
    within(read.data, wanted.data) &&
    within(wanted.labels, read.labels) &&
    within(wanted.annotations, read.annotations) &&
    read.owner?.uid === wanted.owner?.uid &&
    (read.immutable || read.owner?.apiVersion === wanted.owner?.apiVersion)
  );
}
