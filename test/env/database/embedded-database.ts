import { createHash } from "node:crypto";
import { cpSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { sql } from "kysely";
import { migrate } from "../../../store/database/migrate/migrate.ts";
import { openPGlite } from "../../../store/database/pglite/pglite.ts";
import type { EmbeddedStore, Store } from "../../../store/database/store.ts";
import { makeDatabaseFolder } from "./database-folder.ts";
import { fillOnce } from "./fill-once.ts";

const ROOT = join(import.meta.dirname, "../../..");
const MIGRATIONS = "store/migrations";
/** What the bytes of a fresh database depend on, beside the migrations. */
const MADE_BY = [
  "node_modules/@electric-sql/pglite/package.json",
  "store/database/migrate/large-indexes.ts",
  "store/database/migrate/migrate.ts",
  "store/database/pglite/pglite.ts",
  "store/database/pglite/pglite-thread.ts",
  "store/database/migrate/vector-table.ts",
  "test/env/database/embedded-database.ts",
];

/**
 * A fresh embedded database of the present schema, which is gone once it is closed. To make one takes seconds of the
 * processor, so that it is a copy of one that was made before: what a first start does is tested by `openPGlite` itself.
 */
export function openEmbedded(): Promise<EmbeddedStore> {
  return openCopy("db");
}

/** The same without a schema. */
export function openEmptyEmbedded(): Promise<EmbeddedStore> {
  return openCopy("empty");
}

async function openCopy(of: "db" | "empty"): Promise<EmbeddedStore> {
  await keepCompiled();
  const folder = makeDatabaseFolder("keyplane-embedded-");
  await copy(of, join(folder, "db"));
  const store = await openPGlite(join(folder, "db"));
  return {
    ...store,
    async close() {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Node has it, and the types that this repository compiles with do not. */
declare const WebAssembly: { compile(bytes: Uint8Array): Promise<object> };

let compiled: Promise<object> | undefined;
/** Keeps what V8 has compiled of PGlite: as long as it is held, no thread of this process compiles it anew. */
export async function keepCompiled(): Promise<void> {
  const folder = dirname(createRequire(import.meta.url).resolve("@electric-sql/pglite"));
  compiled ??= readFile(join(folder, "pglite.wasm")).then((bytes) => WebAssembly.compile(bytes));
  await compiled;
}

/** Makes a folder that is such a database: `db` of a data folder spares `keyplane up` what its first start takes longest for. */
export async function copyEmbedded(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  await copy("db", folder);
}

async function copy(of: "db" | "empty", folder: string): Promise<void> {
  // At once: of many small files, what the promises of `cp` take of the processor is more than the copying.
  cpSync(join(await templates(), of), folder, { recursive: true });
}

/** The folder of both: `empty` without a schema, and `db` with the present one. */
async function templates(): Promise<string> {
  const migrations = (await readdir(join(ROOT, MIGRATIONS))).sort().map((name) => join(MIGRATIONS, name));
  const hash = createHash("sha256");
  for (const file of [...MADE_BY, ...migrations]) hash.update(await readFile(join(ROOT, file)));
  const cache = join(ROOT, "node_modules/.cache/keyplane", `database-${hash.digest("hex").slice(0, 16)}`);
  await fillOnce(cache, async (unfinished) => {
    await withStore(join(unfinished, "empty"), dropUnused);
    cpSync(join(unfinished, "empty"), join(unfinished, "db"), { recursive: true });
    await withStore(join(unfinished, "db"), migrate);
  });
  return cache;
}

/** PostgreSQL makes other databases from these two. They are half of the files to copy, and nothing here reads them. */
async function dropUnused({ db }: Store): Promise<void> {
  for (const name of ["template1", "template0"]) {
    await sql`alter database ${sql.id(name)} is_template false`.execute(db);
    await sql`drop database ${sql.id(name)}`.execute(db);
  }
}

async function withStore(folder: string, body: (store: Store) => Promise<unknown>): Promise<void> {
  const store = await openPGlite(folder);
  try {
    await body(store);
  } finally {
    await store.close();
  }
}
