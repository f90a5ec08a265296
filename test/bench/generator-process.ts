/**
 * What a new key costs at the least: the controller's own writes to the API server and its own transactions, in the same
 * order and on the same kinds of connections, for objects that no controller works on, and nothing else: it watches nothing,
 * waits for no replica and decides nothing. Run by `controller.ts` with a kubeconfig, a database and the prefix of the
 * objects' names; prints `ready`, and begins when its input ends.
 */
import { randomBytes } from "node:crypto";
import { text } from "node:stream/consumers";
import { createApiClient } from "../../controller/cluster/kubernetes/api/api-client.ts";
import { connect } from "../../controller/cluster/kubernetes/api/connection.ts";
import { eventsPath, objectPath, objectsPath, secretsPath } from "../../controller/cluster/kubernetes/resources.ts";
import { FINALIZER } from "../../controller/cluster/port.ts";
import { PRESETS } from "../../domain/access/scopes.ts";
import { keyDigest, keyPrefix, mintKey } from "../../domain/key/secret/key-format.ts";
import { isRecord } from "../../domain/manifest/document/identity.ts";
import { systemClock } from "../../runtime/clock.ts";
import { change, commitChange, takeLeadership } from "../../store/database/change.ts";
import { newId } from "../../store/database/ids.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { reserveVersion } from "../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion, markMayBeRead } from "../../store/keys/lifecycle/key-versions.ts";
import { policyOf } from "../store/fixtures.ts";

/** As the controller's. */
const CONCURRENCY = 16;
const PAGE = 500;

const [kubeconfig, databaseUrl = "", prefix = ""] = process.argv.slice(2);
const api = createApiClient({ connection: connect(kubeconfig, systemClock), random: Math.random, log: () => {} });
const store = await openPostgres(databaseUrl);
const { cluster, id: teamId } = await store.db.selectFrom("teams").select(["cluster", "id"]).executeTakeFirstOrThrow();
const fence = await takeLeadership(store, cluster);

type Item = {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly status?: { readonly conditions?: readonly unknown[] };
};

async function list(): Promise<Item[]> {
  const items: Item[] = [];
  for (let next: string | undefined; ; ) {
    const path = objectsPath("PlatformKey", "");
    const query = { limit: String(PAGE), continue: next };
    // What the API server lists is its own.
    const page = (await api.request({ method: "GET", path, query })) as {
      items: Item[];
      metadata: { continue?: string };
    };
    items.push(...page.items);
    next = page.metadata.continue;
    if (!next) return items;
  }
}

const all = await list();
const objects = all.filter(({ metadata }) => metadata.name.startsWith(prefix));
/** One that the controller has written: as large as the generator's shall be. */
const status = all.find(({ status }) => (status?.conditions?.length ?? 0) > 0)?.status;

/** @param field of the object, as a JSON pointer; one of its status is written by that subresource */
async function patch({ metadata: { uid, namespace, name } }: Item, field: string, value: unknown): Promise<void> {
  const path = objectPath({ kind: "PlatformKey", namespace, name });
  const raw = await api.request({
    method: "PATCH",
    path: field === "/status" ? `${path}/status` : path,
    contentType: "application/json-patch+json",
    body: [
      { op: "add", path: "/metadata/uid", value: uid },
      { op: "add", path: field, value },
    ],
  });
  if (!isRecord(raw)) throw new Error("the API server's answer is no object");
}

async function bringUp(item: Item): Promise<void> {
  const { name, namespace, uid } = item.metadata;
  const plaintext = mintKey(randomBytes);
  const key = {
    id: newId("key"),
    cluster,
    namespace,
    name,
    ownerUid: uid,
    teamId,
    source: "Generate",
    generation: 1,
  } as const;
  await patch(item, "/metadata/finalizers", [FINALIZER]);
  await change(store, fence, (tx) =>
    reserveVersion(tx, {
      key,
      policy: policyOf({ displayName: name, scopes: PRESETS.MCPReadOnly }),
      number: 1,
      digest: keyDigest(plaintext),
      prefix: keyPrefix(plaintext),
      expiresAfter: null,
      rotationTrigger: null,
    }),
  );
  await commitChange(store, fence, (tx) => markMayBeRead(tx, key.id, 1));
  await api.request({
    method: "POST",
    path: secretsPath(namespace),
    body: {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        namespace,
        name,
        labels: { "keyplane.dev/key": name },
        annotations: { "keyplane.dev/key-id": key.id, "keyplane.dev/key-version": "1" },
        ownerReferences: [{ apiVersion: "keyplane.dev/v1beta1", kind: "PlatformKey", name, uid, controller: true }],
      },
      type: "Opaque",
      data: { "api-key": Buffer.from(plaintext).toString("base64") },
    },
  });
  await change(store, fence, (tx) => activateVersion(tx, { keyId: key.id, number: 1, overlapMs: 0 }));
  await api.request({
    method: "POST",
    path: eventsPath(namespace),
    body: {
      apiVersion: "events.k8s.io/v1",
      kind: "Event",
      metadata: { generateName: `${name}-`, namespace },
      eventTime: new Date().toISOString().replace("Z", "000Z"),
      reportingController: "keyplane.dev/controller",
      reportingInstance: "generator",
      action: "Reconcile",
      reason: "Issued",
      type: "Normal",
      note: `Version 1 (${keyPrefix(plaintext)}...) is delivered and active.`,
      regarding: { apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformKey", namespace, name, uid },
    },
  });
  await patch(item, "/status", status);
}

process.stdout.write("ready\n");
await text(process.stdin);
const left = [...objects];
await Promise.all(
  Array.from({ length: CONCURRENCY }, async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await bringUp(item);
  }),
);
api.close();
await store.close();
