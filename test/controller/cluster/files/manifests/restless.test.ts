/** A folder in which something is written again and again: what is removed all the same, and what is said instead. */
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createQuietPeriod } from "../../../../../controller/cluster/files/manifests/quiet-period.ts";
import { until } from "../../../../env/until.ts";
import { key, makeWorkspace } from "../harness.ts";

describe.concurrent("c49: a declaration whose file was deleted", () => {
  test.for(["by a rename", "in place"])(
    "ends while a program writes another one as it is, %s",
    async (how, context) => {
      const folder = await makeWorkspace(context, { "a.yaml": [key("one")], "busy.yaml": [key("busy")] });
      const cluster = await folder.open();
      const path = join(folder.manifests, "busy.yaml");
      let writing = Promise.resolve();
      const writer = setInterval(() => {
        writing = writing.then(async () => {
          if (how === "in place") return writeFile(path, key("busy"));
          await writeFile(`${path}.part`, key("busy"));
          await rename(`${path}.part`, path);
        });
      }, 500);
      context.onTestFinished(() => clearInterval(writer));
      await folder.remove("a.yaml");
      await until("its end", () => cluster.get("PlatformKey", "dev", "one") === undefined, { timeoutMs: 15_000 });
      clearInterval(writer);
      await writing;
      expect(cluster.get("PlatformKey", "dev", "busy")).toMatchObject({ generation: 1, deleting: false });
    },
  );

  test("does not end while another one changes all the time, and that is said, with the way on", async (context) => {
    const folder = await makeWorkspace(context, { "a.yaml": [key("one")], "busy.yaml": [key("busy")] }, 1_000);
    const cluster = await folder.open();
    await folder.remove("a.yaml");
    for (let i = 0; i < 27; i++) {
      const preset = i % 2 === 0 ? "MCPReadWrite" : "MCPReadOnly";
      await folder.write("busy.yaml", key("busy", `preset: ${preset}`));
      await until("it is read", () => cluster.get("PlatformKey", "dev", "busy")?.spec.preset === preset);
      folder.pass(1_200);
    }
    const why = "busy.yaml changes all the time";
    expect(cluster.get("PlatformKey", "dev", "one")).toMatchObject({ deleting: false });
    expect(cluster.said(why)).toHaveLength(1);
    expect(cluster.said(why)[0]).toContain("1 declaration is gone from the manifests (PlatformKey dev/one)");
    expect(await folder.held()).toMatchObject([{ name: "one", why: expect.stringContaining("`state: Revoked`") }]);
    folder.pass(2_000);
    await until("its end", () => cluster.get("PlatformKey", "dev", "one") === undefined);
    await until("nothing is held", async () => (await folder.held()).length === 0);
  });
});

test("a file that is written all the time does not count, which is said, and holds up no start", async (context) => {
  const folder = await makeWorkspace(context, { "a.yaml": [key("one")] });
  const writer = setInterval(() => void writeFile(join(folder.manifests, "busy.yaml"), key("busy")), 20);
  context.onTestFinished(() => clearInterval(writer));
  const passing = setInterval(() => folder.pass(1_000), 100);
  context.onTestFinished(() => clearInterval(passing));
  const cluster = await folder.open();
  expect(cluster.get("PlatformKey", "dev", "one")).toBeDefined();
  await until(
    "it is said",
    () => cluster.said("busy.yaml changes all the time: what is written there counts").length > 0,
  );
  clearInterval(writer);
  await until("it counts", () => cluster.get("PlatformKey", "dev", "busy"));
});

describe("a folder of manifests", () => {
  const make = () => {
    let ms = 0;
    const noteRest = createQuietPeriod({ monotonic: () => ms });
    const note = (changed: readonly string[] = [], pending: readonly string[] = []) => noteRest({ changed, pending });
    return {
      note,
      pass(by: number) {
        ms += by;
      },
    };
  };

  test("is as it is since something in it last changed", () => {
    const { note, pass } = make();
    pass(5_000);
    expect(note(["a"])).toEqual({ unchangedForMs: 0, restless: [] });
    pass(1_500);
    expect(note()).toMatchObject({ unchangedForMs: 1_500 });
    expect(note([], ["b"])).toMatchObject({ unchangedForMs: 1_500 });
    expect(note(["a"])).toMatchObject({ unchangedForMs: 0 });
  });

  test("is restless after 30 s in which it was never still when it was looked at, and no longer once it was", () => {
    const { note, pass } = make();
    for (let i = 0; i < 31; i++) {
      if (i > 0) pass(999);
      expect(note(i % 2 ? ["a"] : [], i % 2 ? [] : ["b"]).restless).toEqual([]);
    }
    pass(30);
    expect(note(["c"]).restless).toEqual(["a", "b"]);
    pass(1_999);
    expect(note().restless).toEqual(["a", "b"]);
    pass(1);
    expect(note().restless).toEqual([]);
    expect(note(["a"]).restless).toEqual([]);
  });

  test("is not restless for having changed at each of a few looks that were far apart", () => {
    const { note, pass } = make();
    for (let i = 0; i < 8; i++) {
      expect(note(["a"]).restless).toEqual([]);
      pass(30_000);
    }
  });
});
