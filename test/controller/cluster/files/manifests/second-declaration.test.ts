/** Two declarations of one object: the one that governs goes on, whatever its file is called and whatever comes. */
import { mkdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chooseGoverning } from "../../../../../controller/cluster/files/manifests/governing.ts";
import { until } from "../../../../env/until.ts";
import { key, makeWorkspace, type OpenCluster, secret, type Workspace } from "../harness.ts";

const REVOKED = "preset: MCPReadOnly\n  state: Revoked";
const stateOf = (cluster: OpenCluster) => cluster.get("PlatformKey", "dev", "agent")?.spec.state;

describe.concurrent("c55: a second declaration", () => {
  test.for(["a.yaml", "z.yaml"])(
    "in a file that comes later, %s, never takes over from the one that governs",
    async (file, context) => {
      const folder = await makeWorkspace(context, { "m.yaml": [key("agent")] });
      const first = await folder.open();
      await folder.write(file, key("agent", REVOKED));
      await until("it is said", () => first.said(`${file}:3`).length > 0);
      expect(first.said(`${file}:3`)[0]).toContain(`is declared at ${join(folder.manifests, "m.yaml")}:3 already`);
      expect(stateOf(first)).toBe("Active");
      await folder.write("m.yaml", key("agent", "preset: MCPReadWrite"));
      await until(
        "what governs is followed",
        () => first.get("PlatformKey", "dev", "agent")?.spec.preset === "MCPReadWrite",
      );
      await first.close();

      const again = await folder.open();
      expect(again.said(`${file}:3`)).toHaveLength(1);
      expect(again.get("PlatformKey", "dev", "agent")?.spec).toMatchObject({ preset: "MCPReadWrite", state: "Active" });
    },
  );

  test("in a file that came while nothing ran never takes over, though the one that governs was changed as well", async (context) => {
    const folder = await makeWorkspace(context, { "m.yaml": [key("agent")] });
    await (await folder.open()).close();
    await folder.write("a.yaml", key("agent", REVOKED));
    await folder.write("m.yaml", key("agent", "preset: MCPReadWrite"));
    const cluster = await folder.open();
    expect(cluster.get("PlatformKey", "dev", "agent")?.spec).toMatchObject({ preset: "MCPReadWrite", state: "Active" });
    expect(cluster.said("a.yaml:3")).toHaveLength(1);
  });

  test("above the one that governs in the same file never takes over, also across a restart", async (context) => {
    const folder = await makeWorkspace(context, { "m.yaml": [key("agent")] });
    const first = await folder.open();
    await folder.write("m.yaml", key("agent", REVOKED), key("agent"));
    await until("it is said", () => first.said("already: remove one").length > 0);
    expect(stateOf(first)).toBe("Active");
    await first.close();
    const again = await folder.open();
    expect(stateOf(again)).toBe("Active");
    // Which of the two was there before is no longer known: it stays as it is.
    await folder.write("m.yaml", key("agent", REVOKED), key("agent", "preset: MCPReadWrite"), key("marker"));
    await until("a look", () => again.get("PlatformKey", "dev", "marker"));
    expect(again.get("PlatformKey", "dev", "agent")?.spec).toMatchObject({ preset: "MCPReadOnly", state: "Active" });
    await until("it is held", async () => (await folder.held()).some(({ name }) => name === "agent"));
  });

  test("never takes over while the one that governs cannot be seen: its file is empty, then broken, then there again", async (context) => {
    const folder = await makeWorkspace(context, { "m.yaml": [key("agent")], "other.yaml": [key("other")] });
    const cluster = await folder.open();
    await folder.write("z.yaml", key("agent", REVOKED));
    await until("it is said", () => cluster.said("z.yaml:3").length > 0);
    for (const [text, says] of [
      ["", "m.yaml is empty"],
      ["[", "m.yaml:1 may hide them"],
    ] as const) {
      await folder.writeInto("m.yaml", text);
      await until("it is held", () => cluster.said(says).length > 0);
      folder.pass(3_600_000);
      await folder.write("other.yaml", key("other"), key(`marker-${text.length}`));
      await until("a look", () => cluster.get("PlatformKey", "dev", `marker-${text.length}`));
      folder.pass(3_600_000);
      expect(stateOf(cluster)).toBe("Active");
    }
    await folder.writeInto("m.yaml", key("agent", "preset: MCPReadWrite"));
    await until("it is back", () => cluster.get("PlatformKey", "dev", "agent")?.spec.preset === "MCPReadWrite");
  });

  test("takes over once the one that governed was taken away", async (context) => {
    const folder = await makeWorkspace(context, { "m.yaml": [key("agent")], "other.yaml": [key("other")] });
    const cluster = await folder.open();
    const uid = cluster.get("PlatformKey", "dev", "agent")?.uid;
    await folder.write("a.yaml", key("agent", "preset: MCPReadWrite"));
    await until("it is said", () => cluster.said("a.yaml:3").length > 0);
    await rename(join(folder.manifests, "m.yaml"), join(folder.manifests, "m.yaml.off"));
    await until("it counts", () => cluster.get("PlatformKey", "dev", "agent")?.spec.preset === "MCPReadWrite");
    expect(cluster.get("PlatformKey", "dev", "agent")).toMatchObject({ uid, deleting: false });
  });

  const RENAMES: readonly [string, (folder: Workspace) => Promise<void>][] = [
    ["its folder renamed", ({ manifests }) => rename(join(manifests, "sub"), join(manifests, "next"))],
    [
      "both files moved to another folder",
      async ({ manifests }) => {
        await mkdir(join(manifests, "below"));
        for (const file of ["a.yaml", "z.yaml"])
          await rename(join(manifests, "sub", file), join(manifests, "below", file));
      },
    ],
    [
      "its folder renamed, and itself changed",
      async ({ manifests, write }) => {
        await rename(join(manifests, "sub"), join(manifests, "next"));
        await write("next/z.yaml", key("agent", "preset: MCPReadWrite"));
      },
    ],
  ];
  describe.each(RENAMES)("never takes over by a rename: %s,", (how, move) => {
    test.for(["running", "ended"])("of a process that is %s", async (process, context) => {
      const folder = await makeWorkspace(context, { "sub/z.yaml": [key("agent")], "other.yaml": [key("other")] });
      const first = await folder.open();
      await folder.write("sub/a.yaml", key("agent", REVOKED));
      await until("it is said", () => first.said("a.yaml:3").length > 0);
      if (process === "ended") await first.close();
      await move(folder);
      const cluster = process === "ended" ? await folder.open() : first;
      await until("it is said where it is now", () => {
        folder.pass(2_000);
        return cluster.said("next/a.yaml:3").concat(cluster.said("below/a.yaml:3")).length > 0;
      });
      folder.pass(3_600_000);
      await folder.write("other.yaml", key("other"), key("marker"));
      await until("a look", () => cluster.get("PlatformKey", "dev", "marker"));
      folder.pass(3_600_000);
      await folder.remove("other.yaml");
      await until("another look", () => {
        folder.pass(30_000);
        return cluster.get("PlatformKey", "dev", "marker") === undefined;
      });
      const preset = how.endsWith("changed") ? "MCPReadWrite" : "MCPReadOnly";
      expect(cluster.get("PlatformKey", "dev", "agent")?.spec).toMatchObject({ preset, state: "Active" });
    });
  });

  test("takes over from one that was taken away only where there is no third, which is said", async (context) => {
    const folder = await makeWorkspace(context, { "m.yaml": [key("agent")], "other.yaml": [key("other")] });
    const cluster = await folder.open();
    await folder.write("a.yaml", key("agent", REVOKED));
    await folder.write("b.yaml", key("agent", "preset: MCPReadWrite"));
    await until("it is said", () => cluster.said("b.yaml:3").length > 0);
    await folder.remove("m.yaml");
    await until("it is held", () => cluster.said("Leave one of them").length > 0);
    expect(cluster.get("PlatformKey", "dev", "agent")?.spec).toMatchObject({ preset: "MCPReadOnly", state: "Active" });
    await folder.remove("a.yaml");
    await until(
      "the last one counts",
      () => cluster.get("PlatformKey", "dev", "agent")?.spec.preset === "MCPReadWrite",
    );
  });

  test("of a Secret never takes over", async (context) => {
    const folder = await makeWorkspace(context, {
      "m.yaml": [secret("provider", "first")],
      "other.yaml": [key("other")],
    });
    const first = await folder.open();
    await folder.write("a.yaml", secret("provider", "second"));
    await until("it is said", () => first.said("a.yaml:3").length > 0);
    expect((await first.readSecret("dev", "provider"))?.data).toEqual({ "api-key": "first" });
    await first.close();
    const again = await folder.open();
    expect((await again.readSecret("dev", "provider"))?.data).toEqual({ "api-key": "first" });
  });
});

describe("c55: of several declarations there counts", () => {
  const known = { file: "m", rivals: [{ file: "z", content: "of z" }] };
  const one = (file: string, isAsHeld = false, content = `of ${file}`) => ({ file, isAsHeld, content });
  test.each([
    ["none of several that say something else, where nothing else is known", [one("a"), one("b")], undefined, true, ""],
    ["the one that says what is held, where nothing else is known", [one("a"), one("b", true)], undefined, true, "b"],
    ["the one in the file that governs", [one("a"), one("m")], known, true, "m"],
    ["that one too while something cannot be read", [one("a"), one("m")], known, false, "m"],
    ["none of those that were there beside it, once it cannot be seen", [one("z")], known, true, ""],
    ["one that came since it went", [one("a"), one("z")], known, true, "a"],
    ["none of those while something cannot be read", [one("a"), one("z")], known, false, ""],
    ["what is as held, of all that came since", [one("a"), one("b", true), one("c")], known, true, "b"],
    ["none that came since, while another one is as held", [one("a"), one("z", true)], known, true, ""],
    [
      "what came since, before what was there beside it and is renamed",
      [one("a", false, "of z"), one("b")],
      known,
      true,
      "b",
    ],
    ["none of those that are only renamed", [one("a", false, "of z")], known, true, ""],
    ["none of several that came since and say something else", [one("a"), one("b")], known, true, ""],
    ["of two in the file that governs, the one that says what is held", [one("m"), one("m", true)], known, true, "m"],
    ["none of two in it that both say something else", [one("m"), one("m")], known, true, ""],
  ] as const)("%s", (_, candidates, knownBefore, isComplete, file) => {
    const chosen = chooseGoverning(candidates, { known: knownBefore, isHeld: true, isComplete });
    expect(chosen?.file ?? "").toBe(file);
    if (file !== "" && candidates.some(({ isAsHeld }) => isAsHeld)) expect(chosen?.isAsHeld).toBe(true);
  });

  test("the first, of a new object", () => {
    const at = { known: undefined, isHeld: false, isComplete: true };
    expect(chooseGoverning([one("a"), one("b")], at)?.file).toBe("a");
  });
});
