/** The two ways to run Keyplane that the hostile tenant is let loose on: as processes, with the command of the checkout. */
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import type { Scope } from "../../../domain/access/scopes.ts";
import { change } from "../../../store/database/change.ts";
import { migrate } from "../../../store/database/migrate/migrate.ts";
import { openPGlite } from "../../../store/database/pglite/pglite.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../store/database/store.ts";
import { parseKeyring } from "../../../store/encryption/keyring.ts";
import { revokeKey } from "../../../store/keys/lifecycle/revocation.ts";
import { createConfirmer } from "../../../store/replicas/confirmer.ts";
import { replicaRegister } from "../../../store/replicas/replicas.ts";
import { makeHome, tokenOf } from "../../cli/up.ts";
import { copyEmbedded } from "../../env/database/embedded-database.ts";
import { startOwnPostgres } from "../../env/database/postgres.ts";
import { freePort } from "../../env/free-port.ts";
import { type Serving, startServing } from "../../env/serving.ts";
import { until } from "../../env/until.ts";
import { feedHead } from "../../store/questions.ts";
import { furnish, type TeamName, type TenantKey } from "./tenants.ts";

export type Replica = {
  readonly name: string;
  readonly url: string;
  readonly adminUrl: string;
  readonly serving: Serving;
};

export type Installation = {
  readonly replicas: readonly Replica[];
  /** Of the team's own, made before the start, or by a manager of keys; it works everywhere once it is there. */
  makeKey(team: TeamName, scopes?: readonly Scope[]): Promise<TenantKey>;
  /** Resolves once the revocation is committed; then `confirmed` does when every replica refuses the key, as is said. */
  revoke(key: TenantKey): Promise<{ readonly confirmed: Promise<void> }>;
  close(): Promise<void>;
};

export type Furniture = { readonly hostileUpstream: string; readonly ownUpstream: string; readonly atoms: number };

/** A heap that makes what is bounded by its share small enough to be seen. */
const NODE_FLAGS = ["--max-old-space-size=1024"];
const REPLICAS = 2;

/** A PostgreSQL and two `keyplane server`. */
export async function openServers(furniture: Furniture): Promise<Installation> {
  const ends: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of ends.toReversed()) await end();
  };
  try {
    const postgres = await startOwnPostgres();
    ends.push(() => postgres.stop());
    const store = await openPostgres(postgres.url);
    ends.push(() => store.close());
    await migrate(store);
    const encryptionKey = randomBytes(32).toString("base64");
    const tenants = await furnish(store, parseKeyring(encryptionKey), furniture);
    const env = { KEYPLANE_DATABASE_URL: postgres.url, KEYPLANE_ENCRYPTION_KEY: encryptionKey };
    const replicas: Replica[] = [];
    for (let n = 0; n < REPLICAS; n++) {
      const args = ["server", "--allow-private-upstreams", "127.0.0.0/8"];
      replicas.push(await startReplica(`server-${n}`, args, env));
      ends.push(() => replicas[n]?.serving.stop() ?? Promise.resolve());
    }
    const confirmedUpTo = confirmation(store);
    return {
      replicas,
      close,
      async makeKey(team, scopes) {
        const key = await tenants.makeKey(team, scopes);
        await confirmedUpTo(await feedHead(store));
        return key;
      },
      async revoke({ id }) {
        await change(store, null, (tx) => revokeKey(tx, id, "ByHand"));
        return { confirmed: confirmedUpTo(await feedHead(store)) };
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** `keyplane up` on its embedded database. */
export async function openUp(furniture: Furniture): Promise<Installation> {
  const home = makeHome();
  const encryptionKey = randomBytes(32).toString("base64");
  await copyEmbedded(join(home.data, "db"));
  const store = await openPGlite(join(home.data, "db"));
  await furnish(store, parseKeyring(encryptionKey), furniture);
  await store.close();
  const args = ["up", "--manifests", home.manifests, "--data", home.data];
  const up = await startReplica("up", args, { KEYPLANE_ENCRYPTION_KEY: encryptionKey });
  const manage = managementOf(up.url, tokenOf(home));
  let made = 0;
  return {
    replicas: [up],
    async close() {
      await up.serving.stop();
      home.remove();
    },
    async makeKey(team, scopes) {
      const name = `made-${++made}`;
      const answer = await manage("POST", "/keys", { name, team, spec: scopes ? { scopes } : ALL_SCOPES }, name);
      return { id: String(answer.id), plaintext: String(answer.secret) };
    },
    async revoke({ id }) {
      const receipt = await manage("POST", `/keys/${id}/revoke`, {});
      const isConfirmed = async () => (await manage("GET", `/keys/${id}`)).revocation?.confirmed === true;
      const confirmed = receipt.confirmed === true ? Promise.resolve() : until(`${id} is confirmed`, isConfirmed);
      return { confirmed: confirmed.then(() => {}) };
    },
  };
}

const ALL_SCOPES = {
  scopes: ["gateway:generate", "gateway:embed", "gateway:routes", "memory:read", "memory:write"],
} as const;

async function startReplica(name: string, args: readonly string[], env: Record<string, string>): Promise<Replica> {
  const adminPort = await freePort();
  const serving = await startServing([...args, "--port", "0", "--admin-port", `${adminPort}`], env, NODE_FLAGS);
  return { name, url: serving.url, adminUrl: `http://127.0.0.1:${adminPort}`, serving };
}

/** What waits until every change up to one is confirmed; the confirmer is asked once at a time. */
function confirmation(store: Store): (seq: number) => Promise<void> {
  const confirm = createConfirmer(replicaRegister(store), () => performance.now());
  let asking: ReturnType<typeof confirm> | undefined;
  const ask = () => {
    asking ??= confirm().finally(() => {
      asking = undefined;
    });
    return asking;
  };
  return async (seq) => {
    await until(`change ${seq} is confirmed`, async () => (await ask()).seq >= seq);
  };
}

type Managed = {
  readonly id?: string;
  readonly secret?: string | null;
  readonly confirmed?: boolean;
  readonly revocation?: { readonly confirmed: boolean } | null;
};

/** Calls of the management API. It is another tenant as well: what it cannot answer fails the run. */
function managementOf(url: string, token: string) {
  return async (method: string, path: string, body?: unknown, idempotencyKey?: string): Promise<Managed> => {
    const answer = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
        ...(idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(30_000),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 200)}`);
    return JSON.parse(text) as Managed;
  };
}
