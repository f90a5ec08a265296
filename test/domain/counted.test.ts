import { expect, test } from "vitest";
import { counted } from "../../domain/counted.ts";

test("one is counted in the singular, and thousands stand apart", () => {
  expect([counted(1, "request"), counted(0, "request"), counted(1_200, "answer")]).toEqual([
    ...["1 request", "0 requests", "1,200 answers"],
  ]);
});
