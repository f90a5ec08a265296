import type { KeyRecord } from "../../domain/access/key-record.ts";
import type { DeclaredLimits } from "../../domain/access/rate-limit.ts";
import { scopesIn } from "../../domain/access/scopes.ts";
import { eachFact } from "../../domain/key/declaration/facts.ts";
import { rfc3339Millis } from "../../domain/rfc3339.ts";
import type { Db } from "../../store/database/change.ts";
import { findPublicId } from "../../store/gateways/gateways.ts";
import { findKey } from "../../store/keys/rows/find-key.ts";
import { namesOf } from "../../store/objects/references.ts";
import { teamNames } from "../../store/teams/team-names.ts";
import { findDefaultLibrary, libraryName } from "../libraries/libraries.ts";

/** Answer to the holder of a key (docs/reference/management-api.md). */
export type Whoami = Awaited<ReturnType<typeof whoami>>;

/**
 * Describes what a key is and may do, by the record that decides its requests, with names from the database. A
 * placeholder key of development is in no database, and has no names.
 */
export async function whoami(db: Db, key: KeyRecord) {
  const { keyId, teamId, namespace, version: number, boundGatewayId, rateLimit, concurrent, tokenLimit } = key;
  const stored = await findKey(db, keyId);
  const version = stored?.versions.find((one) => one.number === number);
  const libraries = await namesOf(db, "libraries", key.libraryIds ?? []);
  const defaultLibrary = await findDefaultLibrary(db, key);
  return {
    id: keyId,
    prefix: version?.prefix ?? null,
    name: stored?.name ?? keyId,
    displayName: stored?.policy.displayName ?? "",
    ...eachFact((name) => stored?.policy[name] ?? null),
    namespace,
    team: (await teamNames(db, [teamId])).get(teamId) ?? teamId,
    teamId,
    state: "active",
    scopes: scopesIn(key.scopes),
    libraryAccess: {
      mode: key.libraryIds === null ? "All" : "Restricted",
      libraries: key.libraryIds && [...libraries.values()].map((library) => libraryName(key, library)).sort(),
    },
    subjectAccess: key.subject,
    allowedCIDRs: key.allowedCIDRs,
    teamAllowedCIDRs: key.teamAllowedCIDRs,
    defaultLibrary: defaultLibrary === undefined ? null : libraryName(key, defaultLibrary),
    gateway: boundGatewayId === null ? null : ((await findPublicId(db, boundGatewayId)) ?? ""),
    allowedModels: key.allowedModels,
    limits: limitsJson({ rate: rateLimit, concurrent, ...(tokenLimit && { tokens: tokenLimit }) }),
    teamLimits: key.teamLimits && limitsJson(key.teamLimits),
    expiresAt: Number.isFinite(key.expiresAt) ? rfc3339Millis(key.expiresAt) : null,
    version: {
      number,
      state: key.versionState,
      mintedAt: version === undefined ? null : rfc3339Millis(version.mintedAt),
      retiresAt: key.versionState === "retiring" ? rfc3339Millis(key.expiresAt) : null,
    },
  };
}

function limitsJson({ rate, concurrent, tokens }: DeclaredLimits) {
  return {
    requestsPerMinute: rate?.requestsPerMinute ?? null,
    burst: rate?.burst ?? null,
    tokensPerMinute: tokens?.tokensPerMinute ?? null,
    scope: rate?.scope ?? tokens?.scope ?? null,
    concurrent,
  };
}
