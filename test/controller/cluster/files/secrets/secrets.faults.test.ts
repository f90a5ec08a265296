import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { NIGHTLY } from "../../../../env/nightly.ts";
import { until } from "../../../../env/until.ts";
import { kill, startChild } from "../child.ts";
import { makeWorkspace } from "../harness.ts";

/** How often it is killed: after ten looks, and up to sixty. */
const ROUNDS = NIGHTLY ? 25 : 3;

it("a Secret in DATA is whole after kill -9 at any moment of a replacement: one value, in all of its data keys", async (context) => {
  const folder = await makeWorkspace(context);
  for (let round = 0; round < ROUNDS; round++) {
    const writer = await startChild("secrets/secret-writer.ts", folder.data, "writing");
    const wholeValue = async (file: string) => {
      const value = await readFile(join(folder.data, "secrets/dev/written", file), "utf8");
      expect([value.length, new Set(value).size]).toEqual([200_000, 1]);
      return value.charAt(0);
    };
    const first = await wholeValue("api-key");
    await until("it is at work", async () => (await wholeValue("api-key")) !== first);
    for (let i = 0; i < 10 + (round * 50) / (ROUNDS - 1); i++) await wholeValue("api-key");
    await kill(writer);
    const cluster = await folder.open();
    expect(await wholeValue("api-key")).toBe(await wholeValue("mcp.json"));
    const left = await cluster.readSecret("dev", "written");
    expect(left?.owner).toEqual({
      apiVersion: "keyplane.dev/v1beta1",
      uid: "owner-1",
      name: "written",
      byReference: true,
    });
    expect(left?.data["api-key"]).toBe(left?.data["mcp.json"]);
    expect(await readdir(join(folder.data, "secrets/.staging"))).toEqual([]);
    expect(await readdir(join(folder.data, "secrets/.committed"))).toEqual([]);
    await cluster.close();
  }
});
