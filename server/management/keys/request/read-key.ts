import { API_MANAGED_KEY_FIELDS, type ApiManagedKeySpec } from "../../../../domain/key/declaration/api-managed-key.ts";
import type { DeclaredKey, NamedRef } from "../../../../domain/key/declaration/declared-key.ts";
import type { KeyPolicy } from "../../../../domain/key/declaration/key-policy.ts";
import { declareKey } from "../../../../domain/key/fields/declare-key.ts";
import { policyOf } from "../../../../domain/key/fields/key-policies.ts";
import {
  referencedLibraries,
  resolveReferences,
  type UnresolvedReference,
} from "../../../../domain/key/observed/resolve-references.ts";
import { isRecord } from "../../../../domain/manifest/document/identity.ts";
import type { FieldDiagnostic } from "../../../../domain/manifest/validation/check-spec.ts";
import type { Db } from "../../../../store/database/change.ts";
import { findInTeam } from "../../../../store/objects/references.ts";
import { type GivenObject, invalid, readGivenObject } from "../../objects/diagnostics.ts";

/** Parsed request to make or change a key. */
export type ReadKey = {
  /** Spec as it is stored and shown. */
  readonly spec: ApiManagedKeySpec;
  readonly declared: DeclaredKey;
};

/** Fields of a PlatformKey that only apply to keys which a controller delivers. */
const OF_DECLARATIONS = new Set<string>(["secret", "restartTargets", "deletionPolicy", "deletionProtection"]);
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ["source", "stands beside spec in the request that makes the key: move it there"],
  ["rotation", "is what a controller does by itself: ask for a new version where one is wanted"],
]);

/**
 * Parses a request to make or change a key.
 *
 * @param stored spec of a key that is to be changed: values that stay the same are not checked again
 * @throws Problem `invalid` with all faults
 */
export function readKey(given: GivenObject, stored?: ApiManagedKeySpec | null): ReadKey {
  const misplaced = isRecord(given.spec) ? Object.keys(given.spec).flatMap(explainMisplaced) : [];
  if (misplaced.length > 0) throw invalid(misplaced);
  const spec = readGivenObject(
    "PlatformKey",
    given,
    // The rules about a Secret read a field that no key of the management API has.
    stored ? { spec: { ...stored, secret: {} }, status: {} } : undefined,
  );
  if (spec.state === "Revoked") {
    throw invalid([{ path: "spec.state", message: "is ended by POST .../revoke, which is final: leave it out" }]);
  }
  const fields = Object.entries(spec).filter(([field]) =>
    (API_MANAGED_KEY_FIELDS as readonly string[]).includes(field),
  );
  return {
    // The schema has checked every field, and those that are left are API_MANAGED_KEY_FIELDS.
    spec: Object.fromEntries(fields) as ApiManagedKeySpec,
    declared: declareKey(given.namespace, given.name, spec),
  };
}

function explainMisplaced(field: string): FieldDiagnostic[] {
  const message =
    INSTEAD.get(field) ??
    (OF_DECLARATIONS.has(field)
      ? "is for keys that a controller delivers: declare a PlatformKey, or remove it"
      : undefined);
  return message === undefined ? [] : [{ path: `spec.${field}`, message }];
}

/**
 * Returns the policy of a key, with each reference resolved within its team.
 *
 * @throws Problem `invalid` for references that lead nowhere, or to several objects
 */
export async function resolvePolicy(db: Db, teamId: string, declared: DeclaredKey): Promise<KeyPolicy> {
  const { gatewayRef } = declared;
  const refs = referencedLibraries(declared);
  const [gateway = "absent"] = await findInTeam(db, "gateways", teamId, gatewayRef === null ? [] : [gatewayRef]);
  const libraries = await findInTeam(db, "libraries", teamId, refs);
  const libraryOf = (ref: NamedRef) => libraries[refs.indexOf(ref)] ?? "absent";
  const { references, unresolved } = resolveReferences(declared, {
    ...{ teamId, ownTeamId: teamId },
    find: (kind, ref) => (kind === "ModelGateway" ? gateway : libraryOf(ref)),
  });
  if (unresolved.length > 0) throw invalid(unresolved.map(explainUnresolved));
  return policyOf(declared, references);
}

function explainUnresolved({ path, kind, ref, why }: UnresolvedReference): FieldDiagnostic {
  if (why === "ambiguous") return { path, message: "is the name of several of the team's: write its namespace" };
  const noun = kind === "ModelGateway" ? "gateway" : "library";
  const name = ref.namespace === "" ? ref.name : `${ref.namespace}/${ref.name}`;
  return { path, message: `there is no ${noun} ${name} in this team: make it first, or correct the name` };
}
