import { expect, test } from "vitest";
import { formatTable } from "../../../cli/output/table.ts";

test("a table has as many rows as there are", () => {
  const rows = Array.from({ length: 200_000 }, (_, i) => [`key-${i}`, "x"]);
  const lines = formatTable(["NAME", "X"], rows).split("\n");
  expect([lines.length, lines[0], lines.at(-1)]).toEqual([200_001, "NAME         X", "key-199999   x"]);
});
