import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { closeOwnFolder } from "../../../../controller/cluster/files/own-folder.ts";
import { mountFolder } from "../../../env/mounted-folder.ts";

const OTHER = 54_321;

/** What a user who is not root hears of a data folder: its warnings, or why it is refused. */
async function saidOf(folder: string): Promise<readonly string[]> {
  const said: string[] = [];
  process.seteuid?.(OTHER);
  onTestFinished(() => void process.seteuid?.(0));
  await closeOwnFolder(folder, (message) => said.push(message)).catch((error) => said.push(String(error)));
  process.seteuid?.(0);
  return said;
}

test("b326: a mounted folder that containers may write is taken with a warning", async () => {
  expect(await saidOf(mountFolder("0777"))).toEqual([
    expect.stringMatching(/^\S+ can be written .*, as it is mounted/),
  ]);
});

test.each(["1777", "1775", "3777"])(
  "b326: a mounted folder that users share (%s) is refused, one in it is not",
  async (mode) => {
    const shared = mountFolder(mode);
    expect(await saidOf(shared)).toEqual([
      expect.stringMatching(/^Error: \S+ can be written .*: choose another --data/),
    ]);
    expect(await saidOf(join(shared, "mine"))).toEqual([]);
  },
);
