import { expect, test } from "vitest";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { rulesInForce } from "../../../domain/key/policies/rules-in-force.ts";
import type { PlatformKeyPolicySpec } from "../../../domain/kinds/generated/platform-key-policy.ts";
import { change } from "../../../store/database/change.ts";
import { policiesOfTeam, savePolicy, saveUnreadablePolicies } from "../../../store/policies/key-policies.ts";
import { saveTeam } from "../../../store/teams/teams.ts";
import { describeNightlyOnEachEngine } from "../../env/database/engines.ts";
import { keyring } from "../../server/key-index/replica-fixtures.ts";
import { run, teamDraft, unique } from "../fixtures.ts";

const HOUR = 3_600_000;
const RULES = { allowedScopes: ["memory:read"] } satisfies Partial<PlatformKeyPolicySpec>;

describeNightlyOnEachEngine("b463: the grace period of a policy for a team that was made by hand", (store) => {
  /** Makes a team, and what declares a policy that selects teams by these names. */
  async function start() {
    const name = unique("hand");
    const draft = teamDraft({ cluster: API_CLUSTER, namespaces: [], name });
    const { teamId } = (await change(store(), null, (tx) => saveTeam(tx, draft, keyring))).result;
    const [cluster, uid] = [unique("c"), unique("uid")];
    let at = Date.parse("2030-01-01T00:00:00Z");
    const declare = (teamSelector: PlatformKeyPolicySpec["teamSelector"]) => {
      at += HOUR;
      const spec = { teamSelector, gracePeriod: "1h", ...RULES } as PlatformKeyPolicySpec;
      const rules = rulesInForce(spec, [], "2026-01-01T00:00:00Z");
      return run(store(), (tx) => savePolicy(tx, { cluster, uid, name: "production", spec, teams: [], rules }), at);
    };
    const loseSight = () => run(store(), (tx) => saveUnreadablePolicies(tx, cluster, [uid]), at);
    /** Hours since when its rule holds for the team; none if it does not select it. */
    const since = async () =>
      (await policiesOfTeam(store().db, teamId)).policies.map(
        (policy) => ((policy.since.allowedScopes ?? 0) - Date.parse("2030-01-01T00:00:00Z")) / HOUR,
      );
    return { name, declare, loseSight, since };
  }

  test("goes on where its selector is edited, and where it could not be read for a while", async () => {
    const { name, declare, loseSight, since } = await start();
    await declare({ matchNames: [name] });
    expect(await since()).toEqual([1]);
    await declare({ matchNames: [name, "another"] });
    expect(await since()).toEqual([1]);
    await loseSight();
    await loseSight();
    await declare({ matchNames: ["another", name] });
    expect(await since()).toEqual([1]);
  });

  test("begins once the policy selects the team, and again if it did not in between", async () => {
    const { name, declare, loseSight, since } = await start();
    await declare({ matchNames: ["another"] });
    expect(await since()).toEqual([]);
    await declare({ matchNames: [name] });
    await declare({ matchNames: ["another"] });
    await loseSight();
    await declare({ matchNames: [name] });
    expect(await since()).toEqual([4]);
  });
});
