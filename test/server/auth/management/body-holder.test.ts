import { expect, test } from "vitest";
import { managedBodyHolder } from "../../../../server/auth/management/body-holder.ts";
import { KeyIndex } from "../../../../server/key-index/key-index.ts";

test("b110: a body of the management API is its caller's and one of their teams', of no team's, or the installation's", () => {
  const index = new KeyIndex();
  const members = [{ role: "admin", name: "group leads", libraryIds: null }] as const;
  index.applyTeam({
    teamId: "team-a",
    name: "a",
    cluster: "c",
    defaultLibraryId: null,
    allowedCIDRs: null,
    limits: null,
    members,
    revoked: [],
  });
  const named = { subject: "ann", serviceAccount: null, issuedAt: 0 };
  const holder = (groups: readonly string[]) => managedBodyHolder(index, { actor: "ann", as: { ...named, groups } });
  expect(holder(["leads"])).toEqual({ keyId: "ann", teamId: "team-a" });
  const teams = [holder(["leads"]), holder([]), managedBodyHolder(index, { actor: "desk", as: "everything" })].map(
    ({ teamId }) => teamId,
  );
  expect(new Set(teams).size).toBe(3);
});
