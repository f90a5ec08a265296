import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { keyplane } from "./up.ts";

const team = { team: "t", teamId: "team_t" };
const key = { id: "key_1", name: "reader", namespace: "", ...team, prefix: "inf_abcdefgh", state: "active" };
let metadata: { namespace: string; name: string };
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://localhost");
  const asked = searchParams.get("team");
  response.setHeader("content-type", "application/json");
  response.end(
    JSON.stringify(
      pathname.endsWith("/manifest")
        ? { metadata }
        : {
            items: [
              { ...key, declaredIn: null, managedBy: null },
              { ...key, id: "key_2", namespace: "dev", name: "agent", declaredIn: {}, managedBy: null },
              { ...key, id: "key_3", team: "u", teamId: "team_u", declaredIn: null, managedBy: null },
            ].filter((one) => asked === null || [one.team, one.teamId].includes(asked)),
            nextCursor: null,
          },
    ),
  );
});
let folder: string;
let url: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "keyplane-import-"));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

test("keyplane import takes no empty path, as of a variable that is not set, for a folder", async () => {
  metadata = { namespace: "dev", name: "reader" };
  const { code, out, err } = await keyplane(["import", "", "--server", url], { KEYPLANE_TOKEN: "t" });
  expect([code, out, err]).toEqual([2, "", expect.stringMatching(/^keyplane: import: name a folder/)]);
});

test.each([
  ["import", "--namespace", ""],
  ["export", "key_1", "--namespace", ""],
  ["can-i", "memory:read", "--as-key", "key_1", "--library", ""],
  ["advise", "--team", ""],
  ["events", "-n", ""],
])("keyplane %s %s %s %s %s takes no empty text, as of a variable that is not set, for left out", async (...args) => {
  const { code, out, err } = await keyplane([...args, "--server", url], { KEYPLANE_TOKEN: "t" });
  const flag = args.at(-2)?.replace(/^-n$/, "--namespace");
  expect([code, out, err]).toEqual([2, "", `keyplane: ${flag}: it is empty: give a value, or leave it out\n`]);
});

test.each(["u", "team_u"])("keyplane import takes the keys of a team, by its name or its id: %s", async (named) => {
  metadata = { namespace: "dev", name: "reader" };
  const { code, out } = await keyplane(["import", "--team", named, "--server", url], { KEYPLANE_TOKEN: "t" });
  expect([code, out]).toEqual([0, expect.stringMatching(/reader of team u .*\n1 of 1 keys/)]);
});

test("keyplane import says of a manifest that another key is declared by its name", async () => {
  metadata = { namespace: "dev", name: "agent" };
  const { code, out } = await keyplane(["import", "--server", url], { KEYPLANE_TOKEN: "t" });
  expect(code).toBe(0);
  expect(out).toContain("another key is declared by this name: give it another metadata.name\n");
  metadata = { namespace: "dev", name: "reader" };
  expect((await keyplane(["import", "--server", url], { KEYPLANE_TOKEN: "t" })).out).not.toContain("metadata.name");
});

test.each([
  { namespace: "..", name: "evil" },
  { namespace: "dev", name: "../../evil" },
  { namespace: "/etc", name: "evil" },
])(
  "keyplane import writes nothing outside its folder, whatever a server calls a key: $namespace $name",
  async (named) => {
    metadata = named;
    const dir = join(folder, "imported");
    const { code, out } = await keyplane(["import", dir, "--server", url], { KEYPLANE_TOKEN: "t" });
    expect([code, out]).toEqual([1, expect.stringContaining("left out reader of team t")]);
    expect([readdirSync(folder), existsSync(join(folder, "../evil.yaml"))]).toEqual([[], false]);
  },
);
