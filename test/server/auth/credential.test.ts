import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { CARRIERS, extractCredential } from "../../../server/auth/credential.ts";
import { ANY_CHARACTER } from "../../env/any-character.ts";
import { examples } from "../../env/nightly.ts";

const A = "inf_aaaa";
const B = "inf_bbbb";
const VENDOR = "x-goog-api-key";

function read(headers: [string, string][], url = "/"): string {
  const presented = extractCredential(headers.flat(), url, VENDOR);
  return "bad" in presented ? presented.bad : `${presented.carrier} ${presented.key}`;
}

describe("b1: the Bearer scheme in any case, then exactly one space", () => {
  test.each([
    [`Bearer ${A}`, `bearer ${A}`],
    [`bearer ${A}`, `bearer ${A}`],
    [`BEARER ${A}`, `bearer ${A}`],
    [`Bearer\t${A}`, "malformed"],
    [`Bearer,${A}`, "malformed"],
    ["Bearer", "missing"],
    ["Bearer ", "missing"],
  ])("%j", (value, want) => {
    expect(read([["Authorization", value]])).toBe(want);
  });

  test("two spaces are part of the token, and no key begins with one", () => {
    expect(read([["Authorization", `Bearer  ${A}`]])).toBe(`bearer  ${A}`);
  });
});

test("b2: an Authorization that appears twice is refused, in whatever case and order", () => {
  expect(
    read([
      ["Authorization", `Bearer ${A}`],
      ["authorization", `Bearer ${B}`],
    ]),
  ).toBe("repeated_carrier");
  expect(
    read([
      ["authorization", `Bearer ${B}`],
      ["AUTHORIZATION", `Bearer ${A}`],
    ]),
  ).toBe("repeated_carrier");
  expect(
    read([
      ["Authorization", "Basic eA=="],
      ["Authorization", `Bearer ${A}`],
    ]),
  ).toBe("repeated_carrier");
});

test("a carrier that appears twice is refused also where an earlier one applies", () => {
  expect(
    read([
      [VENDOR, A],
      ["X-API-Key", A],
      ["x-api-key", A],
    ]),
  ).toBe("repeated_carrier");
});

test("b3: comma-joined credentials are refused", () => {
  expect(read([["Authorization", `Bearer ${A}, Bearer ${B}`]])).toBe("repeated_carrier");
  expect(read([["Authorization", `Bearer ${A},${B}`]])).toBe("repeated_carrier");
  expect(read([["X-API-Key", `${A}, ${B}`]])).toBe("repeated_carrier");
  expect(read([], `/?key=${A}%2C${B}`)).toBe("repeated_carrier");
});

describe("b4: what is no Bearer credential leaves the next carrier to apply", () => {
  test.each([A, `Token ${A}`, `Basic ${btoa(`${A}:`)}`, `Bearer2 ${A}`, `Bear ${A}`])("%j", (value) => {
    expect(read([["Authorization", value]])).toBe("missing");
    expect(
      read([
        ["Authorization", value],
        ["X-API-Key", B],
      ]),
    ).toBe(`x-api-key ${B}`);
  });
});

test("b5: the first of any two carriers in the order decides alone", () => {
  const put = {
    vendor: (key: string) => ({ headers: [[VENDOR, key]] as [string, string][], url: "" }),
    query: (key: string) => ({ headers: [], url: `?key=${key}` }),
    bearer: (key: string) => ({ headers: [["Authorization", `Bearer ${key}`]] as [string, string][], url: "" }),
    "x-api-key": (key: string) => ({ headers: [["X-API-Key", key]] as [string, string][], url: "" }),
  };
  for (const [i, first] of CARRIERS.entries()) {
    for (const second of CARRIERS.slice(i + 1)) {
      for (const [one, two] of [
        [A, B],
        ["rubbish", A],
      ] as const) {
        const [a, b] = [put[first](one), put[second](two)];
        const url = `/atoms${a.url}${b.url}`;
        expect(read([...a.headers, ...b.headers], url)).toBe(`${first} ${one}`);
        expect(read([...b.headers, ...a.headers], url)).toBe(`${first} ${one}`);
      }
    }
  }
});

test("b6: other names of query parameters are no carriers", () => {
  for (const name of [
    "api_key",
    "access_token",
    "KEY",
    "Key",
    "keys",
    "xkey",
    "key%00",
    "key ",
    "k",
    "key[]",
    "key.",
  ]) {
    expect(read([], `/?${name}=${A}`)).toBe("missing");
  }
});

test("b7: ?key= is read by name and place, encoded or not; twice is refused; empty is none", () => {
  expect(read([], `/?key=${A}`)).toBe(`query ${A}`);
  expect(read([], `/?x=1&key=${A}&y=2`)).toBe(`query ${A}`);
  expect(read([], `/?k%65y=${A}`)).toBe(`query ${A}`);
  expect(read([], `/?%6b%65%79=${A}`)).toBe(`query ${A}`);
  expect(read([], `/?key=${A}&key=${B}`)).toBe("repeated_carrier");
  expect(read([], `/?key=${A}&k%65y=${B}`)).toBe("repeated_carrier");
  expect(read([], `/?key=&key=${A}`)).toBe("repeated_carrier");
  for (const url of ["/?key=", "/?key", "/?key=&x=1", "/?key&x=1"]) {
    expect(read([["Authorization", `Bearer ${A}`]], url)).toBe(`bearer ${A}`);
    expect(read([], url)).toBe("missing");
  }
  expect(read([], `/?x=key=${A}`)).toBe("missing");
  expect(read([], `/key=${A}`)).toBe("missing");
});

test("an empty header is no credential", () => {
  expect(
    read([
      [VENDOR, ""],
      ["X-API-Key", A],
    ]),
  ).toBe(`x-api-key ${A}`);
});

test("what cannot be decoded is a bad credential, not an exception", () => {
  expect(read([], "/?key=%zz")).toBe("query %zz");
  expect(read([], "/?%zz=1&key=%e0%a4")).toBe("query %e0%a4");
});

test("b8: what is longer than any key is refused before it is looked at", () => {
  expect(read([["Authorization", `Bearer ${"x".repeat(513)}`]])).toBe("malformed");
  expect(read([[VENDOR, ",".repeat(64 << 10)]])).toBe("malformed");
});

test("the parameter key is the one that URLSearchParams reads, for any query", () => {
  const part = fc.stringMatching(/^[key=&%5E6b79+x]{0,24}$/);
  fc.assert(
    fc.property(part, (query) => {
      const wanted = new URLSearchParams(query).getAll("key");
      const got = read([], `/?${query}`);
      if (wanted.length === 0) expect(got).toBe("missing");
      else if (wanted.length > 1) expect(got).toBe("repeated_carrier");
      else if (wanted[0] === "") expect(got).toBe("missing");
      else if (isDecodable(query)) expect(got).toBe(`query ${wanted[0]}`);
    }),
    { numRuns: examples(4_000) },
  );
});

function isDecodable(query: string): boolean {
  try {
    decodeURIComponent(query);
    return true;
  } catch {
    return false;
  }
}

test("no input makes reading throw", () => {
  const header = fc.tuple(
    fc.constantFrom("authorization", "Authorization", VENDOR, "x-api-key", "accept"),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(header, { maxLength: 5 }), fc.string({ unit: ANY_CHARACTER }), (headers, query) => {
      expect(read(headers, `/?${query}`)).toBeTypeOf("string");
    }),
  );
});
