/**
 * Warnings about manifests that are valid each by itself, but will not take effect together as declared, unless missing
 * objects are declared elsewhere.
 */

import { secretTarget } from "../../key/declaration/effective.ts";
import type { Kind } from "../../kinds/kinds.ts";
import { dataKeyTitle, redactKeys } from "../../redact.ts";
import type { Diagnostic, Path } from "../document/diagnostic.ts";
import { boundedSuggest, suggestion } from "../document/suggestion.ts";
import type { SecretManifest } from "../validation/validate.ts";
import type { SetEntry } from "./manifest-set.ts";
import { isOfKind, type ManifestWorld, type WorldObject, worldOf } from "./manifest-world.ts";
import { policyWarnings } from "./policy-warnings.ts";
import { stubModels } from "./stub-models.ts";
import { unservedModels } from "./unserved-models.ts";

/** Value of `keyplane init` and the examples in the place of a provider's credential. */
export const CREDENTIAL_PLACEHOLDER = "replace-me";

/** Manifests that are applied together. */
type ManifestSet = {
  readonly world: ManifestWorld;
  /** `Kind/namespace/name` of every manifest with a readable name, however faulty. */
  readonly names: ReadonlySet<string>;
  /** Secrets by `namespace/name`; undefined for a Secret with a fault. */
  readonly secrets: ReadonlyMap<string, SecretManifest | undefined>;
  /** True if a team among them has a fault, so that its namespaces are not known. */
  readonly hasFaultyTeam: boolean;
  /** Returns the name that was most likely meant by a misspelt name. */
  readonly suggest: ReturnType<typeof boundedSuggest>;
};

/** Maximum number of comparisons with misspelt names, in all: about a second's work. */
const MAX_COMPARISONS = 200_000;

type Warning = { readonly path: Path; readonly message: string; readonly severity?: "note" };

/**
 * Returns the warnings, each at its position. A missing Secret, which may exist elsewhere, is a note.
 *
 * @param now milliseconds since the epoch
 */
export function findSetWarnings(entries: readonly SetEntry[], now: number): Diagnostic[] {
  const set = readSet(entries);
  const unclaimed = new Set<string>();
  return entries.flatMap(({ document, read: { manifest } }) => {
    if (manifest === undefined || manifest.kind === "Secret") return [];
    const warnings: readonly Warning[] = [
      ...claimWarnings(manifest, set, unclaimed),
      ...referenceWarnings(manifest, set),
      ...targetWarnings(manifest, set),
      ...gatewayWarnings(manifest, set),
      ...modelWarnings(manifest, set),
      ...stubModels(manifest, set.world),
      ...policyWarnings(manifest, set.world, now),
    ];
    return warnings.map(({ path, message, severity }) =>
      document.diagnostic(path, redactKeys(message), { severity: severity ?? "warning" }),
    );
  });
}

function readSet(entries: readonly SetEntry[]): ManifestSet {
  const named = entries.flatMap(({ read: { identity, manifest } }) => (identity ? [{ identity, manifest }] : []));
  const declared = named.flatMap(({ manifest }) =>
    manifest === undefined || manifest.kind === "Secret" ? [] : [manifest as WorldObject],
  );
  const secrets = named.filter(({ identity }) => identity.kind === "Secret");
  return {
    world: worldOf(declared),
    names: new Set(named.map(({ identity: { kind, namespace, name } }) => `${kind}/${namespace}/${name}`)),
    secrets: new Map(
      secrets.map(({ identity: { namespace, name }, manifest }) => [
        `${namespace}/${name}`,
        manifest?.kind === "Secret" ? manifest : undefined,
      ]),
    ),
    hasFaultyTeam: named.some(({ identity, manifest }) => identity.kind === "PlatformTeam" && manifest === undefined),
    suggest: boundedSuggest(MAX_COMPARISONS),
  };
}

/** Warns of a namespace that no team claims, once for all its objects, and of a namespace that several teams claim. */
function claimWarnings(object: WorldObject, set: ManifestSet, unclaimed: Set<string>): readonly Warning[] {
  const { world, hasFaultyTeam } = set;
  const { namespace, name } = object;
  if (isOfKind(object, "PlatformKeyPolicy")) return [];
  if (isOfKind(object, "PlatformTeam")) {
    return object.spec.namespaces.flatMap((claimed, i) => {
      const holder = world.teamOf(claimed);
      if (holder === name || holder === null) return [];
      const message = `PlatformTeam ${holder} claims namespace ${claimed} too, and one team alone gets it: remove it from one of the two`;
      return [{ path: ["spec", "namespaces", i], message }];
    });
  }
  if (hasFaultyTeam || unclaimed.has(namespace) || world.teamOf(namespace) !== null) return [];
  unclaimed.add(namespace);
  const near = nearestClaimed(namespace, set);
  const step =
    near === undefined
      ? "add it to spec.namespaces of one, or name the folder that has its team with --filename too"
      : `did you mean ${near}?`;
  const message = `no PlatformTeam among these manifests claims namespace ${namespace}: ${step}`;
  return [{ path: ["metadata", "namespace"], message }];
}

/** Returns the namespace of a team that was most likely meant by an unclaimed namespace. */
function nearestClaimed(namespace: string, { world, suggest }: ManifestSet): string | undefined {
  if (world.teamOf(namespace) !== null) return undefined;
  const teams = world.objects.filter((one) => isOfKind(one, "PlatformTeam"));
  return suggest(
    namespace,
    teams.flatMap(({ spec }) => spec.namespaces),
  );
}

/** A reference to an object of a kind, and the field it is in. */
type Reference = {
  readonly kind: Kind;
  readonly namespace: string;
  readonly name: string;
  readonly path: Path;
};

/** Warns of references to objects that are missing or belong to another team: they grant nothing. */
function referenceWarnings(object: WorldObject, set: ManifestSet): Warning[] {
  const { world, names, suggest } = set;
  const team = isOfKind(object, "PlatformTeam") ? object.name : world.teamOf(object.namespace);
  return referencesOf(object).flatMap((ref) => {
    const { kind, namespace, name, path } = ref;
    if (!names.has(`${kind}/${namespace}/${name}`)) {
      // A misspelt namespace is reported once, and not for each reference.
      if (namespace === object.namespace && nearestClaimed(namespace, set) !== undefined) return [];
      const there = world.objects.filter((one) => one.kind === kind && one.namespace === namespace);
      const near = suggest(
        name,
        there.map((one) => one.name),
      );
      const ofPublicId = kind === "ModelGateway" ? world.publicIdHolder(name) : undefined;
      const step =
        ofPublicId !== undefined
          ? `${name} is the public id of ModelGateway ${ofPublicId.namespace}/${ofPublicId.name}, so refer to it by its name`
          : near === undefined
            ? "declare it, correct the name, or name the folder that has it with --filename too"
            : `did you mean ${near}?`;
      return [{ path, message: `there is no ${kind} ${namespace}/${name} among these manifests: ${step}` }];
    }
    const holder = world.teamOf(namespace);
    if (team === null || holder === null || holder === team) return [];
    const message = `${kind} ${namespace}/${name} is of PlatformTeam ${holder}, and this is of PlatformTeam ${team}: refer to one of the same team`;
    return [{ path, message }];
  });
}

function referencesOf(object: WorldObject): Reference[] {
  const { namespace } = object;
  const within = (kind: Kind, ref: { name: string; namespace?: string } | undefined, path: Path) =>
    ref === undefined ? [] : [{ kind, namespace: ref.namespace ?? namespace, name: ref.name, path: ["spec", ...path] }];
  if (isOfKind(object, "PlatformTeam")) {
    const { mcpAgentPolicy, members } = object.spec;
    return [
      ...within("MemoryLibrary", mcpAgentPolicy?.defaultLibraryRef, ["mcpAgentPolicy", "defaultLibraryRef"]),
      ...members.flatMap(({ libraryRefs = [] }, member) =>
        libraryRefs.flatMap((ref, i) => within("MemoryLibrary", ref, ["members", member, "libraryRefs", i])),
      ),
    ];
  }
  if (isOfKind(object, "MemoryLibrary")) {
    const { embedding, extraction } = object.spec;
    return [
      ...within("ModelGateway", embedding?.gatewayRef, ["embedding", "gatewayRef"]),
      ...within("ModelGateway", extraction?.gatewayRef, ["extraction", "gatewayRef"]),
    ];
  }
  if (!isOfKind(object, "PlatformKey")) return [];
  const { gatewayRef, mcpDefaultLibraryRef, libraryAccess } = object.spec;
  return [
    ...within("ModelGateway", gatewayRef, ["gatewayRef"]),
    ...within("MemoryLibrary", mcpDefaultLibraryRef, ["mcpDefaultLibraryRef"]),
    ...(libraryAccess?.libraryRefs ?? []).flatMap((ref, i) =>
      within("MemoryLibrary", ref, ["libraryAccess", "libraryRefs", i]),
    ),
  ];
}

/** Warns if the Secret that a key is to be written into is another owner's. */
function targetWarnings(object: WorldObject, { world, secrets }: ManifestSet): Warning[] {
  if (!isOfKind(object, "PlatformKey") || object.spec.state === "Revoked") return [];
  const { namespace } = object;
  const { name } = secretTarget(object.name, object.spec);
  const taker = world.secretTaker(object, name);
  const whose = secrets.has(`${namespace}/${name}`)
    ? `is declared among these manifests`
    : taker && `is written by PlatformKey ${namespace}/${taker.name}`;
  if (whose === undefined) return [];
  const message = `Secret ${namespace}/${name} ${whose}, and a key is never written into another owner's Secret: choose another spec.secret.name, or declare an applied key under another metadata.name`;
  return [{ path: ["spec", "secret", "name"], message }];
}

/** Warns of a public id that another gateway has, and of upstream credentials that are missing. */
function gatewayWarnings(object: WorldObject, set: ManifestSet): Warning[] {
  if (!isOfKind(object, "ModelGateway")) return [];
  const { publicID, upstreams } = object.spec;
  const holder = publicID === undefined ? undefined : set.world.publicIdHolder(publicID);
  const isTaken = holder !== undefined && (holder.namespace !== object.namespace || holder.name !== object.name);
  const taken = `ModelGateway ${holder?.namespace}/${holder?.name} has this public id too: write another one`;
  return [
    ...(isTaken ? [{ path: ["spec", "publicID"], message: taken }] : []),
    ...upstreams.flatMap(({ credentialRef }, i) =>
      credentialRef === undefined
        ? [{ path: ["spec", "upstreams", i], message: WITHOUT_CREDENTIAL, severity: "note" as const }]
        : credentialWarnings(object.namespace, credentialRef, ["spec", "upstreams", i, "credentialRef"], set),
    ),
  ];
}

const WITHOUT_CREDENTIAL =
  "has no credentialRef, so calls go there without a credential: name a Secret if this upstream asks for one";

/**
 * Warns of a missing credential, and of a placeholder or a key of Keyplane in its place. A missing Secret is a note,
 * unless another has nearly its name: few are in Git.
 */
function credentialWarnings(
  namespace: string,
  { name, key }: { readonly name: string; readonly key: string },
  path: Path,
  { world, secrets, suggest }: ManifestSet,
): Warning[] {
  const title = `Secret ${namespace}/${name}`;
  if (!secrets.has(`${namespace}/${name}`)) {
    const writer = world.secretWriter({ namespace, name });
    if (writer !== undefined) {
      const message = `PlatformKey ${namespace}/${writer.name} writes ${title}, and its key would go to the provider: name another Secret`;
      return [{ path, message }];
    }
    const beside = [...secrets.keys()].filter((one) => one.startsWith(`${namespace}/`));
    const near = suggest(
      name,
      beside.map((one) => one.slice(namespace.length + 1)),
    );
    if (near !== undefined) {
      return [{ path, message: `there is no ${title} among these manifests: did you mean ${near}?` }];
    }
    const message = `${title} is not among these manifests: see that it is made, with the ${dataKeyTitle(key)}`;
    return [{ path, message, severity: "note" }];
  }
  const data = secrets.get(`${namespace}/${name}`)?.data;
  const message = data && credentialFault(title, key, data);
  return message === undefined ? [] : [{ path: [...path, "key"], message }];
}

/** Returns the fault of the credential in a Secret's data; undefined if it may be one. */
function credentialFault(title: string, key: string, data: Readonly<Record<string, string>>): string | undefined {
  if (!(key in data)) return `${title} has no ${dataKeyTitle(key)}: ${dataKeyStep(key, Object.keys(data))}`;
  const credential = data[key]?.trim();
  if (!credential) return `${dataKeyTitle(key)} of ${title} is empty: write the credential into it`;
  if (credential !== CREDENTIAL_PLACEHOLDER) return undefined;
  return `${dataKeyTitle(key)} of ${title} is still ${CREDENTIAL_PLACEHOLDER}: write the provider's credential into it`;
}

function dataKeyStep(key: string, keys: readonly string[]): string {
  return keys.length === 0 ? "write it under stringData" : suggestion(key, keys);
}

function modelWarnings(object: WorldObject, { world }: ManifestSet): Warning[] {
  return unservedModels(object, world).map(({ path, model, gateway: { namespace, name, spec } }) => {
    const served = spec.routes.map((route) => route.model);
    const step = served.length === 0 ? "declare a route" : suggestion(model, served);
    return {
      path,
      message: `no route of ModelGateway ${namespace}/${name} has it, and that gateway serves its routes alone: ${step}`,
    };
  });
}
