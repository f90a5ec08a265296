import { isDeepStrictEqual } from "node:util";
import type { Absence } from "../../controller/cluster/files/manifests/absence.ts";
import { TOOL_LABELS } from "../../controller/cluster/kubernetes/secrets/secret-marks.ts";
import { titleOf } from "../../controller/cluster/titles.ts";
import { findCondition } from "../../domain/conditions.ts";
import type { NamedRef } from "../../domain/key/declaration/declared-key.ts";
import { secretTarget } from "../../domain/key/declaration/effective.ts";
import type { Kind } from "../../domain/kinds/kinds.ts";
import type { Diagnostic } from "../../domain/manifest/document/diagnostic.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { isOfKind, type ManifestWorld, type WorldObject, worldOf } from "../../domain/manifest/set/manifest-world.ts";
import { parseJson } from "../../domain/parse-json.ts";
import type { StatusObject } from "../data/status-files.ts";
import { decideFolderRemoval, decideSettled, onlyFolder, type SettledRemoval } from "./folder-removal.ts";
import { forecastKey } from "./key-forecast.ts";
import type { KnownSecrets, SecretPresence } from "./known-secrets.ts";
import { forecastObject } from "./object-forecast.ts";
import {
  type KeyLookups,
  notReady,
  type PlannedChange,
  type PlannedObject,
  plannedKey,
  plannedOthers,
  vainModels,
} from "./planned-objects.ts";
import { type HeldPolicy, ruleSince } from "./planned-policies.ts";
import { type DeclaredSet, readDeclared } from "./read-declared.ts";

/** Object that is declared and held now, as `up` or the cluster shows it. */
export type CurrentObject = StatusObject<Kind> & { readonly kind: Kind };

/** Result of a plan: what applying the manifests would do. */
export type Plan = {
  /** Faults in the manifests. The objects that have them are not applied. */
  readonly refused: readonly Diagnostic[];
  /** Objects that stay although their declaration is gone, grouped by the reason. */
  readonly held: readonly { readonly why: string; readonly objects: readonly WorldObject[] }[];
  readonly objects: readonly PlannedObject[];
  /** Number of objects that stay as they are. */
  readonly unchanged: number;
};

/** Objects and look-ups that the manifests are compared with. */
export type Compared = {
  readonly held: readonly CurrentObject[];
  /** Data folder that the objects are from, if any. It records from which file each object came. */
  readonly data?: string;
  /** True if the manifests are the complete set, so that an object that is not among them is removed. */
  readonly isWhole: boolean;
  readonly lookups: KeyLookups;
  /** Looks up which of these Secrets exist. No manifest declares them. */
  readonly findSecrets: (refs: readonly NamedRef[]) => Promise<SecretPresence>;
};

export type PlanInput = Compared & {
  readonly paths: readonly string[];
  /** Text of standard input, for the path `-`. */
  readonly stdin: Uint8Array | undefined;
  /** Current time, in milliseconds since the epoch. */
  readonly now: number;
};

/** Makes a plan, by the same decisions as the controller's. */
export async function makePlan(input: PlanInput): Promise<Plan> {
  const { paths, stdin, held, isWhole, lookups, findSecrets, now } = input;
  const heldBy = new Map(held.map((object) => [titleOf({ kind: object.kind, ...object.metadata }), object]));
  const read = readDeclared(paths, stdin, (title) => heldBy.get(title)?.spec, input.data === undefined);
  const refused = read.diagnostics.filter(({ severity }) => severity === "error");

  const holders = holdersOf(held);
  const before = worldOf(held.flatMap(asDeclared), {
    teamOf: (namespace) => holders.get(namespace) ?? null,
    find: () => undefined,
  });
  const mayGo = before.objects.filter((one) => heldBy.get(titleOf(one))?.metadata.deletionTimestamp === undefined);
  const removal = await decideRemoval(input, mayGo, read, refused.length);
  const gone = new Set(removal.remove.map(titleOf));
  // A second declaration of what is held does not count.
  const asBefore = new Set(removal.hold.map(({ missing }) => titleOf(missing)));
  const declared = new Map(
    [...read.declared]
      .filter(([title]) => !asBefore.has(title))
      .map(([title, object]) => [title, isWhole ? object : withLabelsOf(heldBy.get(title), object)]),
  );
  const staying = before.objects.filter((object) => !gone.has(titleOf(object)) && !declared.has(titleOf(object)));
  const after = worldOf([...declared.values(), ...staying], before);

  const isThere = await findSecrets(secretsInQuestion([...declared.values()], heldBy, read.secrets));
  const secrets = { declared: read.secrets, isThere };
  const comparison = { before, after, declared, heldBy, isWhole, secrets, lookups, now };
  const objects = [
    ...plannedOthers(before.objects, after.objects, (object) => heldUp(object, comparison)),
    ...plannedKeys(comparison),
  ];
  const affected = new Set(objects.filter(({ action }) => action !== "none").map(titleOf));
  return {
    refused,
    held: [...Map.groupBy(removal.hold, ({ why }) => why)].map(([why, all]) => ({
      why,
      objects: all.map(({ missing }) => missing),
    })),
    objects,
    unchanged: after.objects.filter((object) => !affected.has(titleOf(object))).length,
  };
}

/**
 * Returns an object with the labels that are not among the files too: what applies those to a cluster leaves them, except
 * those that `kubectl apply` has from the files of before. The label of a tool such as Argo CD is applied again.
 */
function withLabelsOf(held: CurrentObject | undefined, object: WorldObject): WorldObject {
  const { labels = {}, annotations = {} } = held?.metadata ?? {};
  const applied = parseJson(annotations["kubectl.kubernetes.io/last-applied-configuration"] ?? "");
  const { metadata } = isRecord(applied) ? applied : {};
  const before = isRecord(metadata) && isRecord(metadata.labels) ? metadata.labels : {};
  const others = Object.entries(labels).filter(([name]) => !Object.hasOwn(before, name) || TOOL_LABELS.includes(name));
  return { ...object, labels: { ...Object.fromEntries(others), ...object.labels } };
}

type Comparison = Pick<PlanInput, "isWhole" | "lookups" | "now"> & {
  readonly before: ManifestWorld;
  readonly after: ManifestWorld;
  /** Objects that the manifests declare, by title. */
  readonly declared: ReadonlyMap<string, WorldObject>;
  readonly heldBy: ReadonlyMap<string, CurrentObject>;
  readonly secrets: KnownSecrets;
};

/**
 * Returns the Secrets of providers and the Secrets that new keys would be written to, except those that manifests
 * declare.
 */
function secretsInQuestion(
  declared: readonly WorldObject[],
  heldBy: Comparison["heldBy"],
  known: KnownSecrets["declared"],
): NamedRef[] {
  const refs = declared.flatMap((object) => {
    const { namespace, name } = object;
    if (isOfKind(object, "ModelGateway")) {
      const names = object.spec.upstreams.flatMap(({ credentialRef }) => credentialRef?.name ?? []);
      return names.map((secret) => ({ namespace, name: secret }));
    }
    const status = heldBy.get(titleOf(object))?.status ?? {};
    if (!isOfKind(object, "PlatformKey") || "keyID" in status) return [];
    return [{ namespace, name: secretTarget(name, object.spec).name }];
  });
  const byName = new Map(refs.map((ref) => [`${ref.namespace}/${ref.name}`, ref]));
  return [...byName].filter(([name]) => !known.has(name)).map(([, ref]) => ref);
}

/**
 * Returns what would keep a team, a library or a gateway from being as declared, if its status does not say so already.
 */
function heldUp(object: WorldObject, { before, after, declared, heldBy, secrets }: Comparison): PlannedChange[] {
  const title = titleOf(object);
  const held = heldBy.get(title);
  const was = held && findCondition(held.status?.conditions, "Ready");
  const ready = forecastObject(object, after, secrets);
  // What comes to it anyway does not come of applying these manifests.
  const isTheirs = declared.has(title) || forecastObject(object, before, secrets).reason !== ready.reason;
  const isNews = held === undefined || (was?.reason !== ready.reason && isTheirs);
  return [...(isNews ? notReady(title, ready) : []), ...vainModels(object, after, before)];
}

function plannedKeys(comparison: Comparison): PlannedObject[] {
  const { before, after, declared, heldBy, isWhole, secrets, lookups, now } = comparison;
  const [asIs, wanted] = [keysOf(before), keysOf(after)];
  const since = ruleSince(
    (name) => heldPolicy(heldBy.get(titleOf({ kind: "PlatformKeyPolicy", namespace: "", name }))),
    now,
  );
  const held = new Map(
    [...heldBy].flatMap(([title, object]) =>
      object.kind === "PlatformKey" ? [[title, object as StatusObject<"PlatformKey">] as const] : [],
    ),
  );
  return [...new Set([...wanted.keys(), ...held.keys()])].sort().flatMap((title) => {
    const planOf = (key: WorldObject<"PlatformKey"> | undefined, world: ManifestWorld) => {
      const isMadeAgain = isWhole && declared.has(title);
      const input = { declared: key, object: held.get(title), before, after: world, secrets, since, now, isMadeAgain };
      return plannedKey(input, forecastKey(input), lookups);
    };
    const planned = planOf(wanted.get(title), after);
    if (declared.has(title)) return planned;
    // What comes to it anyway does not come of applying these manifests.
    return isDeepStrictEqual(planned, planOf(asIs.get(title), before)) ? [] : planned;
  });
}

function heldPolicy(object: CurrentObject | undefined): HeldPolicy | undefined {
  return object?.kind === "PlatformKeyPolicy" ? (object as HeldPolicy) : undefined;
}

function keysOf({ objects }: ManifestWorld) {
  return new Map(objects.filter((object) => isOfKind(object, "PlatformKey")).map((key) => [titleOf(key), key]));
}

function asDeclared({ kind, metadata, spec }: CurrentObject): WorldObject[] {
  if (spec === undefined) return [];
  const { namespace, name, creationTimestamp, labels = {} } = metadata;
  const createdAt = creationTimestamp === undefined ? {} : { createdAt: Date.parse(creationTimestamp) };
  return [{ kind, namespace, name, spec, labels, takeOver: null, ...createdAt }];
}

/** Returns the team that holds each namespace, by namespace, as the statuses of the teams say. */
function holdersOf(held: readonly CurrentObject[]): ReadonlyMap<string, string> {
  const teams = held.flatMap((object) =>
    object.kind === "PlatformTeam" ? [object as StatusObject<"PlatformTeam">] : [],
  );
  return new Map(
    teams.flatMap(({ metadata: { name }, status }) =>
      (status?.namespaces ?? []).map((namespace): [string, string] => [namespace, name]),
    ),
  );
}

/** Decides which of the held objects would be removed. Only `up` limits how many: what prunes a cluster has no limit. */
async function decideRemoval(
  { paths, data, isWhole }: PlanInput,
  held: readonly WorldObject[],
  read: DeclaredSet,
  errors: number,
): Promise<SettledRemoval> {
  if (!isWhole) return { remove: [], hold: [] };
  const folder = onlyFolder(paths);
  if (folder !== undefined && data !== undefined) return decideFolderRemoval(folder, data, held);
  const missing = held.filter((object) => !read.titles.has(titleOf(object)));
  if (data === undefined && errors === 0) return { remove: missing, hold: [] };
  const absence: Absence =
    errors === 0
      ? { is: "deliberate" }
      : { is: "held", why: "nothing is removed before every fault in the manifests is corrected." };
  return decideSettled(
    read,
    missing.map((one) => ({ ...one, absence })),
    held,
  );
}
