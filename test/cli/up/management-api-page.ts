/** The requests of docs/reference/management-api.md as a reader pastes them: it takes bash, curl and sed. */
import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { read } from "../../architecture/sources.ts";
import type { Installation } from "../up.ts";

const run = promisify(execFile);
const PLACEHOLDERS = { "<64 hex digits>": "5".repeat(64), "<the first 12 characters>": "inf_01234567" };

/** Each request says its status, and leaves for those that follow which object it was about. */
const CURL = `
curl() {
  head=$(command curl -sS -o /dev/null -D - "$@" | tr -d '\\r')
  printf '%s\\n' "$head" | sed -n 's:^HTTP/1.1 ::p'
  id=$(printf '%s\\n' "$head" | sed -n 's:^location\\: .*/::p'); ID=\${id:-$ID}
  etag=$(printf '%s\\n' "$head" | sed -n 's:^etag\\: ::p'); ETAG=\${etag:-$ETAG}
}`;

export function testManagementApiPage({ home, up: running }: Installation): void {
  test("docs/reference/management-api.md shows requests that work one after the other, with `keyplane up` where there is no such team", async () => {
    const up = running();
    const shown = [...read("docs/reference/management-api.md").matchAll(/```sh\n([\s\S]*?)```/g)]
      .map(([, text = ""]) => text)
      .join("\n");
    const given = { ...PLACEHOLDERS, "http://127.0.0.1:8080": up.url };
    const commands = Object.entries(given).reduce((text, [from, to]) => text.replaceAll(from, to), shown);
    const { stdout } = await run("bash", ["-c", `${CURL}\n${commands}`], {
      cwd: dirname(home.data),
      env: { PATH: process.env.PATH },
    });
    const statuses = stdout.trim().split("\n").map(Number.parseFloat);
    expect(statuses).toEqual([200, 201, 201, 201, 201, 201, 200, 200]);
    expect(statuses.length).toBe(commands.match(/^curl /gm)?.length);
  });
}
