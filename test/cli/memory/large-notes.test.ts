import { describe, expect, test } from "vitest";
import { readPage } from "../../../cli/memory/front-matter.ts";
import { readNote } from "../../../cli/memory/markdown-note.ts";
import { cpuTimeOf } from "../../env/cpu-time.ts";
import { NIGHTLY } from "../../env/nightly.ts";

/** Names in one front matter. */
const MANY = NIGHTLY ? 40_000 : 20_000;

describe("a note", () => {
  test("has front matter of many names read in time that grows as these do", async () => {
    const names = Array.from({ length: MANY }, (_, i) => `name${i}: x\n`).join("");
    const spent = await cpuTimeOf(() => expect(Object.keys(readPage(`---\n${names}---\n`).matter)).toHaveLength(MANY));
    // To compare each name with each takes more than half as long again, and the more the more names there are.
    expect(spent).toBeLessThan(MANY / 5);
  });

  test("of hundreds of thousands of brackets, marks or spaces takes no more time than its length", async () => {
    const spent = await cpuTimeOf(() => {
      for (const piece of ["[[", "[[a", "`", "#", "- ", "![[a]]", " ", "-\n", "---\n", "[a] "])
        readNote(readPage(`- ${piece.repeat(NIGHTLY ? 200_000 : 100_000)}x`), "folder/Note.md", 0);
    });
    expect(spent).toBeLessThan(NIGHTLY ? 10_000 : 5_000);
  });
});
