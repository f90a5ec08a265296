/**
 * What the controller asks of a real API server, by the server's own audit log. The control plane is this file's own,
 * since a team belongs to the whole cluster.
 */
import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openKubernetesCluster } from "../../../../controller/cluster/kubernetes/cluster.ts";
import { startController } from "../../../../controller/main.ts";
import { openPostgres } from "../../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../../store/database/store.ts";
import { parseKeyring } from "../../../../store/encryption/keyring.ts";
import { migratedDatabase } from "../../../env/database/engines.ts";
import { type LentKubernetes, lendKubernetes } from "../../../env/kubernetes/lent.ts";
import { NIGHTLY } from "../../../env/nightly.ts";
import { until } from "../../../env/until.ts";
import { rowsOf } from "../../fixtures/rows.ts";
import { clock } from "./fake-api-server.ts";
import { applyKey } from "./opened.ts";

const NAMESPACES = ["dev", "prod"];
/** Of its Secrets the controller hears nothing until it asks. */
const SILENT = "silent";
/** Enough to distinguish a request for each of them from a few for all. */
const KEYS = NIGHTLY ? 200 : 20;

/** A request as the audit log has it: `patch platformkeys/status dev/key-1`. */
type AuditedRequest = { readonly what: string; readonly of: string };

describe("the API server", () => {
  let kubernetes: LentKubernetes;
  let database: Awaited<ReturnType<typeof migratedDatabase>>;
  let store: Store;
  let end: () => Promise<void> = async () => {};
  const keyring = parseKeyring(randomBytes(32).toString("base64"));

  /** Starts a controller. Resolves once it has looked at `keys` keys. */
  async function start(keys: number): Promise<void> {
    const stop = new AbortController();
    const looked = new Set<string>();
    const cluster = await openKubernetesCluster({
      kubeconfig: kubernetes.kubeconfigPath,
      namespaces: null,
      clock,
      random: Math.random,
      log: () => {},
      fieldManager: "keyplane-test",
      identity: "test",
    });
    const ended = startController(
      {
        cluster: {
          ...cluster,
          cachedSecretVersion: (namespace, name) =>
            namespace === SILENT ? null : cluster.cachedSecretVersion(namespace, name),
        },
        store,
        keyring,
        publicUrl: "https://keys.example.com",
        clock,
        log: () => {},
        onReconciled: ({ kind, namespace, name }) => kind === "PlatformKey" && looked.add(`${namespace}/${name}`),
      },
      stop.signal,
    );
    end = async () => {
      stop.abort();
      await ended;
      await cluster.close();
    };
    await until("every key was looked at", () => looked.size >= keys);
  }

  /** All requests of the controller so far. */
  async function asked(): Promise<AuditedRequest[]> {
    const lines = (await readFile(kubernetes.auditLog ?? "", "utf8")).split("\n").filter((line) => line !== "");
    const events = lines.map((line): AuditEvent => JSON.parse(line));
    return events
      .filter(({ userAgent }) => userAgent === "keyplane-controller")
      .map(({ verb, objectRef }) => {
        const { resource = "", subresource, namespace = "", name = "" } = objectRef ?? {};
        const path = subresource === undefined ? resource : `${resource}/${subresource}`;
        return { what: `${verb} ${path}`, of: `${namespace}/${name}` };
      });
  }

  /** How the keys of a namespace stand: `True/Ready`, each as often as it is so. */
  async function readiness(namespace: string): Promise<string[]> {
    const { body } = await kubernetes.request(
      "GET",
      `/apis/keyplane.dev/v1alpha1/namespaces/${namespace}/platformkeys`,
    );
    return (body as KeyList).items.map(({ status }) => {
      const ready = status?.conditions?.find(({ type }) => type === "Ready");
      return `${ready?.status}/${ready?.reason}`;
    });
  }

  async function untilReady(): Promise<void> {
    const all = async () => (await Promise.all(NAMESPACES.map(readiness))).flat();
    const isReady = async () => (await all()).filter((one) => one === "True/Ready").length === KEYS;
    await until("every key is ready", isReady);
  }

  beforeAll(async () => {
    [kubernetes, database] = await Promise.all([lendKubernetes(), migratedDatabase()]);
    store = await openPostgres(database.url);
    for (const name of [...NAMESPACES, SILENT]) {
      await kubernetes.request("POST", "/api/v1/namespaces", { body: JSON.stringify({ metadata: { name } }) });
    }
    const team = { apiVersion: "keyplane.dev/v1alpha1", kind: "PlatformTeam", metadata: { name: "research" } };
    await kubernetes.request("POST", "/apis/keyplane.dev/v1alpha1/platformteams", {
      body: JSON.stringify({ ...team, spec: { namespaces: [...NAMESPACES, SILENT] } }),
    });
  });

  afterAll(async () => {
    await end();
    await store?.close();
    await database?.drop();
    await kubernetes?.close();
  });

  it("is asked for four writes and no read for each new key", async () => {
    await start(0);
    const before = (await asked()).length;
    for (let i = 0; i < KEYS; i++) {
      await applyKey(kubernetes, NAMESPACES[i % 2] ?? "", `key-${i}`, { preset: "MCPReadOnly" });
    }
    await untilReady();
    const requests = (await asked()).slice(before).filter(({ of }) => !of.startsWith("/"));
    const counts = Object.groupBy(requests, ({ what }) => what);
    // Namespaces are asked for now and then, and kube-system with each list, however many keys there are.
    const perKey = Object.entries(counts).filter(([what]) => !/^(list |watch |get namespaces$)/.test(what));
    expect(Object.fromEntries(perKey.map(([what, all]) => [what, all?.length]))).toEqual({
      "patch platformkeys": KEYS,
      "create secrets": KEYS,
      "create events": KEYS,
      "patch platformkeys/status": KEYS,
    });
  });

  it("is asked for lists and watches alone when a controller starts again, and nothing is written", async () => {
    await end();
    const [before, rows] = [(await asked()).length, await rowsOf(store)];
    await start(KEYS);
    const kinds = new Set((await asked()).slice(before).map(({ what }) => what));
    expect([...kinds].filter((what) => !what.startsWith("list ") && !what.startsWith("watch "))).toEqual([
      // Whose uid names the cluster.
      "get namespaces",
      // Who we are, which is stored nowhere.
      "create selfsubjectreviews",
    ]);
    expect(await rowsOf(store)).toEqual(rows);
  });

  it("is asked for the Secrets alone that were changed while no controller ran", async () => {
    await end();
    const secretPath = (i: number) => `/api/v1/namespaces/${NAMESPACES[i % 2]}/secrets/key-${i}`;
    const data = async (i: number) => {
      const { body } = await kubernetes.request("GET", secretPath(i));
      return (body as { data?: Record<string, string> }).data?.["api-key"];
    };
    const [lost, edited] = [await data(0), await data(1)];
    await kubernetes.request("DELETE", secretPath(0));
    const planted = { data: { "api-key": Buffer.from("planted").toString("base64") } };
    const contentType = "application/merge-patch+json";
    await kubernetes.request("PATCH", secretPath(1), { body: JSON.stringify(planted), contentType });
    const labelled = { metadata: { labels: { theirs: "kept" } } };
    await kubernetes.request("PATCH", secretPath(2), { body: JSON.stringify(labelled), contentType });
    const before = (await asked()).length;
    await start(KEYS);
    await until("the lost one is back", async () => ![undefined, lost].includes(await data(0)));
    await until(
      "the edited one has a key again",
      async () => ![edited, planted.data["api-key"]].includes(await data(1)),
    );
    const read = (await asked()).slice(before).filter(({ what }) => what === "get secrets");
    expect([...new Set(read.map(({ of }) => of))].sort()).toEqual(["dev/key-0", "dev/key-2", "prod/key-1"]);
    await untilReady();

    await end();
    const settled = (await asked()).length;
    await start(KEYS);
    expect((await asked()).slice(settled).filter(({ what }) => what === "get secrets")).toEqual([]);
  });

  it("c5: decides by itself that a Secret is another's: nothing is activated, and nothing is reserved again", async () => {
    const path = `/api/v1/namespaces/${SILENT}/secrets`;
    const planted = { metadata: { name: "taken" }, stringData: { "api-key": "planted" } };
    await kubernetes.request("POST", path, { body: JSON.stringify(planted) });
    await applyKey(kubernetes, SILENT, "taken", { preset: "MCPReadOnly" });
    const stands = (expected: string) => async () => (await readiness(SILENT))[0] === expected;
    const versions = async () => {
      const rows = await store.db.selectFrom("key_versions").innerJoin("keys", "keys.id", "key_versions.key_id");
      const states = await rows
        .select("key_versions.state")
        .where("keys.name", "=", "taken")
        .orderBy("number")
        .execute();
      return states.map(({ state }) => state);
    };
    await until("the conflict is reported", stands("False/SecretConflict"));
    for (const displayName of ["one", "two"]) {
      await applyKey(kubernetes, SILENT, "taken", { preset: "MCPReadOnly", displayName });
      const applied = async () =>
        (await store.db.selectFrom("keys").select("id").where("display_name", "=", displayName).execute()).length === 1;
      await until("it is looked at again", applied);
    }
    expect(await versions()).toEqual(["reserved"]);
    const { body } = await kubernetes.request("GET", `${path}/taken`);
    expect(body).toMatchObject({ data: { "api-key": Buffer.from("planted").toString("base64") } });

    await kubernetes.request("DELETE", `${path}/taken`);
    await until("it is ready once the other Secret is gone", stands("True/Ready"));
    expect(await versions()).toEqual(["voided", "active"]);
  });
});

type KeyList = {
  readonly items: readonly {
    readonly status?: { readonly conditions?: readonly { type: string; status: string; reason: string }[] };
  }[];
};

type AuditEvent = {
  readonly verb: string;
  readonly userAgent?: string;
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
};
