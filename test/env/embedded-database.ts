import { createHash } from "node:crypto";
import { cpSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { migrate } from "../../store/database/migrate.ts";
import { openPGlite } from "../../store/database/pglite.ts";
import type { EmbeddedStore } from "../../store/database/store.ts";
import { fillOnce } from "./fill-once.ts";

const ROOT = join(import.meta.dirname, "../..");
const MIGRATIONS = "store/migrations";
/** What the bytes of a fresh database depend on, beside the migrations. */
const MADE_BY = [
  "node_modules/@electric-sql/pglite/package.json",
  "store/database/migrate.ts",
  "store/database/pglite.ts",
  "store/database/pglite-thread.ts",
];

/**
 * A fresh embedded database of the present schema, which is gone once it is closed. To make one takes seconds of the
 * processor, so that it is a copy of one that was made before: what a first start does is tested by `openPGlite` itself.
 */
export async function openEmbedded(): Promise<EmbeddedStore> {
  const folder = await mkdtemp(join(tmpdir(), "keyplane-embedded-"));
  await copyEmbedded(join(folder, "db"));
  const store = await openPGlite(join(folder, "db"));
  return {
    ...store,
    async close() {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Makes a folder that is such a database: `db` of a data folder spares `keyplane up` what its first start takes longest for. */
export async function copyEmbedded(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true, mode: 0o700 });
  // At once: of a thousand files, what the promises of `cp` take of the processor is more than the copying.
  cpSync(join(await template(), "db"), folder, { recursive: true });
}

async function template(): Promise<string> {
  const migrations = (await readdir(join(ROOT, MIGRATIONS))).sort().map((name) => join(MIGRATIONS, name));
  const hash = createHash("sha256");
  for (const file of [...MADE_BY, ...migrations]) hash.update(await readFile(join(ROOT, file)));
  const cache = join(ROOT, "node_modules/.cache/keyplane", `database-${hash.digest("hex").slice(0, 16)}`);
  await fillOnce(cache, async (unfinished) => {
    const store = await openPGlite(join(unfinished, "db"));
    try {
      await migrate(store);
    } finally {
      await store.close();
    }
  });
  return cache;
}
