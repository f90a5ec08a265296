import { randomBytes } from "node:crypto";
import { sql } from "kysely";
import { PRESETS } from "../../domain/access/scopes.ts";
import { keyDigest, keyPrefix, mintKey } from "../../domain/key/secret/key-format.ts";
import { change } from "../../store/database/change.ts";
import { migrate } from "../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../store/database/postgres/postgres.ts";
import { parseKeyring } from "../../store/encryption/keyring.ts";
import { saveGateway } from "../../store/gateways/gateways.ts";
import { reserveVersion } from "../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../store/keys/lifecycle/key-versions.ts";
import { revokeKey } from "../../store/keys/lifecycle/revocation.ts";
import { createConfirmer } from "../../store/replicas/confirmer.ts";
import { replicaRegister } from "../../store/replicas/replicas.ts";
import { startOwnPostgres } from "../env/database/postgres.ts";
import { dropNotifications } from "../env/notifications.ts";
import { type Serving, startServing } from "../env/serving.ts";
import { startTcpProxy, type TcpProxy } from "../env/tcp-proxy.ts";
import { until } from "../env/until.ts";
import { gatewayDraft, makeTeam, policyOf, reservationOf } from "../store/fixtures.ts";
import { feedHead } from "../store/questions.ts";
import { OpenCalls } from "./open-calls.ts";
import { Prober } from "./prober.ts";

export const REPLICAS = 3;
const REQUESTS_PER_SECOND = 200;
const PUBLIC_ID = "bench-main";
/** The gateway answers it by itself: what it takes to be let through, and nothing else. */
const PATH = `/g/${PUBLIC_ID}/v1/models`;
/** A gateway whose upstream takes what does not end. */
const OPEN_ID = "bench-open";
const KEYS_AT_ONCE = 250;

/** A server process, what is between it and the database, and who asks it. */
export type BenchReplica = {
  readonly serving: Serving;
  readonly proxy: TcpProxy;
  /** Whether its notifications get lost. */
  loses: boolean;
  readonly prober: Prober;
};

export type BenchKey = { readonly id: string; readonly plaintext: string };

export type RevocationWorld = Awaited<ReturnType<typeof startRevocationWorld>>;

/** A PostgreSQL, server processes on it, each through a proxy and asked all the time, and a team with a gateway. */
export async function startRevocationWorld() {
  const ends: (() => Promise<unknown>)[] = [];
  const end = async () => {
    for (const one of ends.toReversed()) await one();
  };
  try {
    return { ...(await build(ends)), end };
  } catch (error) {
    await end();
    throw error;
  }
}

async function build(ends: (() => Promise<unknown>)[]) {
  const postgres = await startOwnPostgres({ track_commit_timestamp: "on" });
  ends.push(() => postgres.stop());
  const store = await openPostgres(postgres.url);
  ends.push(() => store.close());
  await migrate(store);
  const encryptionKey = randomBytes(32).toString("base64");
  const home = await makeTeam(store);
  const gateway = gatewayDraft(home, { publicId: PUBLIC_ID, routesOnly: true });
  const openCalls = new OpenCalls({
    streams: `/g/${OPEN_ID}/v1/chat/completions`,
    uploads: `/g/${OPEN_ID}/v1/files`,
  });
  const baseUrl = await openCalls.listen();
  ends.push(async () => openCalls.close());
  const upstreams = [{ name: "model", dialect: "openai", baseUrl, credential: "sk-bench-credential" }] as const;
  const open = gatewayDraft(home, { publicId: OPEN_ID, operations: ["generate", "files"], upstreams });
  await change(store, null, async (tx) => {
    for (const one of [gateway, open]) await saveGateway(tx, one, parseKeyring(encryptionKey));
  });

  async function startReplica(): Promise<BenchReplica> {
    const url = new URL(postgres.url);
    const replica = { loses: false };
    const makeFilter = () => dropNotifications(() => replica.loses);
    const proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) }, makeFilter);
    ends.push(() => proxy.close());
    url.port = String(proxy.port);
    const flags = ["--port", "0", "--admin-port", "0", "--allow-private-upstreams", "127.0.0.0/8"];
    const serving = await startServing(["server", ...flags], {
      KEYPLANE_DATABASE_URL: url.href,
      KEYPLANE_ENCRYPTION_KEY: encryptionKey,
    });
    ends.push(() => serving.stop());
    const prober = new Prober(serving.url, PATH, REQUESTS_PER_SECOND);
    ends.push(() => prober.close());
    return Object.assign(replica, { serving, proxy, prober });
  }

  return {
    url: postgres.url,
    openCalls,
    replicas: await Promise.all(Array.from({ length: REPLICAS }, startReplica)),

    /** Makes keys that work everywhere, each named `name-…`. */
    async makeKeys(name: string, count: number): Promise<BenchKey[]> {
      const keys: BenchKey[] = [];
      while (keys.length < count) {
        await change(store, null, async (tx) => {
          for (let i = 0; i < KEYS_AT_ONCE && keys.length < count; i++) {
            const plaintext = mintKey(randomBytes);
            const reservation = reservationOf(home, {
              digest: keyDigest(plaintext),
              prefix: keyPrefix(plaintext),
              policy: policyOf({ scopes: [...PRESETS.GatewayDefault, "gateway:files"] }),
              key: { name: `${name}-${keys.length}` },
            });
            const { id } = reservation.key;
            await reserveVersion(tx, reservation);
            await activateVersion(tx, { keyId: id, number: 1, overlapMs: 0 });
            keys.push({ id, plaintext });
          }
        });
      }
      const confirmed = createConfirmer(replicaRegister(store), () => performance.now());
      const seq = await feedHead(store);
      await until("every replica knows the keys", async () => (await confirmed()).seq >= seq);
      return keys;
    },

    async revoke({ id }: BenchKey): Promise<void> {
      await change(store, null, (tx) => revokeKey(tx, id, "ByHand"));
    },

    /** When each key's last change was committed, in milliseconds since this process began. */
    async committedAt(keys: readonly BenchKey[]): Promise<ReadonlyMap<string, number>> {
      const ids = keys.map(({ id }) => id);
      const { rows } = await sql<{ ref: string; at: number }>`
        select distinct on (ref) ref, (extract(epoch from pg_xact_commit_timestamp(xmin)) * 1000)::float8 as at
        from changes where kind = 'key' and ref = any(${ids}::text[]) order by ref, seq desc`.execute(store.db);
      const origin = await databaseTimeAtZero();
      return new Map(rows.map(({ ref, at }) => [ref, at - origin]));
    },

    /** Ends the connections that listen, of every replica. */
    async cutListeners(): Promise<void> {
      await sql`select pg_terminate_backend(pid) from pg_stat_activity where query ilike 'listen %'`.execute(store.db);
    },
  };

  /** What the database's clock said when this process began: by the question that was answered fastest. */
  async function databaseTimeAtZero(): Promise<number> {
    let best = { took: Number.POSITIVE_INFINITY, origin: 0 };
    for (let i = 0; i < 20; i++) {
      const asked = performance.now();
      const { rows } = await sql<{ now: number }>`
        select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`.execute(store.db);
      const took = performance.now() - asked;
      if (took < best.took) best = { took, origin: (rows[0]?.now ?? 0) - asked - took / 2 };
    }
    return best.origin;
  }
}
