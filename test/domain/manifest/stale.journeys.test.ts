import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { FOLDERS } from "../../architecture/sources.ts";

const ROOT = join(import.meta.dirname, "../../..");
const run = promisify(execFile);

test("what comes from crds/ is known to be stale after a change of a schema", async () => {
  const copy = mkdtempSync(join(tmpdir(), "keyplane-generate-"));
  try {
    for (const folder of [
      ...FOLDERS.filter((folder) => folder !== "infra"),
      ...["crds", "docs/reference", "infra/rbac", "scripts"],
      "test/domain",
      "test/mistakes",
    ]) {
      cpSync(join(ROOT, folder), join(copy, folder), { recursive: true });
    }
    cpSync(join(ROOT, "package.json"), join(copy, "package.json"));
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
    const file = join(copy, "crds/memorylibraries.yaml");
    writeFileSync(file, readFileSync(file, "utf8").replace("enum: [Retain, Delete]", "enum: [Retain, Delete, Keep]"));
    const outcome = await run(process.execPath, ["scripts/generate.ts", "--check"], { cwd: copy }).catch(
      (error) => error,
    );
    expect(outcome).toMatchObject({ code: 1 });
    expect(outcome.stderr).toContain("domain/kinds/generated/memory-library.ts is stale");
  } finally {
    rmSync(copy, { recursive: true });
  }
});
