import { expect, test } from "vitest";
import { checkGatewayCredentials, judgeGatewayCredentials } from "../../../cli/doctor/gateway-credentials.ts";
import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import { API_CLUSTER } from "../../../domain/api-cluster.ts";
import { condition } from "../../../domain/conditions.ts";
import { saveGateway } from "../../../store/gateways/gateways.ts";
import { recordOutcomes } from "../../../store/gateways/upstream-outcomes.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { keyring } from "../../server/key-index/replica-fixtures.ts";
import { gatewayDraft, makeTeam, run } from "../../store/fixtures.ts";

const FINE = [expect.objectContaining({ name: "gateway-credentials", severity: "ok" })];

describeOnEitherEngine("keyplane doctor of a database", (store) => {
  test("names each gateway whose credential a provider refuses, declared or made by hand, and what to do", async () => {
    expect(await checkGatewayCredentials(store())).toEqual(FINE);
    const refusedAt = Date.now();
    const outcome = { answeredAt: null, status: null, failedAt: null, failure: null, acceptedAt: null, refusedAt };
    const upstreams = ["openai", "gemini"].map((dialect) => ({
      ...({ name: `the-${dialect}`, dialect, baseUrl: "https://u.example", credential: "sk-1" } as UpstreamRecord),
    }));
    const home = await makeTeam(store());
    for (const cluster of [home.cluster, API_CLUSTER]) {
      const draft = gatewayDraft({ ...home, cluster }, { name: "main", namespace: "team-a", upstreams });
      const { gatewayId } = await run(store(), (tx) => saveGateway(tx, draft, keyring));
      await recordOutcomes(store().db, [{ gatewayId, upstream: "the-gemini", ...outcome }]);
    }
    const found = (await checkGatewayCredentials(store())).map(
      ({ severity, message, action }) => `${severity}: ${message}: ${action}`,
    );
    const refused = "upstream the-gemini \\(gemini\\) of ModelGateway team-a/main refuses the gateway's credential";
    expect(found.toSorted()).toEqual(
      ["send it by PUT /api/v1/gateways/gw_\\w+", "write it into that upstream's Secret"].map((place) =>
        expect.stringMatching(`^error: ${refused}: take the provider's present credential, and ${place}$`),
      ),
    );
  });
});

describeOnEitherEngine("keyplane doctor of a gateway without a credential", (store) => {
  test("names an upstream that asks for one, until it is declared to have one", async () => {
    const outcome = { answeredAt: null, status: null, failedAt: null, failure: null, acceptedAt: null };
    const home = await makeTeam(store());
    const upstream = { name: "local", dialect: "openai", baseUrl: "https://u.example", credential: false } as const;
    const draft = gatewayDraft(home, { name: "main", namespace: "team-a", upstreams: [upstream] });
    const { gatewayId } = await run(store(), (tx) => saveGateway(tx, draft, keyring));
    expect(await checkGatewayCredentials(store())).toEqual(FINE);
    const refusedAt = Date.now() + 60_000;
    await recordOutcomes(store().db, [{ gatewayId, upstream: "local", ...outcome, refusedAt }]);
    expect(await checkGatewayCredentials(store())).toMatchObject([
      {
        severity: "error",
        message: "upstream local (openai) of ModelGateway team-a/main asks for a credential, and is declared without",
        action: "take the provider's present credential, and name its Secret by credentialRef",
      },
    ]);
  });
});

describeOnEitherEngine("keyplane doctor after an encryption key was given up", (store) => {
  test("b464: names each gateway that was made by hand and has lost its credential", async () => {
    const home = await makeTeam(store());
    const upstreams = [false, null, "sk-1"].map(
      (credential) =>
        ({ name: `u-${credential}`, dialect: "openai", baseUrl: "https://u.example", credential }) as UpstreamRecord,
    );
    for (const cluster of [home.cluster, API_CLUSTER]) {
      const draft = gatewayDraft({ ...home, cluster }, { name: "main", namespace: "", upstreams });
      await run(store(), (tx) => saveGateway(tx, draft, keyring));
    }
    expect(await checkGatewayCredentials(store())).toEqual([
      {
        name: "gateway-credentials",
        severity: "error",
        message: "upstream u-null (openai) of ModelGateway main has no credential",
        action: expect.stringMatching(
          /^take the provider's present credential, and send it by PUT \/api\/v1\/gateways\/gw_\w+$/,
        ),
      },
    ]);
  });
});

test("keyplane doctor of a data folder or a cluster says what a gateway's condition says", () => {
  const gateway = (...stated: ReturnType<typeof condition>[]) => ({
    metadata: { namespace: "team-a", name: "main" },
    status: { conditions: stated.map((one) => ({ ...one, lastTransitionTime: "2026-11-01T00:00:00Z" })) },
  });
  const taken = condition("CredentialsAccepted", "True", "NotRefused", "None.");
  expect(judgeGatewayCredentials([gateway(taken), gateway()])).toEqual(FINE);
  const refused = condition("CredentialsAccepted", "False", "CredentialRefused", "Upstream a refuses it.");
  const [finding, ...others] = judgeGatewayCredentials([gateway(taken), gateway(refused)]);
  expect(finding).toMatchObject({
    severity: "error",
    message: expect.stringMatching(
      /^ModelGateway team-a\/main: Upstream a refuses it\. Write the provider's present credential into that Secret/,
    ),
  });
  expect(others).toEqual([]);
});
