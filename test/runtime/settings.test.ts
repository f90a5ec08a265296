import { describe, expect, test } from "vitest";
import {
  anyText,
  type Flags,
  flagOf,
  optional,
  readSettings,
  type SettingsRule,
  several,
  variableOf,
  withDefault,
} from "../../runtime/settings.ts";

const digit = (text: string) => (/^\d$/.test(text) ? Number(text) : undefined);
const described = { takes: "<x>", help: "for a test" };
const TABLE = {
  size: withDefault("3", { ...described, parse: digit, wanted: "a digit" }),
  upperLimit: optional({ ...described, parse: digit, wanted: "a digit" }),
  names: several({ ...described, faultOf: (item) => (item.includes(" ") ? "is none" : undefined), wanted: "words" }),
  file: anyText(described),
};
const RULES: readonly SettingsRule<typeof TABLE>[] = [
  {
    name: "upperLimit",
    wanted: "at least --size",
    holds: ({ size, upperLimit }) => upperLimit === null || upperLimit >= size,
  },
];
const read = (env: Record<string, string>, flags: Flags<typeof TABLE> = {}) => readSettings(TABLE, RULES, env, flags);

test("nothing given is the default, null or an empty list", () => {
  expect(read({})).toEqual({ settings: { size: 3, upperLimit: null, names: [], file: null }, faults: [] });
});

test("a setting's flag and variable have its name", () => {
  expect(flagOf("upperLimit")).toBe("upper-limit");
  expect(variableOf("upper-limit")).toBe("KEYPLANE_UPPER_LIMIT");
  expect(read({ KEYPLANE_UPPER_LIMIT: "7" }).settings.upperLimit).toBe(7);
});

test("a flag wins over its variable, and an empty variable counts as none", () => {
  expect(read({ KEYPLANE_SIZE: "5" }, { size: "4" }).settings.size).toBe(4);
  expect(read({ KEYPLANE_SIZE: "" }).settings.size).toBe(3);
});

test("a list's items are separated by commas, and empty ones are left out", () => {
  expect(read({ KEYPLANE_NAMES: " a, b,,c," }).settings.names).toEqual(["a", "b", "c"]);
});

describe("a fault", () => {
  test("names the flag, or the variable that is given, and each item of a list", () => {
    expect(read({ KEYPLANE_SIZE: "ten" }, { names: "a b,c,d e" }).faults).toEqual([
      "KEYPLANE_SIZE: must be a digit",
      '--names: must be words; "a b" is none',
      '--names: must be words; "d e" is none',
    ]);
  });

  test("is of a rule over several settings, too", () => {
    expect(read({ KEYPLANE_UPPER_LIMIT: "2" }).faults).toEqual(["KEYPLANE_UPPER_LIMIT: must be at least --size"]);
    expect(read({ KEYPLANE_UPPER_LIMIT: "3" }).faults).toEqual([]);
  });

  test("shows no credentials of a URL", () => {
    expect(read({}, { names: "https://user:pass word@host" }).faults).toEqual([
      '--names: must be words; "https://...@host" is none',
    ]);
  });

  test("of a default is found where the table is made", () => {
    expect(() => withDefault("x", { ...described, parse: digit, wanted: "a digit" })).toThrow(TypeError);
  });
});
