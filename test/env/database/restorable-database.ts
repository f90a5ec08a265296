import pg from "pg";
import type { TestContext } from "vitest";
import { freshDatabase } from "./engines.ts";

/** A database that can be copied, and put back as it was, while others use it. */
export async function restorableDatabase(context: TestContext) {
  const { url, drop } = await freshDatabase();
  const name = new URL(url).pathname.slice(1);
  const backup = `${name}_backup`;
  async function alone(...statements: string[]): Promise<void> {
    const admin = new URL(url);
    admin.pathname = "/postgres";
    const client = new pg.Client({ connectionString: admin.href });
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }
  const close = [
    `alter database ${name} allow_connections false`,
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${name}'`,
  ];
  context.onTestFinished(async () => {
    await alone(`drop database if exists ${backup}`);
    await drop();
  });
  return {
    url,
    save: () =>
      alone(...close, `create database ${backup} template ${name}`, `alter database ${name} allow_connections true`),
    restore: () => alone(...close, `drop database ${name} with (force)`, `create database ${name} template ${backup}`),
  };
}
