import pg from "pg";
import { describe, expect, test } from "vitest";
import { SCHEMA_VERSION } from "../../store/database/migrate/migrate.ts";
import { freshDatabase, migratedDatabase } from "../env/database/engines.ts";
import { keyplane } from "./up.ts";

describe("c47: keyplane migrate", () => {
  test("shows what it would do, does it, and answers from which version to which", async (context) => {
    const { url, drop } = await freshDatabase();
    context.onTestFinished(drop);
    const args = ["migrate", "--database-url", url];
    const dry = await keyplane([...args, "--dry-run"]);
    expect(dry.out).toMatch(/^\d{3}-schema\n(\d{3}-[a-z-]+\n)*0 -> \d+, \d+ to apply\n$/);
    const done = await keyplane(args);
    expect(done).toMatchObject({ code: 0, err: "" });
    expect(done.out).toMatch(/^\d{3}-schema applied in [\d.]+ s\n/);
    expect(done.out).toContain(`\n0 -> ${SCHEMA_VERSION}, `);
    const again = await keyplane([...args, "-o", "json"]);
    expect(JSON.parse(again.out)).toEqual({ dryRun: false, from: SCHEMA_VERSION, to: SCHEMA_VERSION, migrations: [] });
  });

  test("of a version that is gone back to says that it leaves the newer schema as it is, and ends well", async (context) => {
    const { url, drop } = await migratedDatabase();
    context.onTestFinished(drop);
    const newer = SCHEMA_VERSION + 1;
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query("insert into schema_migrations (version, name) values ($1, 'later')", [newer]);
    await client.end();
    const line = `: the schema is one version newer than this keyplane's ${SCHEMA_VERSION}, which works with it\n`;
    const args = ["migrate", "--database-url", url];
    expect(await keyplane(args)).toEqual({ code: 0, err: "", out: `${newer} -> ${newer}, 0 applied${line}` });
    expect((await keyplane([...args, "--dry-run"])).out).toBe(`${newer} -> ${newer}, 0 to apply${line}`);
  });

  test("that is blocked to its end exits with 1 and one line that names who is in its way", async (context) => {
    const { url, drop } = await freshDatabase();
    const blocker = new pg.Client({ connectionString: url, application_name: "nightly report" });
    await blocker.connect();
    context.onTestFinished(async () => {
      await blocker.end();
      await drop();
    });
    await blocker.query("create table schema_migrations (version integer, name text)");
    await blocker.query("begin; lock schema_migrations");
    const { code, err } = await keyplane(["migrate", "--database-url", url, "--timeout", "100ms"]);
    expect(code).toBe(1);
    expect(err).toMatch(/^keyplane: gave up after 0.1 s: .*"nightly report".*run keyplane migrate again\.\n$/);
    expect((await keyplane(["migrate", "--database-url", url, "--timeout", "soon"])).code).toBe(2);
  });
});
