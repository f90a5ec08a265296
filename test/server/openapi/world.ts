import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { sql } from "kysely";
import { GATEWAY_OPERATIONS } from "../../../domain/access/gateway-operations.ts";
import { scopeSet } from "../../../domain/access/scopes.ts";
import { products } from "../../../processes/products.ts";
import type { RoutePlugin } from "../../../server/app.ts";
import { managementToken } from "../../../server/auth/management/management-token.ts";
import { gatewayRoutes } from "../../../server/gateway/routes.ts";
import { UPSTREAM_TIMES } from "../../../server/gateway/upstream/upstream-times.ts";
import { DatabaseUnavailableError, DISK_FULL } from "../../../store/database/errors.ts";
import type { Store } from "../../../store/database/store.ts";
import { saveGateway } from "../../../store/gateways/gateways.ts";
import { reserveVersion } from "../../../store/keys/lifecycle/key-reservations.ts";
import { activateVersion } from "../../../store/keys/lifecycle/key-versions.ts";
import { saveLibrary } from "../../../store/libraries/libraries.ts";
import { declareExtraction } from "../../../store/libraries/library-extraction.ts";
import { openMigrated } from "../../env/database/engines.ts";
import {
  digestOf,
  gatewayDraft,
  libraryDraft,
  makeTeam,
  nextVersion,
  reservationOf,
  run,
  unique,
} from "../../store/fixtures.ts";
import { type Browser, signIn } from "../auth/session/sign-in.ts";
import { allDialects, routeOf } from "../gateway/gateway.ts";
import { startUpstream } from "../gateway/upstream.ts";
import { type Harness, startHarness } from "../harness.ts";
import { TOKEN } from "../management/api.ts";
import { ownersOfAll } from "../ownership/owners-of-all.ts";

/** How the database is: as ever, gone, without room on its disk, or with a fault that is not foreseen. */
export type DatabaseMode = "up" | "away" | "full" | "broken";

export type World = Awaited<ReturnType<typeof startWorld>>;

const UPSTREAMS = [{ name: "u", dialect: "openai", baseUrl: "http://127.0.0.1:1", credential: "c" }] as const;
const YEAR = 365 * 24 * 3_600_000;
/** Until an upstream's silence is a 504: long for an upstream that answers, short for a test that waits for a silent one. */
const HEAD_MS = 4_000;

/** Request of a batch, as a file has it. */
const LINE = '{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":{"model":"m"}}';

/** All products on a real database, with what every operation can be called on. */
export async function startWorld() {
  const store = await openMigrated();
  const upstream = await startUpstream((response, { url }) => {
    const answer = url.endsWith("/content") ? LINE : '{"data":[]}';
    response.writeHead(200, { "content-type": "application/json" }).end(answer);
  });
  const locked = await startUpstream((response) => response.writeHead(401).end());
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  let mode: DatabaseMode = "up";
  const gateway: RoutePlugin = (app, deps) => gatewayRoutes(app, deps, { ...UPSTREAM_TIMES, head: HEAD_MS });
  const origins: string[] = [];
  const harness = await startHarness({
    // Each object of the upstreams is the team's.
    owners: ownersOfAll(origins),
    mounts: products().with(-1, { at: "", routes: gateway }),
    store: withModes(store, () => mode),
    managementToken: managementToken("console", TOKEN),
  });
  const team = await makeTeam(store);
  const key = harness.addKey(of(team));
  const silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
  origins.push(upstream.url, "http://127.0.0.1:1", silentUrl, locked.url);
  const gateways = {
    main: addGateway(harness, team.teamId, upstream.url),
    dead: addGateway(harness, team.teamId, "http://127.0.0.1:1"),
    silent: addGateway(harness, team.teamId, silentUrl),
    locked: addGateway(harness, team.teamId, locked.url),
    bare: harness.addGateway({ teamId: team.teamId }).publicId,
  };
  const session: Browser = await signIn(store);

  return {
    store,
    harness,
    upstream,
    team,
    key,
    gateways,
    session,
    url: harness.url,
    setDatabase(next: DatabaseMode): void {
      mode = next;
    },
    /** A key that may do nothing. */
    addUseless: () => harness.addKey({ ...of(team), scopes: scopeSet([]) }),
    /** A key whose rate limit the next request but one breaks. */
    addLimited: () => harness.addKey({ ...of(team), rateLimit: { requestsPerMinute: 1, burst: 1, scope: "Replica" } }),
    /** A key that has each call name a subject. */
    addForSubjects: () => harness.addKey({ ...of(team), subject: { mode: "Required" } }),
    /** Declares a library in the team's namespace, and gives its id. */
    declareLibrary: (name: string) =>
      run(store, async (tx) => (await saveLibrary(tx, libraryDraft(team, { name, displayName: name }))).libraryId),
    /** Declares a library that takes conversations. */
    async declareExtraction(name: string): Promise<void> {
      const id = await this.declareLibrary(name);
      const mint = () => ({ digest: digestOf(name), prefix: unique("inf_") });
      const draft = { library: { ...team, id, name }, gatewayId: "gw_none", model: "small", mint };
      await run(store, (tx) => declareExtraction(tx, { ...draft, generation: 1, tokensPerDay: 1_000_000 }));
    },
    /** Declares a gateway, and gives its id. */
    declareGateway: () =>
      run(
        store,
        async (tx) =>
          (await saveGateway(tx, gatewayDraft(team, { upstreams: UPSTREAMS }), harness.deps.keyring)).gatewayId,
      ),
    /**
     * Declares a key, and gives its id.
     *
     * @param versions how many it has, each but the last one in its overlap
     */
    async declareKey({ versions = 1, isOrphan = false } = {}): Promise<string> {
      const reservation = reservationOf(team, { prefix: unique("inf_") });
      const { id } = reservation.key;
      for (let number = 1; number <= versions; number++) {
        const { digest } = nextVersion(reservation, number);
        await run(store, async (tx) => {
          await reserveVersion(tx, { ...reservation, number, digest, prefix: unique("inf_") });
          await activateVersion(tx, { keyId: id, number, overlapMs: YEAR });
        });
      }
      if (isOrphan) await sql`update keys set owner_uid = null where id = ${id}`.execute(store.db);
      return id;
    },
    /** Asks the management API, and throws where it refuses. */
    async manage(method: string, path: string, body?: object, headers: Record<string, string> = {}) {
      const answer = await fetch(`${harness.url}/api/v1${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers },
        ...(body && { body: JSON.stringify(body) }),
      });
      const made: { id: string; secret: string } = JSON.parse(await answer.text());
      if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(made)}`);
      return made;
    },
    async close(): Promise<void> {
      mode = "up";
      await harness.close();
      await upstream.close();
      await locked.close();
      silent.close();
      await store.close();
    },
  };
}

function of({ teamId, namespace }: { teamId: string; namespace: string }) {
  return { teamId, namespace };
}

/** A gateway with an upstream and a logical route of each dialect. */
function addGateway(harness: Harness, teamId: string, url: string): string {
  const routes = (["openai", "gemini", "anthropic"] as const).map((upstream) =>
    routeOf(`fast-${upstream}`, { upstream }),
  );
  const operations = [...new Set(Object.values(GATEWAY_OPERATIONS).map(({ kind }) => kind))];
  return harness.addGateway({ teamId, publicId: unique("public"), ...allDialects(url), routes, operations }).publicId;
}

function withModes(store: Store, modeOf: () => DatabaseMode): Store {
  const check = (): void => {
    if (modeOf() === "away") throw new DatabaseUnavailableError("the test says so");
    if (modeOf() === "full") throw Object.assign(new Error("the test says so"), { code: DISK_FULL });
    if (modeOf() === "broken") throw new Error("the test says so");
  };
  return {
    ...store,
    db: new Proxy(store.db, {
      get(db, name) {
        check();
        const member: unknown = Reflect.get(db, name, db);
        return typeof member === "function" ? member.bind(db) : member;
      },
    }),
    memory: {
      async run(call, body) {
        check();
        return store.memory.run(call, body);
      },
    },
  };
}
