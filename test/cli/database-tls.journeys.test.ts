/** How each command asks a PostgreSQL on another machine. */
import { randomBytes } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Finding } from "../../cli/doctor/finding.ts";
import { makeCertificate } from "../env/certificate.ts";
import { freshDatabase } from "../env/database/engines.ts";
import { NAMED_LOOPBACK, startTlsPostgres, type TlsPostgresServer } from "../env/database/tls-postgres.ts";
import { startServing } from "../env/serving.ts";
import { until } from "../env/until.ts";
import { keyplane, keyplaneProcess } from "./up.ts";

const ENCRYPTION_KEY = randomBytes(32).toString("base64");

describe("b112: a PostgreSQL that is not on this machine", () => {
  let postgres: TlsPostgresServer;
  beforeAll(async () => {
    postgres = await startTlsPostgres();
  });
  afterAll(() => postgres?.stop());

  const withCa = () => ({ KEYPLANE_DATABASE_URL: postgres.namedUrl, KEYPLANE_DATABASE_CA_FILE: postgres.caFile });
  /** Of every connection but the one that asks: whose it is, and whether it is encrypted. */
  async function connections(): Promise<readonly { name: string; ssl: boolean }[]> {
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    const { rows } = await client.query(
      `select application_name as name, ssl from pg_stat_activity join pg_stat_ssl using (pid)
       where backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    await client.end();
    return rows;
  }
  /** What doctor says of the way to the database. */
  async function encryption(url: string, env: Record<string, string> = {}) {
    const { out } = await keyplane(["doctor", "--database-url", url, "-o", "json"], env);
    const { findings }: { findings: Finding[] } = JSON.parse(out);
    return findings.find(({ name }) => name === "database-encryption");
  }

  test("is asked over TLS by every connection of a server and its threads, and of migrate and doctor", async (context) => {
    expect(await keyplane(["migrate"], withCa())).toMatchObject({ code: 0, err: "" });
    const env = { ...withCa(), KEYPLANE_ENCRYPTION_KEY: ENCRYPTION_KEY };
    const server = await startServing(["server", "--port", "0", "--admin-port", "0", "--workers", "2"], env);
    context.onTestFinished(async () => void (await server.stop()));
    const seen = await until("the pool, the feed and the listener are connected", async () => {
      const all = await connections();
      return all.length >= 3 ? all : undefined;
    });
    expect(seen.filter(({ ssl }) => !ssl)).toEqual([]);
    expect(await encryption(postgres.namedUrl, withCa())).toMatchObject({
      severity: "ok",
      message: `connections are encrypted (TLSv1.3), and the certificate is verified against ${postgres.caFile}`,
    });
  });

  test("whose certificate no known authority has made is not asked, and the line says how to name one", async () => {
    const { code, err } = await keyplane(["migrate", "--database-url", postgres.namedUrl]);
    expect([code, err]).toEqual([1, expect.stringMatching(/^keyplane: --database-url: .*: .*--database-ca-file FILE/)]);
    expect(err).not.toContain("postgres:postgres");
  });

  test("is not asked with an empty file of authorities, though Node trusts the one that made its certificate", async () => {
    const empty = `${postgres.caFile}.empty`;
    await writeFile(empty, "");
    const env = { KEYPLANE_DATABASE_URL: postgres.namedUrl, NODE_EXTRA_CA_CERTS: postgres.caFile };
    expect(await keyplaneProcess(["migrate"], env)).toMatchObject({ code: 0 });
    const { code, err } = await keyplaneProcess(["migrate", "--database-ca-file", empty], env);
    expect([code, err]).toEqual([2, expect.stringContaining(`${empty}: there is no certificate in it`)]);
  });

  test("that has no TLS is asked where the URL says sslmode=disable alone, which doctor notes", async (context) => {
    const { url, drop } = await freshDatabase();
    context.onTestFinished(drop);
    const named = url.replace("127.0.0.1", NAMED_LOOPBACK);
    const { code, err } = await keyplane(["migrate", "--database-url", named]);
    expect([code, err]).toEqual([1, expect.stringMatching(/does not support SSL.*add sslmode=disable to the URL/)]);
    const disabled = `${named}?sslmode=disable`;
    expect(await keyplane(["migrate", "--database-url", disabled])).toMatchObject({ code: 0, err: "" });
    expect(await encryption(disabled)).toMatchObject({ severity: "note" });
    expect(await encryption(url)).toMatchObject({ severity: "ok", message: "connections do not leave this machine" });
  });

  test("is verified by sslmode=require as well, and not asked by prefer", async () => {
    const required = `${postgres.namedUrl}?sslmode=require`;
    expect(await keyplane(["migrate", "--database-url", required], withCa())).toMatchObject({ code: 0, err: "" });
    const { code, err } = await keyplane(["migrate", "--database-url", `${postgres.namedUrl}?sslmode=prefer`]);
    expect([code, err]).toEqual([2, expect.stringMatching(/^keyplane: --database-url.*prefer, allow and no-verify/)]);
  });

  // Last, since the server has another certificate from then on.
  test("whose certificate is another host's is not asked, and libpq's weaker modes are taken where they are asked for", async () => {
    const { cert, key } = makeCertificate(undefined, "db.example.com");
    for (const file of [postgres.caFile, join(postgres.dataFolder, "server.crt")]) await writeFile(file, cert);
    await writeFile(join(postgres.dataFolder, "server.key"), key);
    const client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    await client.query("select pg_reload_conf()");
    await client.end();
    await until("it has the other certificate", async () => {
      const { code, err } = await keyplane(["migrate"], withCa());
      return code === 1 && err.includes("name the host in the URL as");
    });
    const weaker = `${postgres.namedUrl}?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${postgres.caFile}`;
    expect(await keyplane(["migrate", "--database-url", weaker])).toMatchObject({ code: 0, err: "" });
    expect(await encryption(weaker)).toMatchObject({ severity: "note", message: expect.stringContaining("TLSv1.3") });
  });
});
