import { describe, expect, test } from "vitest";
import { SCOPES, scopeSet } from "../../../domain/access/scopes.ts";
import { keyDigest } from "../../../domain/key/secret/key-format.ts";
import { parsePlaceholders } from "../../../server/context/placeholders.ts";
import { PlaceholderKeys, resolvePlaceholders } from "../../../server/key-index/placeholder-keys.ts";

const team = (name: string) => ({
  teamId: `id of ${name}`,
  name,
  defaultLibraryId: null,
  allowedCIDRs: null,
  limits: null,
});

describe("a placeholder", () => {
  const { placeholders } = parsePlaceholders("inf_local,inf_other@research");

  test("stands for a key of its team with every scope, to all libraries, without an end", () => {
    const { records, unresolved } = resolvePlaceholders(placeholders, [team("research")]);
    expect(unresolved).toBe(0);
    for (const [index, text] of ["inf_local", "inf_other"].entries()) {
      expect(records.get(keyDigest(text))).toMatchObject({
        ...{ keyId: `placeholder_${index + 1}`, version: 0, teamId: "id of research", state: "active" },
        ...{ scopes: scopeSet(SCOPES), libraryIds: null, boundGatewayId: null, expiresAt: Number.POSITIVE_INFINITY },
      });
    }
  });

  test("that names no team opens nothing where there are several teams, or none", () => {
    const several = resolvePlaceholders(placeholders, [team("research"), team("platform")]);
    expect([several.records.has(keyDigest("inf_local")), several.unresolved]).toEqual([false, 1]);
    expect(resolvePlaceholders(placeholders, [])).toEqual({ records: new Map(), unresolved: 2 });
  });

  test("opens nothing where its team is not there, or two clusters have one by that name", () => {
    for (const teams of [[team("platform")], [team("research"), team("research")]]) {
      expect(resolvePlaceholders(placeholders, teams).records.has(keyDigest("inf_other"))).toBe(false);
    }
  });

  test("is found by its digest, and found again as it is after its team has changed", () => {
    const before = new PlaceholderKeys(resolvePlaceholders(placeholders, [team("research")]).records);
    const found = before.find(keyDigest("inf_local"));
    const after = new PlaceholderKeys(resolvePlaceholders(placeholders, [team("platform")]).records);
    expect(found && after.findPresent(found)?.teamId).toBe("id of platform");
    const none = new PlaceholderKeys();
    expect([none.exist, none.find(keyDigest("inf_local")), found && none.findPresent(found)]).toEqual([
      ...[false, undefined, undefined],
    ]);
  });
});
