import { expect, test } from "vitest";
import { secretData } from "../../domain/secret-data.ts";

test("the data of a Secret has its data keys and nothing that every object has", () => {
  const data = secretData([
    ["api-key", "a"],
    ["__proto__", "b"],
    ["api-key", "c"],
  ]);
  expect(Object.entries(data)).toEqual([
    ["api-key", "c"],
    ["__proto__", "b"],
  ]);
  for (const name of ["constructor", "toString"]) expect(data[name]).toBeUndefined();
});
