import { setTimeout as delay } from "node:timers/promises";
import type { Kubernetes } from "../env/kubernetes/client.ts";
import type { WatchedObject } from "../oracle/watch.ts";

/** How long a request is repeated while the API server is away, or while what has its name is ending, in milliseconds. */
const PATIENCE_MS = 600_000;
const PAUSE_MS = 250;
/** What no repetition changes. */
const HOPELESS: ReadonlySet<number> = new Set([400, 405, 415, 422]);

/** The requests of the users: each is repeated until the API server has taken or refused it. */
export type Admin = {
  /** Undefined where there is none. */
  read(path: string): Promise<WatchedObject | undefined>;
  list(path: string): Promise<WatchedObject[]>;
  /** Waits while another of that name, or its namespace, is ending. */
  create(collection: string, object: Record<string, unknown>): Promise<WatchedObject>;
  /** A JSON merge patch. Undefined where there is nothing to patch. */
  patch(path: string, patch: Record<string, unknown>): Promise<WatchedObject | undefined>;
  /** Puts an object as it is given, finalizers and all, in the place of the one that is there; not where there is none. */
  replace(path: string, object: Record<string, unknown>): Promise<void>;
  remove(path: string, options?: Record<string, unknown>): Promise<void>;
};

/** The object is not there. An API server that has just started also says so of kinds that it does not know as yet. */
const isAbsent = (status: number, answer: string) => status === 404 && /"details":{[^}]*"name":/.test(answer);

export function createAdmin({ request }: Pick<Kubernetes, "request">): Admin {
  async function persist(
    method: string,
    path: string,
    body: Record<string, unknown> | undefined,
    isOver: (status: number, answer: string) => boolean,
  ): Promise<{ status: number; body: unknown }> {
    const deadline = performance.now() + PATIENCE_MS;
    const options = {
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(method === "PATCH" ? { contentType: "application/merge-patch+json" } : {}),
    };
    for (;;) {
      const answer = await request(method, path, options).catch(() => ({ status: 0, body: "no answer" }));
      if (isOver(answer.status, JSON.stringify(answer.body))) return answer;
      if (HOPELESS.has(answer.status) || performance.now() > deadline) {
        throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 500)}`);
      }
      await delay(PAUSE_MS);
    }
  }

  async function read(path: string): Promise<WatchedObject | undefined> {
    const isOver = (code: number, answer: string) => code === 200 || isAbsent(code, answer);
    const { status, body } = await persist("GET", path, undefined, isOver);
    return status === 200 ? (body as WatchedObject) : undefined;
  }

  return {
    read,
    async list(path) {
      const { body } = await persist("GET", path, undefined, (code) => code === 200);
      return (body as { items: WatchedObject[] }).items;
    },
    async create(collection, object) {
      const { name } = object.metadata as { name: string };
      let attempts = 0;
      const { status, body } = await persist("POST", collection, object, (code, answer) => {
        // Ours, when an earlier answer was lost; another's, when it has yet to go.
        if (code === 409 && attempts > 0 && !answer.includes("being deleted")) return true;
        attempts++;
        return code === 201;
      }).catch(async (error: unknown) => {
        const { metadata, status } = (await read(`${collection}/${name}`)) ?? {};
        const there = { ...metadata, managedFields: undefined, status };
        throw new Error(`${String(error)}; there is ${JSON.stringify(there)}`);
      });
      if (status === 201) return body as WatchedObject;
      const there = await read(`${collection}/${name}`);
      if (there === undefined || there.metadata.deletionTimestamp !== undefined) return this.create(collection, object);
      return there;
    },
    async patch(path, patch) {
      const isOver = (code: number, answer: string) =>
        code === 200 || isAbsent(code, answer) || answer.includes("is immutable");
      const { status, body } = await persist("PATCH", path, patch, isOver);
      return status === 200 ? (body as WatchedObject) : undefined;
    },
    async replace(path, object) {
      const resourceVersion = (await read(path))?.metadata.resourceVersion;
      if (resourceVersion === undefined) return;
      const metadata = { ...Object(object.metadata), resourceVersion };
      const isOver = (code: number, answer: string) => code === 200 || code === 409 || isAbsent(code, answer);
      const { status } = await persist("PUT", path, { ...object, metadata }, isOver);
      if (status === 409) await this.replace(path, object);
    },
    async remove(path, options) {
      await persist("DELETE", path, options, (code, answer) => {
        // 409 of a namespace that is ending already.
        return code === 200 || code === 202 || isAbsent(code, answer) || answer.includes("ensuring all content");
      });
    },
  };
}
