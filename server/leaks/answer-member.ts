import type { FastifyRequest } from "fastify";
import type { Clock } from "../../runtime/clock.ts";
import type { Store } from "../../store/database/store.ts";
import { type FoundSecret, findSecrets } from "../../store/keys/events/key-leaks.ts";
import { authorAs } from "../auth/management/author.ts";
import type { Principal } from "../auth/principal.ts";
import { Problem } from "../http/problems/problem.ts";
import type { Receipts } from "../management/keys/shown/receipt.ts";
import { allows, requireRightStill, rightsOf, seesTeam } from "../management/rights.ts";
import { actOnLeak, type LeakOutcome } from "./act.ts";
import { leakJson } from "./leak-json.ts";
import type { CountLeak } from "./metrics.ts";
import type { Report } from "./report.ts";

type MemberDeps = {
  readonly store: Store;
  readonly clock: Clock;
  readonly receipts: Receipts;
  readonly count: CountLeak;
};

/**
 * Tells an authenticated caller what each secret is, if it is a key of their teams; any other is `unknown`. Acts on a
 * leaked key if the caller may revoke it: a viewer's report only asks.
 */
export async function answerMember(
  { store, clock, receipts, count }: MemberDeps,
  request: FastifyRequest,
  principal: Principal,
  report: Report,
) {
  const rights = await rightsOf(store.db, principal);
  const digests = [...new Set(report.leaks.flatMap(({ digest }) => digest ?? []))];
  const find = async () => (await findSecrets(store.db, digests)).filter(({ teamId }) => seesTeam(rights, teamId));
  const outcomes = new Map<string, LeakOutcome>();
  const isDry = report.format === "keyplane" && report.dryRun;
  let seq: number | null | undefined;
  for (const secret of isDry ? [] : await find()) {
    if (!allows(rights, secret.teamId, "revoke keys")) continue;
    const acted = await actIfAllowed(secret);
    if (acted === undefined) continue;
    outcomes.set(secret.digest, acted.outcome);
    count("member", acted.outcome);
    if (acted.outcome === "revoked" || acted.outcome === "retired") seq = acted.seq;
  }
  const found = new Map((await find()).map((secret) => [secret.digest, secret]));
  const now = clock.now();
  return {
    leaks: report.leaks.map(({ digest = "" }) => leakJson(found.get(digest), outcomes.get(digest) ?? "none", now)),
    change: seq === undefined ? null : await receipts.wait(seq),
  };

  /** Acts on a leaked key; returns undefined if the caller has lost the right to revoke it meanwhile. */
  async function actIfAllowed(secret: FoundSecret) {
    const by = authorAs(principal.actor, request);
    try {
      return await actOnLeak(store, secret, { reporter: "member", by }, (tx) =>
        requireRightStill(tx, principal, secret.teamId, "revoke keys"),
      );
    } catch (error) {
      if (error instanceof Problem && error.code === "forbidden") return undefined;
      throw error;
    }
  }
}
