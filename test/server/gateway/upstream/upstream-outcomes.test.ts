import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createLog } from "../../../../runtime/log.ts";
import { UpstreamOutcomes } from "../../../../server/gateway/upstream/upstream-outcomes.ts";
import { saveGateway } from "../../../../store/gateways/gateways.ts";
import { refusedCredentials } from "../../../../store/gateways/upstream-outcomes.ts";
import { describeNightlyOnEachEngine } from "../../../env/database/engines.ts";
import { until } from "../../../env/until.ts";
import { gatewayDraft, type Home, makeTeam, run } from "../../../store/fixtures.ts";
import { keyring, startReplica } from "../../key-index/replica-fixtures.ts";

const withCredential = (credential: string) => ({
  upstreams: [{ name: "primary", dialect: "openai" as const, baseUrl: "https://u.example", credential }],
});

describeNightlyOnEachEngine("what a server has heard of an upstream", (store) => {
  let home: Home;
  beforeAll(async () => {
    home = await makeTeam(store());
  });

  test("a credential is not called refused for a call that was made with the one before it", async () => {
    const { replica, view } = startReplica(store());
    onTestFinished(() => replica.close());
    const draft = gatewayDraft(home, withCredential("sk-1"));
    const save = (credential: string) =>
      run(store(), (tx) => saveGateway(tx, { ...draft, ...withCredential(credential) }, keyring));
    const served = async (credential: string) => {
      const find = () => view.findGateway(draft.publicId)?.upstreams.find((each) => each.credential === credential);
      await until(`${credential} is served`, () => find() !== undefined);
      const upstream = find();
      if (upstream === undefined) throw new Error(`${credential} is served no more`);
      return upstream;
    };
    const outcomes = new UpstreamOutcomes(() => replica.now());
    const refused = async () => {
      await outcomes.flush({ store: store(), log: createLog("silent"), index: view });
      return (await refusedCredentials(store().db, draft.cluster)).map(({ upstream }) => upstream);
    };

    const { gatewayId } = await save("sk-1");
    const before = await served("sk-1");
    await save("sk-2");
    const present = await served("sk-2");
    outcomes.answered(gatewayId, present, 200);
    outcomes.refusedCredential(gatewayId, before);
    expect(await refused()).toEqual([]);
    outcomes.refusedCredential(gatewayId, present);
    expect(await refused()).toEqual(["primary"]);
  });
});
