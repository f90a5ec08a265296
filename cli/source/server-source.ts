import { defined } from "../../domain/defined.ts";
import type { Environment } from "../../domain/environment.ts";
import type { Kind, Spec } from "../../domain/kinds/kinds.ts";
import type { KeyJson } from "../../server/management/keys/shown/key-json.ts";
import { UsageError } from "../command/usage-error.ts";
import { type ObjectJson, openManagement, type ServerChoice } from "../management/management-client.ts";
import { auditEvents } from "./audit-events.ts";
import { changesOf, notifyEvery } from "./changes.ts";
import { type ListedObject, type ListFilter, type Source, sortByName } from "./source.ts";
import { versionStateOf } from "./version-state.ts";

/** Time between two looks for changes, since a server does not report them. Milliseconds. */
const POLL_MS = 2_000;

/**
 * Creates the source of what a server's management API shows to the holder of the token: stored objects, including
 * revoked keys and objects without a declaration.
 *
 * @throws UsageError if the token is missing, or the URL is invalid
 */
export async function serverSource(env: Environment, choice: ServerChoice): Promise<Source> {
  const closing = new AbortController();
  const client = await openManagement(env, choice, closing.signal);

  async function listKeys({ id, namespace, name }: ListFilter): Promise<KeyJson[]> {
    if (id === undefined) return client.listKeys({ namespace, name });
    const key = await client.getKey(id);
    return namespace === undefined || key.namespace === namespace ? [key] : [];
  }

  async function list(kind: Kind, { labels, ...wanted }: ListFilter): Promise<ListedObject[]> {
    if (labels !== undefined) throw new UsageError("-l: a server knows no labels: give --data or --kubeconfig");
    // A policy is declared, and a server does not have it.
    if (kind === "PlatformKeyPolicy") return [];
    if (kind === "PlatformKey") return (await listKeys(wanted)).map(seenKey);
    return (await client.listObjects(kind, wanted)).map((object) => seenObject(kind, object));
  }

  return {
    from: "server",
    // A list holds objects of its own kind.
    list: async <K extends Kind>(kind: K, wanted: ListFilter) =>
      sortByName(await list(kind, wanted)) as ListedObject<K>[],
    events: (wanted) => auditEvents(client, wanted),
    callers: async (keyId) => (await client.getKey(keyId)).lastNetworks,
    budgets: (of, id) => client.budgetsOf(of, id),
    notes: async () => [],
    changes: (_kinds, _wanted, signal) => changesOf((notify) => notifyEvery(POLL_MS, notify, signal)),
    close: () => closing.abort(),
  };
}

/** Returns a key in the fields of a PlatformKey, as far as the API has them. */
function seenKey(key: KeyJson): ListedObject<"PlatformKey"> {
  const { id, namespace, name, prefix, team, scopes, createdAt, declaredIn, spec, versions, revocation } = key;
  return {
    kind: "PlatformKey",
    metadata: { name, namespace, creationTimestamp: createdAt, ...(declaredIn && { uid: declaredIn.uid }) },
    spec,
    status: {
      keyID: id,
      team,
      effectiveScopes: [...scopes],
      versions: versions.map(({ number, prefix: keyPrefix, state, lastUsedAt, ...times }) => ({
        number,
        keyPrefix,
        state: versionStateOf(state),
        mintedAt: times.mintedAt,
        ...(times.activatedAt && { activatedAt: times.activatedAt }),
        ...(times.retiresAt && { retiresAt: times.retiresAt }),
        ...(times.expiresAt && { expiresAt: times.expiresAt }),
        ...(lastUsedAt && { lastUsedTime: lastUsedAt }),
      })),
      ...(prefix && { keyPrefix: prefix }),
      ...currentVersion(versions),
      ...(key.expiresAt && { expiresAt: key.expiresAt }),
      ...(key.lastUsedAt && { lastUsedTime: key.lastUsedAt }),
      ...(revocation && { revocation: revocation.sequence === null ? {} : { sequence: revocation.sequence } }),
    },
    state: key.state,
    callers: key.lastNetworks,
    json: { kind: "PlatformKey", ...key },
  };
}

function currentVersion(versions: KeyJson["versions"]): { currentVersion?: number } {
  const active = versions.find(({ state }) => state === "active");
  return active === undefined ? {} : { currentVersion: active.number };
}

/** Returns a gateway's spec of which each upstream says whether it has no credential: a server shows no reference. */
function withCredentialsSaid(spec: ObjectJson["spec"]): ObjectJson["spec"] {
  const { upstreams = [] } = spec as Partial<Spec<"ModelGateway">>;
  return { ...spec, upstreams: upstreams.map((upstream) => ({ noCredential: false, ...upstream })) };
}

function seenObject(kind: Exclude<Kind, "PlatformKey">, object: ObjectJson): ListedObject {
  const { id, name, namespace = "", createdAt, declaredIn, spec, team, publicID, namespaces } = object;
  return {
    kind,
    metadata: { name, namespace, creationTimestamp: createdAt, ...(declaredIn && { uid: declaredIn.uid }) },
    spec: kind === "ModelGateway" ? withCredentialsSaid(spec) : spec,
    status: defined({
      teamID: kind === "PlatformTeam" ? id : undefined,
      team,
      publicID,
      namespaces: namespaces && [...namespaces],
    }),
    json: { kind, ...object },
  };
}
