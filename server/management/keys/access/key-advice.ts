import { DAY_MS, HOUR_MS } from "../../../../domain/duration.ts";
import { rfc3339Millis } from "../../../../domain/rfc3339.ts";
import { type AdvisedKey, adviceManifest } from "../../../../domain/usage/advice/advice-manifest.ts";
import { ADVICE_DAYS, advise } from "../../../../domain/usage/advice/advise.ts";
import type { AdvicePoint, KeyUse } from "../../../../domain/usage/advice/key-use.ts";
import type { Db } from "../../../../store/database/change.ts";
import { findKeyDeclaration, type KeyDeclaration } from "../../../../store/keys/rows/key-declarations.ts";
import { librariesKnownSince, librariesOfKey } from "../../../../store/keys/uses/key-libraries.ts";
import { networksKnownSince } from "../../../../store/keys/uses/key-networks.ts";
import { answersOf, peakOf, requestsByScope, usageCountedSince } from "../../../../store/usage/key-use.ts";
import { closedObject, TEXT, TIMESTAMP } from "../../response-schemas.ts";
import type { KeyJson } from "../shown/key-json.ts";

/** Access that would have been enough for a key. Times are RFC 3339. */
export type AdviceJson = {
  readonly keyId: string;
  readonly namespace: string;
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly isUnused: boolean;
  /** Reason why nothing is advised; null if there may be advice. */
  readonly lacks: string | null;
  /** Advice by field. A change has null for a field that is to be removed. */
  readonly points: readonly (Pick<AdvicePoint, "field" | "why"> & {
    readonly change: Readonly<Record<string, unknown>>;
  })[];
  /** Manifest to be reviewed, as YAML with comments. */
  readonly manifest: string;
};

export const KEY_ADVICE = closedObject("KeyAdvice", {
  keyId: TEXT,
  namespace: TEXT,
  name: TEXT,
  from: { ...TIMESTAMP, description: "What was used from then on is looked at." },
  to: { ...TIMESTAMP, description: "And before then." },
  isUnused: { type: "boolean", description: "Whether nothing was let through in that time." },
  lacks: { type: ["string", "null"], description: "Why nothing is advised, such as a key that is too young." },
  points: {
    type: "array",
    items: closedObject("AdvicePoint", {
      field: { ...TEXT, description: "Of spec." },
      change: {
        type: "object",
        additionalProperties: true,
        description:
          "The fields of spec that become something else, null for one that goes; empty where all stays as it is.",
      },
      why: TEXT,
    }),
  },
  manifest: { ...TEXT, description: "YAML to be reviewed, with why in comments. It changes nothing by itself." },
});

/**
 * Returns the access that would have been enough for a key in the last 30 days.
 *
 * @param now milliseconds since the epoch
 */
export async function adviseKey(db: Db, key: KeyJson, now: number): Promise<AdviceJson> {
  const to = Math.ceil((now + 1) / HOUR_MS) * HOUR_MS;
  const from = to - ADVICE_DAYS * DAY_MS;
  const declaration = key.declaredIn === null ? undefined : await findKeyDeclaration(db, key.id);
  const spec = declaration?.spec ?? key.spec;
  const { answers, withoutTokens } = await answersOf(db, key.id, { from, to });
  const { used, reachable } = await librariesOfKey(db, key.id);
  const use: KeyUse = {
    ...{ from, to, spec, answers, namespace: key.namespace },
    madeAt: Date.parse(key.createdAt),
    countedSince: await usageCountedSince(db),
    lastUsedAt: key.lastUsedAt === null ? null : Date.parse(key.lastUsedAt),
    requests: await requestsByScope(db, key.id, { from, to }),
    answersWithoutTokens: withoutTokens,
    networks: key.lastNetworks,
    networksSince: await networksKnownSince(db),
    libraries: used,
    librariesSince: await librariesKnownSince(db),
    reachableLibraries: reachable,
    peakRequests: await peakOf(db, "requests", key.id, { from, to }),
    peakTokens: await peakOf(db, "tokens", key.id, { from, to }),
  };
  const advice = advise(use);
  const { id, namespace, name } = key;
  const advised: AdvisedKey = { id, namespace, name, spec, notes: notesOf(key, declaration) };
  return {
    ...{ keyId: id, namespace, name, ...advice },
    from: rfc3339Millis(from),
    to: rfc3339Millis(to),
    points: advice.points.map(({ field, change, why }) => ({
      ...{ field, why },
      change: Object.fromEntries(Object.entries(change).map(([name, value]) => [name, value ?? null])),
    })),
    manifest: adviceManifest(advised, advice, use),
  };
}

/** Notes on what the manifest leaves out, and where a key without a manifest is changed. */
function notesOf({ declaredIn, managedBy }: KeyJson, declaration: KeyDeclaration | undefined): string[] {
  if (managedBy !== null) return ["The key has no manifest: change it in what manages it, as its page names it."];
  if (declaredIn === null)
    return ["The key was made by hand and has no manifest: change its spec in the console or by the API."];
  const spec = declaration?.spec;
  if (spec === undefined || spec === null) {
    return ["Not all of the declaration is known here: take over what is narrower into the manifest that you have."];
  }
  return spec.source.type === "ImportHash" ? ["spec.source.hash is not shown: keep what your manifest has."] : [];
}
