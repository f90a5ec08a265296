import { existsSync, readFileSync } from "node:fs";
import { open, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay, setImmediate as turnOfTheLoop } from "node:timers/promises";
import { expect, it } from "vitest";
import { ensureFolder, replaceFile } from "../../../../controller/cluster/files/disk.ts";
import { examples } from "../../../env/nightly.ts";
import { makeFolder } from "./harness.ts";

it.runIf(existsSync("/proc/self"))(
  "a data folder that cannot be made is an error, and no endless attempt",
  async () => {
    await expect(ensureFolder("/proc/keyplane/data")).rejects.toThrow("ENOENT");
  },
);

it.for([true, false])(
  "a file is replaced as a whole, for readers meanwhile (durable: %s)",
  async (durable, context) => {
    const path = join(await makeFolder(context), "file.json");
    const texts = ["a", "b"].map((letter) => letter.repeat(1 << 20));
    await writeFile(path, texts[0] ?? "");
    const before = await open(path);
    let isDone = false;
    const replacing = (async () => {
      for (let i = 1; i <= examples(4); i++) await replaceFile(path, texts[i % 2] ?? "", durable);
      isDone = true;
    })();
    while (!isDone) {
      expect(texts.includes(readFileSync(path, "utf8"))).toBe(true);
      // A disk takes long to sync, in which nothing changes.
      await (durable ? delay(1) : turnOfTheLoop());
    }
    await replacing;
    expect((await before.readFile("utf8")) === texts[0]).toBe(true);
    await before.close();
  },
);
