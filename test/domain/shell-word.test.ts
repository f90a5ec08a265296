import { expect, test } from "vitest";
import { shellWord } from "../../domain/shell-word.ts";

test.each([
  ["keys/a.yaml", "keys/a.yaml"],
  ["my keys", "'my keys'"],
  ["it's", String.raw`'it'\''s'`],
  ["-f", "./-f"],
  ["-my keys", "'./-my keys'"],
])("the path %j is %s for a shell, which takes it for no flag", (path, word) => {
  expect(shellWord(path)).toBe(word);
});
