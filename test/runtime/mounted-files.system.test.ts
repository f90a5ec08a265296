import { chownSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { distrustOf } from "../../runtime/distrust.ts";
import { mountFolder } from "../env/mounted-folder.ts";

const OTHER = 54_321;

test.each([
  ["taken", "another container of a pod writes", "0777", false],
  ["refused", "a user wrote in a folder that users share", "1777", true],
])("b327: what is %s: that which %s", (_, __, mode, isRefused) => {
  const path = join(mountFolder(mode), "password");
  writeFileSync(path, "x");
  chownSync(path, OTHER, OTHER);
  expect(distrustOf(path, OTHER + 1)?.isRefused).toBe(isRefused);
});
