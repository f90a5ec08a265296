import { randomBytes } from "node:crypto";
import { API_CLUSTER } from "../../../../domain/api-cluster.ts";
import { parseDuration } from "../../../../domain/duration.ts";
import { DEFAULT_OVERLAP, overlapLimit } from "../../../../domain/key/declaration/declared-key.ts";
import { keyDigest, keyPrefix, mintKey } from "../../../../domain/key/secret/key-format.ts";
import type { Author } from "../../../../store/audit/audit.ts";
import type { Tx } from "../../../../store/database/change.ts";
import { DigestTakenError, PrefixTakenError } from "../../../../store/database/errors.ts";
import { newId } from "../../../../store/database/ids.ts";
import { databaseTime } from "../../../../store/database/times.ts";
import type { Reservation } from "../../../../store/keys/lifecycle/key-reservations.ts";
import { reserveVersion } from "../../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../../../store/keys/lifecycle/key-versions.ts";
import type { LoadedKey } from "../../../../store/keys/rows/key-rows.ts";
import { problem } from "../../../http/problems/problem.ts";
import type { ChangeContext } from "../../change-context.ts";
import { invalid } from "../../objects/diagnostics.ts";
import { holdRight } from "../../rights.ts";
import { lifeOfNextVersion } from "../request/held-keys.ts";
import type { CreateKeyBody, CreateVersionBody, SourceJson } from "../request/request-schemas.ts";
import { lockLivingApiManagedKey, requireNoKey, requireVersionSlot } from "../request/requirements.ts";
import { planNewKey } from "./plan-new-key.ts";

/** Secret of a new version. The plaintext is set only if it is minted here, and goes into one answer. */
type Secret = { readonly digest: string; readonly prefix: string; readonly plaintext: string | null };

/** New version with its number, and the secret that was minted for it. */
export type MadeVersion = { readonly id: string; readonly number: number; readonly secret: string | null };

type NewVersion = Pick<Reservation, "key" | "policy" | "number" | "expiresAfter"> & {
  readonly secret: Secret;
  readonly author: Author;
  readonly overlapMs: number;
  /** Option of {@link activateVersion}. */
  readonly replacesUnseen?: boolean;
};

/**
 * Makes a key with its first version, which works as soon as a replica knows of it.
 *
 * @throws Problem `invalid`, `forbidden`, `exists`, `conflict`
 */
export async function createKey(
  tx: Tx,
  { author, principal, rights }: ChangeContext,
  { source, managedBy = null, ...asked }: CreateKeyBody,
): Promise<MadeVersion> {
  const { teamId, spec, policy, expiresAfter } = await planNewKey(tx, rights, asked);
  // Before the key refers to the team, which locks its row: the author's right is checked after that.
  await holdRight(tx, principal, teamId);
  const secret = secretOf(source);
  const key = {
    id: newId("key"),
    cluster: API_CLUSTER,
    namespace: asked.namespace,
    name: asked.name,
    ownerUid: null,
    teamId,
    source: source === undefined ? "Generate" : "ImportHash",
    generation: 1,
    spec,
    managedBy: requireNoKey(managedBy),
  } as const;
  await addActive(tx, { key, policy, number: 1, secret, expiresAfter, author, overlapMs: 0 });
  return { id: key.id, number: 1, secret: secret.plaintext };
}

/**
 * Makes a new version of a key that was made by hand. The version before it works on for the overlap.
 *
 * @throws Problem `not_found`, `forbidden`, `managed`, `conflict`, `too_many_versions`
 */
export async function createVersion(
  tx: Tx,
  context: ChangeContext,
  keyId: string,
  { source, overlap }: CreateVersionBody,
): Promise<MadeVersion> {
  const key = await lockLivingApiManagedKey(tx, context, keyId, "change keys");
  const overlapMs = overlap === undefined ? overlapLimit(DEFAULT_OVERLAP) : parseDuration(overlap);
  const now = await databaseTime(tx);
  requireVersionSlot(key, now + overlapMs, now, "send `overlap: 0s`");
  return addVersion(tx, key, { secret: secretOf(source), author: context.author, overlapMs });
}

/**
 * Makes a version that replaces the active version, whose secret was not seen. The active version ends at once, and old
 * versions that still work keep their deadlines.
 *
 * @param key locked, living, and made by hand
 */
export async function replaceUnseenVersion(tx: Tx, author: Author, key: LoadedKey): Promise<MadeVersion> {
  return addVersion(tx, key, { secret: secretOf(undefined), author, overlapMs: 0, replacesUnseen: true });
}

async function addVersion(
  tx: Tx,
  key: LoadedKey,
  version: Pick<NewVersion, "secret" | "author" | "overlapMs" | "replacesUnseen">,
): Promise<MadeVersion> {
  const number = key.lastNumber + 1;
  const expiresAfter = await lifeOfNextVersion(tx, key);
  await addActive(tx, { ...{ key, policy: key.policy, number, ...version }, expiresAfter });
  return { id: key.id, number, secret: version.secret.plaintext };
}

function secretOf(source: SourceJson | undefined): Secret {
  if (source !== undefined) {
    const { sha256, prefix } = source.hash;
    return { digest: Buffer.from(sha256, "hex").toString("latin1"), prefix, plaintext: null };
  }
  const plaintext = mintKey(randomBytes);
  return { digest: keyDigest(plaintext), prefix: keyPrefix(plaintext), plaintext };
}

async function addActive(tx: Tx, version: NewVersion): Promise<void> {
  const { key, policy, number, secret, expiresAfter, author, overlapMs, replacesUnseen } = version;
  try {
    await reserveVersion(tx, {
      key,
      policy,
      number,
      digest: secret.digest,
      prefix: secret.prefix,
      expiresAfter,
      rotationTrigger: null,
      imported: secret.plaintext === null,
      by: author,
    });
  } catch (error) {
    if (error instanceof PrefixTakenError) {
      const message = "identifies another key: give the first 12 characters of this secret itself";
      throw invalid([{ path: "source.hash.prefix", message }]);
    }
    if (!(error instanceof DigestTakenError)) throw error;
    throw problem("conflict", "This secret belongs to a key, or did: a secret is one key's for ever.");
  }
  await activateVersion(tx, { keyId: key.id, number, overlapMs, replacesUnseen, by: author });
}
