import { once } from "node:events";
import { createServer } from "node:net";
import { sql } from "kysely";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { checkDatabase } from "../../../cli/doctor/database.ts";
import type { Finding } from "../../../cli/doctor/finding.ts";
import { MIN_SCHEMA_VERSION, migrate, SCHEMA_VERSION } from "../../../store/database/migrate/migrate.ts";
import { openPostgres } from "../../../store/database/postgres/postgres.ts";
import type { Store } from "../../../store/database/store.ts";
import { freshDatabase } from "../../env/database/engines.ts";
import { freePort } from "../../env/free-port.ts";
import { dropNotifications } from "../../env/notifications.ts";
import { startTcpProxy } from "../../env/tcp-proxy.ts";
import { keyplane } from "../up.ts";

describe("keyplane doctor --database-url", () => {
  let url: string;
  let drop: () => Promise<void>;
  let store: Store;
  beforeAll(async () => {
    ({ url, drop } = await freshDatabase());
    store = await openPostgres(url);
  });
  afterAll(async () => {
    await store.close();
    await drop();
  });

  /** What is wrong, as `name: message: action`. */
  async function wrong(database: string, now = Date.now): Promise<string[]> {
    const findings = await checkDatabase(
      { url: database },
      { encryptionKeys: async () => undefined, now },
      async () => [],
    );
    return findings.filter(({ severity }) => severity === "error").map(inLine);
  }
  const inLine = ({ name, message, action }: Finding) => `${name}: ${message}: ${action}`;
  const changed = (change: (url: URL) => void) => {
    const other = new URL(url);
    change(other);
    return other.href;
  };
  const NO_SERVER = expect.stringMatching(/^replicas: no server runs on this database: keyplane server/);

  test("finds a database without a schema, and says how it gets one", async () => {
    expect(await wrong(url)).toEqual([
      `database-schema: the database's schema is version 0, and version ${SCHEMA_VERSION} is needed: run keyplane migrate: keyplane migrate --database-url URL`,
    ]);
    await migrate(store);
    expect(await wrong(url)).toEqual([NO_SERVER]);
  });

  test("finds a schema of the future, and one that is too old to be carried over", async () => {
    await sql`insert into schema_migrations (version, name) values (${SCHEMA_VERSION + 2}, 'later')`.execute(store.db);
    expect(await wrong(url)).toEqual([
      expect.stringMatching(/^database-schema: .*, too new for this build .*: use the keyplane that migrated it/),
    ]);
    await sql`delete from schema_migrations where version > ${SCHEMA_VERSION}`.execute(store.db);
    const tooOld = SCHEMA_VERSION - MIN_SCHEMA_VERSION + 1;
    await sql`update schema_migrations set version = version - ${tooOld}`.execute(store.db);
    expect(await wrong(url)).toEqual([
      expect.stringMatching(
        new RegExp(`this build migrates none before ${MIN_SCHEMA_VERSION}: .*bring it to .*: do what this says$`),
      ),
    ]);
    await sql`update schema_migrations set version = version + ${tooOld}`.execute(store.db);
  });

  test("c120: keeps what it found when a lock of another session holds up the rest, and says what waits", async () => {
    // A session that is not Keyplane's: these end when they are idle in a transaction.
    const other = new pg.Client({ connectionString: url });
    await other.connect();
    await other.query("begin; lock table replicas in access exclusive mode");
    const given = { encryptionKeys: async () => undefined, now: Date.now };
    const findings = await checkDatabase({ url }, given, async () => []).finally(() => other.end());
    expect(findings.map(({ name, severity }) => `${name} ${severity}`)).toEqual(
      expect.arrayContaining(["database-version ok", "database-schema ok", "database-connection error"]),
    );
    expect(findings.map(inLine).at(-1)).toMatch(
      /^database-connection: the checks of the database ended here: canceling statement due to .*waited for a lock: see pg_stat_activity/,
    );
  });

  test("finds a way on which notifications are lost, as behind a pooler", async (context) => {
    const direct = new URL(url);
    const proxy = await startTcpProxy({ host: direct.hostname, port: Number(direct.port) }, () => dropNotifications());
    context.onTestFinished(() => proxy.close());
    const pooled = changed((other) => {
      [other.hostname, other.port] = ["127.0.0.1", String(proxy.port)];
    });
    expect(await wrong(pooled)).toEqual([
      expect.stringMatching(
        /^database-notifications: a notification that was sent did not arrive: .*pooler in session/,
      ),
      NO_SERVER,
    ]);
  });

  test("finds a clock that is another's by a minute, and notes one by ten seconds", async () => {
    expect(await wrong(url, () => Date.now() - 60_000)).toEqual([
      expect.stringMatching(/^clock: the database's clock is 60 s ahead of this machine's: set both by NTP/),
      NO_SERVER,
    ]);
    expect(await wrong(url, () => Date.now() + 10_000)).toEqual([NO_SERVER]);
  });

  test("says of a database that has no room for a connection's own file what to make room on", async (context) => {
    const fields = Buffer.from("SFATAL\0C53100\0Mcould not write file\0\0");
    const head = Buffer.from("E\0\0\0\0");
    head.writeInt32BE(4 + fields.length, 1);
    const full = createServer((client) => client.once("data", () => client.end(Buffer.concat([head, fields]))));
    context.onTestFinished(() => void full.close());
    const port = await freePort();
    await once(full.listen(port, "127.0.0.1"), "listening");
    const there = `postgres://keyplane@127.0.0.1:${port}/keyplane?sslmode=disable`;
    expect(await wrong(there)).toEqual([
      expect.stringMatching(
        /^database-connection: .*could not write file: make room there: what PostgreSQL's own log names/,
      ),
    ]);
  });

  test("finds what cannot be reached, takes no writes or lets no user in, and shows no password", async () => {
    const port = await freePort();
    const readOnly = "?options=-c%20default_transaction_read_only%3Don";
    const cases: readonly (readonly [string, RegExp])[] = [
      [changed((other) => Object.assign(other, { search: readOnly })), /is read-only.*: once writes may go on, run/],
      [changed((other) => Object.assign(other, { port: String(port) })), /ECONNREFUSED.*: start PostgreSQL there/],
      [changed((other) => Object.assign(other, { pathname: "/nowhere" })), /"nowhere" does not exist: create that/],
      [changed((other) => Object.assign(other, { hostname: "nowhere.invalid" })), /: see the host's name in the URL/],
    ];
    for (const [database, what] of cases) {
      const { code, out } = await keyplane(["doctor", "--database-url", database, "-o", "json"]);
      const { findings }: { findings: Finding[] } = JSON.parse(out);
      expect([code, findings.map(inLine)]).toEqual([1, [expect.stringMatching(what)]]);
      expect(findings[0]).toMatchObject({ name: "database-connection", severity: "error" });
      expect(out).not.toContain(new URL(url).password);
    }
  });
});
