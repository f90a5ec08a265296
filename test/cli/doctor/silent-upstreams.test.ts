import { expect, test } from "vitest";
import { checkSilentUpstreams } from "../../../cli/doctor/silent-upstreams.ts";
import type { UpstreamRecord } from "../../../domain/access/key-record.ts";
import { rfc3339 } from "../../../domain/rfc3339.ts";
import { saveGateway } from "../../../store/gateways/gateways.ts";
import { recordOutcomes } from "../../../store/gateways/upstream-outcomes.ts";
import { describeOnEitherEngine } from "../../env/database/engines.ts";
import { keyring } from "../../server/key-index/replica-fixtures.ts";
import { gatewayDraft, makeTeam, run } from "../../store/fixtures.ts";

const HOUR_MS = 60 * 60_000;
const FAILURE = "The upstream did not answer in time.";

describeOnEitherEngine("keyplane doctor of a database", (store) => {
  test("names each upstream whose last call had no answer, and since when it has not answered", async () => {
    const names = ["never", "no-longer", "again", "long-ago", "answers", "uncalled"];
    const upstreams = names.map(
      (name): UpstreamRecord => ({ name, dialect: "openai", baseUrl: "https://u.example", credential: "sk-1" }),
    );
    const draft = gatewayDraft(await makeTeam(store()), { name: "main", namespace: "team-a", upstreams });
    const { gatewayId } = await run(store(), (tx) => saveGateway(tx, draft, keyring));
    const now = Date.now();
    const record = (upstream: string, answeredAt: number | null, failedAt: number | null) => {
      const status = answeredAt === null ? null : 200;
      const failure = failedAt === null ? null : FAILURE;
      return { gatewayId, upstream, answeredAt, status, failedAt, failure, acceptedAt: answeredAt, refusedAt: null };
    };
    const fine = [expect.objectContaining({ name: "upstreams", severity: "ok" })];
    expect(await checkSilentUpstreams(store())).toEqual(fine);
    await recordOutcomes(store().db, [
      record("again", now - 1_000, now - 2_000),
      record("long-ago", null, now - 2 * HOUR_MS),
      record("answers", now, null),
    ]);
    expect(await checkSilentUpstreams(store())).toEqual(fine);
    await recordOutcomes(store().db, [record("never", null, now - 1_000), record("no-longer", now - 9_000, now)]);
    expect((await checkSilentUpstreams(store())).map(({ severity, message }) => `${severity}: ${message}`)).toEqual([
      `note: upstream no-longer of ModelGateway team-a/main gave no answer at ${rfc3339(now)}, and its last answer was at ${rfc3339(now - 9_000)}: ${FAILURE}`,
      `note: upstream never of ModelGateway team-a/main gave no answer at ${rfc3339(now - 1_000)}, and it never answered: ${FAILURE}`,
    ]);
  });

  test("names ten, and says that there are more", async () => {
    const upstreams = Array.from(
      { length: 11 },
      (_, i): UpstreamRecord => ({
        name: `u${i}`,
        dialect: "openai",
        baseUrl: "https://u.example",
        credential: "sk-1",
      }),
    );
    const draft = gatewayDraft(await makeTeam(store()), { name: "main", upstreams });
    const { gatewayId } = await run(store(), (tx) => saveGateway(tx, draft, keyring));
    const failed = { answeredAt: null, status: null, failedAt: Date.now(), failure: FAILURE };
    const outcomes = upstreams.map(({ name }) => ({
      gatewayId,
      upstream: name,
      ...failed,
      acceptedAt: null,
      refusedAt: null,
    }));
    await recordOutcomes(store().db, outcomes);
    const found = await checkSilentUpstreams(store());
    expect(found).toHaveLength(11);
    expect(found.at(-1)?.message).toBe("nor did others");
  });
});
