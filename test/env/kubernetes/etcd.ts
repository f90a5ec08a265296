/** Etcd by its gateway for JSON, beside the API server that keeps its objects there. */
import { randomUUID } from "node:crypto";
import { Agent, request as httpRequest } from "node:http";
import { text } from "node:stream/consumers";

/** An entry as the gateway has it: its key and its value are in base64. */
type EtcdEntry = { readonly key: string; readonly mod_revision: string; readonly value?: string };

/** All that the API server kept at one time, by key. */
export type EtcdSnapshot = Map<string, EtcdEntry>;

const base64 = (text: string) => Buffer.from(text).toString("base64");
/** Where the API server has its objects, as a range. */
const ALL = { key: base64("/registry/"), range_end: base64("/registry0") };
/** The API server renews its own Lease at any time. */
const ITS_OWN = "/registry/leases/kube-system/";
/** As many changes as etcd takes at once. */
const MAX_CHANGES = 128;

export function openEtcd(socketPath: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });

  async function ask<T>(path: string, body: object): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const request = httpRequest({ socketPath, path, method: "POST", agent }, async (response) => {
      const answer = await text(response);
      if (response.statusCode === 200) resolve(JSON.parse(answer));
      else reject(new Error(`etcd, ${path}: ${answer}`));
    });
    request.on("error", reject).end(JSON.stringify(body));
    return promise;
  }

  const revision = async () => {
    const { header } = await ask<{ header: { revision: string } }>("/v3/kv/range", { key: base64("/") });
    return header.revision;
  };

  async function read(options: { readonly keys_only?: true } = {}): Promise<EtcdSnapshot> {
    const { kvs = [] } = await ask<{ kvs?: readonly EtcdEntry[] }>("/v3/kv/range", { ...ALL, ...options });
    return new Map(kvs.map((entry) => [Buffer.from(entry.key, "base64").toString(), entry]));
  }

  async function commit(changes: readonly object[]): Promise<void> {
    for (let from = 0; from < changes.length; from += MAX_CHANGES) {
      await ask("/v3/kv/txn", { success: changes.slice(from, from + MAX_CHANGES) });
    }
  }

  return {
    revision,
    /** All that the API server keeps. */
    read: () => read(),
    /** Has etcd forget whatever was before its present revision. */
    async compact(): Promise<void> {
      await ask("/v3/kv/compaction", { revision: await revision(), physical: true });
    },
    /** Keeps copies of a declaration beside it, each with a name and a UID of its own. The API server hears of them. */
    async copy(key: string, names: readonly string[]): Promise<void> {
      const { kvs: [entry] = [] } = await ask<{ kvs?: readonly EtcdEntry[] }>("/v3/kv/range", { key: base64(key) });
      if (entry?.value === undefined) throw new Error(`etcd has no ${key}`);
      const object: { metadata: object } = JSON.parse(Buffer.from(entry.value, "base64").toString());
      const puts = names.map((name) => {
        const value = JSON.stringify({ ...object, metadata: { ...object.metadata, name, uid: randomUUID() } });
        return { request_put: { key: base64(key.replace(/[^/]*$/, name)), value: base64(value) } };
      });
      await commit(puts);
    },
    /**
     * Brings back what was kept, and removes whatever has come since. The API server hears of it as of any other change.
     *
     * @returns the keys that were changed
     */
    async restore(kept: EtcdSnapshot): Promise<string[]> {
      const now = await read({ keys_only: true });
      const isTheirs = (key: string) => !key.startsWith(ITS_OWN);
      const added = [...now.keys()].filter((key) => !kept.has(key) && isTheirs(key));
      const changed = [...kept.keys()].filter(
        (key) => now.get(key)?.mod_revision !== kept.get(key)?.mod_revision && isTheirs(key),
      );
      const changes = [
        ...added.map((key) => ({ request_delete_range: { key: base64(key) } })),
        ...changed.map((key) => ({ request_put: { key: base64(key), value: kept.get(key)?.value } })),
      ];
      await commit(changes);
      if (changed.length > 0) {
        const after = await read({ keys_only: true });
        for (const key of changed) {
          const [was, is] = [kept.get(key), after.get(key)];
          if (was !== undefined && is !== undefined) kept.set(key, { ...was, mod_revision: is.mod_revision });
        }
      }
      return [...added, ...changed];
    },
    close: () => agent.destroy(),
  };
}
