import { describe, expect, test } from "vitest";
import type { Kind } from "../../../../domain/kinds/kinds.ts";
import { formatPath } from "../../../../domain/manifest/document/diagnostic.ts";
import { checkSchema } from "../../../../domain/manifest/validation/schema-check.ts";

/** The faults of a manifest as `path: message`, and the manifest with its defaults. */
function check(kind: Kind, spec: unknown, more: object = {}) {
  const manifest: Record<string, unknown> = { apiVersion: "v", kind, metadata: {}, ...more };
  if (spec !== undefined) manifest.spec = spec;
  const faults = checkSchema(kind, manifest).map(({ path, message }) => `${formatPath(path)}: ${message}`);
  return { faults, manifest };
}
const key = (spec: object) => check("PlatformKey", { preset: "MCPReadOnly", ...spec }).faults;

describe("a valid manifest", () => {
  test("has its defaults filled in, below what is there too", () => {
    const { faults, manifest } = check("PlatformKey", { preset: "MCPReadOnly", secret: { name: "s" } });
    expect(faults).toEqual([]);
    expect(manifest.spec).toMatchObject({ state: "Active", secret: { name: "s", dataKey: "api-key" } });
  });

  test("may leave a field empty that has a default, as on the API server, and no other", () => {
    const { faults, manifest } = check("PlatformKey", { preset: "MCPReadOnly", state: null });
    expect([faults, manifest.spec]).toEqual([[], expect.objectContaining({ state: "Active" })]);
    expect(key({ displayName: null })).toEqual(["spec.displayName: is empty: write text, or leave the field out"]);
  });
});

describe("a fault says what to write instead", () => {
  test.each([
    ["a misspelt field", { stat: "Active" }, "spec.stat: unknown field: did you mean state?"],
    ["a misspelt value", { state: "active" }, 'spec.state: unknown value "active": did you mean Active?'],
    ["a number for text", { displayName: 7 }, 'spec.displayName: must be text: write it in quotes, "7"'],
    ["text for a list", { allowedModels: "a" }, 'spec.allowedModels: must be a list: write ["a"]'],
    [
      "values between commas for a list",
      { scopes: "memory:read,memory:write" },
      "spec.scopes: must be a list: write [memory:read, memory:write]",
    ],
    [
      "text with a comma for a list",
      { scopes: "memory:read, all" },
      'spec.scopes: must be a list: write ["memory:read, all"]',
    ],
    [
      "text for a mapping",
      { rateLimit: "60" },
      "spec.rateLimit: must be a mapping with fields of these: requestsPerMinute, ",
    ],
    ["a name for a mapping", { secret: "s" }, 'spec.secret: must be a mapping: write {name: "s"}'],
    [
      "a number in quotes",
      { rateLimit: { requestsPerMinute: "60" } },
      "spec.rateLimit.requestsPerMinute: must be a whole number: write it without quotes, 60",
    ],
    [
      "a boolean in quotes",
      { deletionProtection: "true" },
      "spec.deletionProtection: must be true or false: write it without quotes, true",
    ],
    [
      "a mapping and its field as one",
      { secretName: "s" },
      "spec.secretName: unknown field: did you mean name of secret?",
    ],
    [
      "a duration in a field of no such name",
      { expires: "24h" },
      "spec.expires: unknown field: did you mean expiresAfter?",
    ],
    [
      "a time in a field of no such name",
      { expires: "2027-01-31T12:00:00Z" },
      "spec.expires: unknown field: did you mean expiresAt?",
    ],
    [
      "a time without a zone",
      { expiresAt: "2027-01-31T12:00:00" },
      'spec.expiresAt: "2027-01-31T12:00:00" has no zone: write 2027-01-31T12:00:00Z for UTC',
    ],
    [
      "an empty list",
      { allowedModels: [] },
      "spec.allowedModels: is empty: write at least one entry, or leave the field out",
    ],
    ["too long a text", { displayName: "x".repeat(1_000) }, "characters: shorten it"],
    [
      "no duration",
      { expiresAfter: "3 days" },
      'spec.expiresAfter: "3 days" is no duration: write hours, minutes and seconds',
    ],
    ["no time", { expiresAt: "tomorrow" }, 'spec.expiresAt: "tomorrow" is no time: write it as RFC 3339 has it'],
    ["a field that is required", { gatewayRef: {} }, "spec.gatewayRef.name: is missing: write it"],
    [
      "a number below the least",
      { rateLimit: { requestsPerMinute: 0 } },
      "spec.rateLimit.requestsPerMinute: must be at least 1",
    ],
  ])("%s", (_, spec, fault) => expect(key(spec)).toEqual([expect.stringContaining(fault)]));

  test("once for each field, and by its type before all else", () => {
    expect(key({ state: 7 })).toEqual(["spec.state: unknown value 7: write one of Active, Suspended, Revoked"]);
  });

  test("in a list by its place", () => {
    expect(key({ allowedModels: ["a", 7] })).toEqual([expect.stringContaining("spec.allowedModels[1]: must be text")]);
  });

  test("at most a hundred times, of a manifest with as many faults as bytes", () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, i) => [`field${i}`, i]));
    expect(key(many).length).toBeLessThanOrEqual(100);
  });
});

describe("a field in the wrong place", () => {
  test("that belongs under spec or metadata is named as such", () => {
    const beside = check("PlatformKey", undefined, { preset: "MCPReadOnly", state: "Active" }).faults;
    expect(beside).toEqual([
      "preset: is a field of spec: indent it under spec",
      "state: is a field of spec: indent it under spec",
    ]);
    expect(check("PlatformTeam", {}, { labels: {} }).faults).toEqual([
      "labels: is a field of metadata: indent it under metadata",
    ]);
  });

  test("is unknown where no part of the manifest has it", () => {
    expect(check("PlatformTeam", {}, { nonsense: 1 }).faults).toEqual([expect.stringContaining("unknown field")]);
  });
});

test("a key that was pasted into a field of any name is not repeated, and is to be revoked", () => {
  const pasted = `inf_${"k".repeat(57)}`;
  const [fault = ""] = key({ apiKey: pasted });
  expect(fault).toContain("seems to hold a key: remove it, and revoke that key");
  expect(fault).not.toContain("kkk");
  expect(key({ state: pasted }).join()).not.toContain("kkk");
});
