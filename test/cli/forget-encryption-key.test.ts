import { expect, test } from "vitest";
import { keyplane } from "./up.ts";

const DATA = "/nowhere/data";
const URL = "postgres://127.0.0.1:1/keyplane";
const FOLDER = `${DATA} is no data folder of keyplane up`;
const POSTGRES = "127.0.0.1:1";
const BOTH = "--data and --database-url, or their variables, name two databases";

const CASES: readonly (readonly [string, flags: string[], env: Record<string, string>, tried: string])[] = [
  ["KEYPLANE_DATA", [], { KEYPLANE_DATA: DATA }, FOLDER],
  ["--data before KEYPLANE_DATABASE_URL", ["--data", DATA], { KEYPLANE_DATABASE_URL: URL }, FOLDER],
  ["--database-url before KEYPLANE_DATA", ["--database-url", URL], { KEYPLANE_DATA: DATA }, POSTGRES],
  ["no two variables", [], { KEYPLANE_DATA: DATA, KEYPLANE_DATABASE_URL: URL }, BOTH],
  ["no two flags", ["--data", DATA, "--database-url", URL], {}, BOTH],
];

test.each(CASES)("keyplane forget-encryption-key takes its database from %s", async (_, flags, env, tried) => {
  const { code, err } = await keyplane(["forget-encryption-key", "0123456789abcdef", ...flags], env);
  expect(err).toContain(tried);
  expect(code).toBe(tried === POSTGRES ? 1 : 2);
});
