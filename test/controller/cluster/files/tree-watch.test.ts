/** By notifications alone: the clock stands still, so that it is never time to look at everything. */
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, it, type TestContext } from "vitest";
import { watchTree } from "../../../../controller/cluster/files/tree-watch.ts";
import { until } from "../../../env/until.ts";
import { makeFolder } from "./harness.ts";

/** A watched folder, whose changes are made at once: what is notified of one is heard of when all of them are made. */
async function watchFolder(context: TestContext) {
  const root = join(await makeFolder(context), "root");
  mkdirSync(root);
  const heard = new Set<string>();
  const thrown: unknown[] = [];
  const closing = new AbortController();
  const collect = (error: unknown) => thrown.push(error);
  process.on("uncaughtException", collect);
  const watching = watchTree({
    path: root,
    signal: closing.signal,
    clock: { monotonic: () => 0 },
    look: async (touched) => {
      for (const path of touched ?? []) heard.add(path);
      return undefined;
    },
    onError: collect,
  });
  context.onTestFinished(async () => {
    closing.abort();
    await watching;
    process.off("uncaughtException", collect);
  });

  const at = (path: string) => join(root, path);
  return {
    root,
    at,
    heard,
    thrown,
    write(path: string) {
      mkdirSync(dirname(at(path)), { recursive: true });
      writeFileSync(at(path), "x");
    },
    remove: (path: string) => rmSync(at(path), { recursive: true }),
    /** Waits until a change of the file is notified by its name. */
    async notices(path: string) {
      await until(`a change of ${path} is noticed`, () => {
        writeFileSync(at(path), `${Math.random()}`);
        return heard.has(path);
      });
    },
  };
}

it("files that take the place of watched folders, and folders that take theirs, end nothing", async (context) => {
  const folder = await watchFolder(context);
  folder.write("first");
  await folder.notices("first");
  for (let i = 0; i < 500; i++) {
    folder.write("a/b/file");
    folder.write("a/c/file");
    // Some of what is made is watched before it goes, the rest is gone when it is heard of.
    if (i % 3 > 0) await turnOfTheLoop();
    folder.write("a/b/more");
    folder.remove("a/b");
    folder.write("a/b");
    if (i % 2 > 0) await turnOfTheLoop();
    folder.write("a/c/more");
    folder.remove("a");
    folder.write("a");
    if (i % 5 > 0) await turnOfTheLoop();
    folder.remove("a");
  }
  folder.write("a/b/file");
  await folder.notices("a/b/file");
  expect(folder.thrown).toEqual([]);
});

it("a folder that comes is reported, with all that is in it, and what comes into it later", async (context) => {
  const folder = await watchFolder(context);
  folder.write("first");
  await folder.notices("first");
  folder.write("a/b/c/file");
  await until("it is reported", () => folder.heard.has("a"));
  await folder.notices("a/b/c/file");
});

it("a folder that is exchanged for another of its name is watched in its place", async (context) => {
  const folder = await watchFolder(context);
  folder.write("a/b/file");
  folder.write("next/b/file");
  await folder.notices("a/b/file");
  renameSync(folder.at("a"), folder.at("before"));
  renameSync(folder.at("next"), folder.at("a"));
  folder.heard.clear();
  await folder.notices("a/b/file");
  expect([...folder.heard].filter((path) => path.startsWith("next/"))).toEqual([]);
});

it("the watched folder itself may go, come back, and be exchanged", async (context) => {
  const folder = await watchFolder(context);
  folder.write("a/file");
  await folder.notices("a/file");
  folder.remove("");
  await until("it is heard of", () => folder.heard.has(""));
  folder.write("a/file");
  folder.heard.clear();
  await folder.notices("a/file");

  renameSync(folder.root, `${folder.root}-before`);
  folder.write("a/file");
  folder.heard.clear();
  await folder.notices("a/file");
});

it("a link is not followed below the folder: what changes behind it is reported as a change of the link", async (context) => {
  const folder = await watchFolder(context);
  const behind = join(folder.root, "../behind");
  mkdirSync(join(behind, "deep"), { recursive: true });
  symlinkSync(behind, folder.at("link"));
  folder.write("file");
  await folder.notices("file");
  folder.heard.clear();
  await until("it is reported", () => {
    writeFileSync(join(behind, "deep/file"), `${Math.random()}`);
    writeFileSync(join(behind, "file"), `${Math.random()}`);
    return folder.heard.has("link");
  });
  expect([...folder.heard].filter((path) => path !== "file")).toEqual(["link"]);
});
