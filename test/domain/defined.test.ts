import { expect, expectTypeOf, it } from "vitest";
import { defined } from "../../domain/defined.ts";

it("leaves out what is undefined, and nothing else", () => {
  const fields = { a: undefined, b: null, c: 0, d: "", e: false, f: [undefined] };
  expect(Object.entries(defined(fields))).toEqual(Object.entries({ b: null, c: 0, d: "", e: false, f: [undefined] }));
});

it("has a field that may be missing for each that may be undefined", () => {
  const name: string | undefined = ["agent"].at(0);
  expectTypeOf(defined({ name, id: 1 })).toExtend<{ id: number; name?: string }>();
  expectTypeOf(defined({ name, id: 1 })).not.toExtend<{ id: number; name: string }>();
});
