/** Callers, and keys that are revoked, while the servers behind their address are replaced one after the other. */
import { setTimeout as delay } from "node:timers/promises";
import { until } from "../env/until.ts";

/** The servers that take new calls now, as a Service's endpoints are. */
export type Endpoints = { readonly urls: readonly string[] };

export type Traffic = {
  /** Answered as they should be. */
  readonly good: number;
  /** What was wrong with each that was not. */
  readonly wrong: readonly string[];
  /** Resolves once the last call is answered. */
  stop(): Promise<void>;
};

const EVERY_MS = 15;
/** How often each server is asked with a key that has ended, once there is a receipt. */
const ASKS_AFTER = 5;

type Call = { readonly method: "GET" | "POST"; readonly path: string; readonly body?: object };

const CALLS: readonly Call[] = [
  { method: "GET", path: "/atoms?limit=5" },
  {
    method: "POST",
    path: "/atoms",
    body: { content: "What is remembered while versions change.", library: "handbook" },
  },
  { method: "GET", path: "/api/v1/whoami" },
];

/** @param key of memory:read and memory:write */
export function startCallers(endpoints: Endpoints, key: string): Traffic {
  return startLoops(
    CALLS.map((call) => async () => {
      const status = await statusOf(nextOf(endpoints), key, call);
      if (status !== 200 && status !== 201) throw new Error(`${call.method} ${call.path}: ${status}`);
    }),
  );
}

/**
 * Makes keys, has every server let them in, revokes them, and asks again once the receipt says that none does.
 *
 * @param token of the management API
 * @param team an id
 */
export function startRevocations(endpoints: Endpoints, token: string, team: string): Traffic {
  const manage = async (method: "GET" | "POST", path: string, body?: object) => {
    const answer = await fetch(`${nextOf(endpoints)}/api/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as { id: string; secret: string; confirmed: boolean; revocation: Revocation | null };
  };
  const list: Call = { method: "GET", path: "/atoms?limit=1" };
  /** What each server answers to a key; one that has left the endpoints need not answer. */
  const areAll = async (secret: string, status: number) => {
    for (const url of endpoints.urls) {
      const answer = await statusOf(url, secret, list).catch(String);
      const hasLeft = answer !== 200 && !endpoints.urls.includes(url);
      if (answer !== status && !hasLeft) return { isSo: false, answer };
    }
    return { isSo: true, answer: status };
  };
  let made = 0;
  return startLoops([
    async () => {
      const spec = { scopes: ["memory:read"] };
      const { id, secret } = await manage("POST", "/keys", { name: `revoked-${++made}`, team, spec });
      await until("a new key is let in", async () => (await areAll(secret, 200)).isSo);
      const { confirmed } = await manage("POST", `/keys/${id}/revoke`, {});
      const isConfirmed = async () => (await manage("GET", `/keys/${id}`)).revocation?.confirmed === true;
      if (!confirmed) await until("a revocation is confirmed", isConfirmed);
      for (let n = 0; n < ASKS_AFTER; n++) {
        const { isSo, answer } = await areAll(secret, 401);
        if (!isSo) throw new Error(`a revoked key got ${answer} after the receipt`);
      }
    },
  ]);
}

type Revocation = { readonly confirmed: boolean };

let turn = 0;
function nextOf({ urls }: Endpoints): string {
  const url = urls[turn++ % urls.length];
  if (url === undefined) throw new Error("no server takes calls");
  return url;
}

async function statusOf(url: string, key: string, { method, path, body }: Call): Promise<number> {
  const answer = await fetch(url + path, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  await answer.arrayBuffer();
  return answer.status;
}

function startLoops(loops: readonly (() => Promise<void>)[]): Traffic {
  const wrong: string[] = [];
  let good = 0;
  let isOver = false;
  const running = loops.map(async (once) => {
    while (!isOver) {
      await once().then(
        () => good++,
        (error: unknown) => wrong.push(error instanceof Error ? `${error.message} ${error.cause ?? ""}`.trim() : "?"),
      );
      await delay(EVERY_MS);
    }
  });
  return {
    get good() {
      return good;
    },
    wrong,
    async stop() {
      isOver = true;
      await Promise.all(running);
    },
  };
}
