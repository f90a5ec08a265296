/** The requests and commands of docs/operations/leaks.md as a reader pastes them: it takes bash and curl. */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { ROOT, read } from "../../architecture/sources.ts";
import { blocksIn } from "../../env/blocks.ts";
import { COMPILE_CACHE } from "../../env/compile-cache.ts";
import { type Installation, key, team, tokenOf } from "../up.ts";

const PROGRAMS = `
curl() { command curl -sS -o /dev/null -w '%{http_code}\\n' "$@"; }
keyplane() { '${process.execPath}' '${join(ROOT, "cli/main.ts")}' "$@"; }
`;

export function testLeaksPage({ home, up: running }: Installation): void {
  test("docs/operations/leaks.md shows reports that are taken, and searches that find nothing where nothing is", async () => {
    const folder = mkdtempSync(join(tmpdir(), "keyplane-leaks-"));
    home.write("leaks.yaml", team("leaks", "leaks") + key("agent", "preset: MCPReadWrite", "leaks"));
    const up = running();
    try {
      await up.waitFor("leaks", "agent", "Ready");
      const secret = up.secretOf("leaks", "agent");
      for (const name of ["src", "logs"]) mkdirSync(join(folder, name));
      writeFileSync(join(folder, "token"), tokenOf(home));
      writeFileSync(join(folder, "header"), `Authorization: Bearer ${tokenOf(home)}`);
      const shown = blocksIn(read("docs/operations/leaks.md")).filter(({ language }) => language === "sh");
      const given = {
        "inf_...": secret,
        "<64 hex digits>": createHash("sha256").update(secret).digest("hex"),
        "https://keys.example.com": up.url,
      };
      const commands = Object.entries(given).reduce(
        (text, [from, to]) => text.replaceAll(from, to),
        shown.map(({ text }) => text).join(""),
      );
      const { stdout } = await promisify(execFile)("bash", ["-euc", PROGRAMS + commands], {
        cwd: folder,
        env: { PATH: process.env.PATH, ...COMPILE_CACHE, AUTH: "@header", API: `${up.url}/api/v1` },
      });
      expect(stdout.split("\n").slice(0, 3)).toEqual(["200", "202", expect.stringMatching(/^0 keys/)]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
}
